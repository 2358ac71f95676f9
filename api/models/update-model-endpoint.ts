import type { RouteAdapters } from '../../activities/ports/adapters.js';
import { AppError } from '../../schemas/app-error.js';
import type { ModelEndpoint, ModelType } from '../../schemas/models/model-endpoints.js';
import type { ModelEndpointPatch } from '../../schemas/models/model-endpoints-api.js';
import { invalidRequest } from '../../schemas/request-issues.js';
import { editedEndpointRecord } from './endpoint-record.js';
import { followEndpointRename } from './follow-rename.js';
import { EVERYTHING } from '../../schemas/documents/users.js';

export type ModelEndpointDeps = Pick<
  RouteAdapters,
  'endpoints' | 'modelServers' | 'partitions' | 'presets' | 'files' | 'embedderSwaps'
>;

const TRIES = 5;
const MAX_NAMED = 5;

function endpointMissing(type: ModelType, name: string): AppError {
  return new AppError('NOT_FOUND', `Model endpoint '${name}' (${type}) not found`, { plain: true });
}

/** @throws AppError NOT_FOUND, plain */
export async function requireEndpoint(
  { endpoints }: Pick<ModelEndpointDeps, 'endpoints'>,
  type: ModelType,
  name: string,
): Promise<ModelEndpoint> {
  const found = await endpoints.get(type, name);
  if (found === null) throw endpointMissing(type, name);
  return found;
}

function refused(field: string, msg: string): AppError {
  return invalidRequest([{ type: 'not_allowed', loc: ['body', field], msg, input: null }]);
}

/** What a form sends back unchanged is no edit. */
function requireBuiltinUntouched(present: ModelEndpoint, patch: ModelEndpointPatch): void {
  const fields = ['name', 'endpoint', 'model_name', 'batch_size', 'timeout'] as const;
  for (const field of fields)
    if (patch[field] !== undefined && patch[field] !== present[field])
      throw refused(field, 'cannot be changed: the model is built in');
  if (patch.extra !== undefined && Object.values(patch.extra).some((value) => value != null))
    throw refused('extra', 'cannot be changed: the model is built in');
}

/** Indexed files keep vectors of the model and server they were indexed with: an edit of these has to be meant. */
async function requireAcknowledged(
  { files }: ModelEndpointDeps,
  present: ModelEndpoint,
  patch: ModelEndpointPatch,
): Promise<void> {
  if (present.model_type !== 'embedder' || patch.acknowledge_indexed_data) return;
  const changed = (['endpoint', 'model_name'] as const).filter(
    (field) => patch[field] !== undefined && patch[field] !== present[field],
  );
  if (changed.length === 0) return;
  const counts = await files.countByEmbedder(present.name);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return;
  const named = [...counts.keys()].sort().slice(0, MAX_NAMED);
  throw new AppError(
    'EMBEDDER_EDIT_AFFECTS_INDEXED_DATA',
    `Changing ${changed.join(' and ')} of embedder '${present.name}' affects ${total} indexed file(s) in ` +
      `${counts.size} partition(s): ${named.join(', ')}${counts.size > named.length ? ', …' : ''}. ` +
      'Send acknowledge_indexed_data=true to do it all the same.',
    { details: { fields: changed, file_count: total, partitions: named } },
  );
}

/** What is on its way names its embedder by the old name; so does a swap the one that it leaves. */
async function requireQuiet(
  { partitions, files, embedderSwaps }: ModelEndpointDeps,
  embedder: string,
): Promise<void> {
  const all = await partitions.list(EVERYTHING);
  const swaps = await embedderSwaps.latestOfEach(all.map(({ partition_key: key }) => key));
  for (const { partition, status, source_embedder: source } of swaps.values())
    if (status === 'running' && source === embedder)
      throw new AppError(
        'EMBEDDER_SWAP_IN_PROGRESS',
        `The embedder cannot be renamed while partition '${partition}' is being moved to another one.`,
      );
  for (const partition of all)
    if (partition.embedder === embedder && (await files.countPending(partition.partition)) > 0)
      throw new AppError(
        'INDEXING_IN_PROGRESS',
        `The embedder cannot be renamed while files of partition '${partition.partition}' are being indexed.`,
      );
}

/**
 * A new name, in steps that may be repeated: the record under the new name beside the old one, then everything that
 * names it, then the old record goes. A reader finds the model under one of the two names at any time.
 */
async function rename(
  deps: ModelEndpointDeps,
  present: ModelEndpoint,
  next: ModelEndpoint,
): Promise<ModelEndpoint> {
  const { model_type: type, name: from } = present;
  if (type === 'embedder') await requireQuiet(deps, from);
  const begun = await deps.endpoints.create({ ...next, renamed_from: from });
  await followEndpointRename(deps, type, { from, to: next.name });
  const saved = { ...next, created_at: begun.created_at };
  await deps.endpoints.save(saved);
  await deps.endpoints.remove(type, from);
  return saved;
}

/**
 * Changes a model endpoint. Running gateways and workers read the record at each use.
 * @throws AppError NOT_FOUND, VALIDATION_ERROR, EMBEDDER_EDIT_AFFECTS_INDEXED_DATA, MODEL_ENDPOINT_EXISTS,
 *   INDEXING_IN_PROGRESS, EMBEDDER_SWAP_IN_PROGRESS, CONFLICT
 */
export async function updateModelEndpoint(
  deps: ModelEndpointDeps,
  { type, name }: { type: ModelType; name: string },
  patch: ModelEndpointPatch,
): Promise<ModelEndpoint> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const present = await requireEndpoint(deps, type, name);
    if (patch.model_type !== undefined && patch.model_type !== type)
      throw refused('model_type', 'cannot be changed');
    const builtin = present.provider === 'builtin';
    if (builtin) requireBuiltinUntouched(present, patch);
    else if (patch.endpoint === 'builtin:') throw refused('endpoint', 'must be an http(s) URL');
    if (patch.is_default === false && (await deps.endpoints.defaults())[type] === name)
      throw refused('is_default', 'make another endpoint the default instead');
    await requireAcknowledged(deps, present, patch);
    const next = builtin ? present : editedEndpointRecord(deps.modelServers, present, patch);
    let done: ModelEndpoint | null = next;
    if (next.name !== name) done = await rename(deps, present, next);
    else if (!builtin && !(await deps.endpoints.replace(present, next))) done = null;
    if (done === null) continue;
    if (patch.is_default === true) await deps.endpoints.setDefault(type, next.name);
    return done;
  }
  throw new AppError('CONFLICT', 'The model endpoint is being changed by another request; try again.');
}
