import type { Adapters } from '../../activities/ports.js';
import { AppError } from '../../schemas/app-error.js';
import type { PartitionPatch, PartitionRecord } from '../../schemas/partitions.js';
import { PARTITION_PROMPTS } from '../../schemas/preset-references.js';
import { requirePrompt } from './require-names.js';

export type UpdatePartitionDeps = Pick<Adapters, 'partitions' | 'files' | 'models' | 'presets' | 'prompts'>;

/** The word for "whatever is the default": a partition's vectors come from one embedder and no other. */
const DEFAULT_ALIAS = 'default';

/**
 * Changes a partition's settings; every name must be registered.
 * @throws AppError EMBEDDER_ALIAS_NOT_ALLOWED, MODEL_ENDPOINT_NOT_FOUND, PRESET_NOT_FOUND, PROMPT_NOT_FOUND (422);
 *   PARTITION_HAS_INDEXED_FILES, INDEXING_IN_PROGRESS (409); PARTITION_NOT_FOUND
 */
export const updatePartition = async (
  deps: UpdatePartitionDeps,
  partition: string,
  { embedder, ...patch }: PartitionPatch,
): Promise<PartitionRecord> => {
  const present = await deps.partitions.get(partition);
  if (present === null) throw missing(partition);
  await requireRegistered(deps, { ...patch, ...(embedder === undefined ? {} : { embedder }) });
  if (embedder !== undefined && embedder !== present.embedder)
    await changeEmbedder(deps, partition, { from: present.embedder, to: embedder });
  const updated = Object.keys(patch).length === 0 ? null : await deps.partitions.update(partition, patch);
  const record = updated ?? (await deps.partitions.get(partition));
  if (record === null) throw missing(partition);
  return record;
};

const missing = (partition: string): AppError =>
  new AppError('PARTITION_NOT_FOUND', `Partition '${partition}' not found`, { plain: true });

const requireRegistered = async (
  { models, presets, prompts }: UpdatePartitionDeps,
  patch: PartitionPatch,
): Promise<void> => {
  const { embedder, chat_llm: llm } = patch;
  if (embedder === DEFAULT_ALIAS) throw new AppError('EMBEDDER_ALIAS_NOT_ALLOWED');
  for (const [type, name] of Object.entries({ embedder, llm }) as ['embedder' | 'llm', string | null][]) {
    if (name == null) continue;
    const endpoints = await models.list(type);
    if (!endpoints.some((endpoint) => endpoint.name === name))
      throw new AppError(
        'MODEL_ENDPOINT_NOT_FOUND',
        `The model endpoint '${name}' (${type}) is not registered.`,
      );
  }
  const wanted = { indexation: patch.indexation_preset, retrieval: patch.retrieval_preset };
  for (const [type, name] of Object.entries(wanted) as ['indexation' | 'retrieval', string | undefined][])
    if (name !== undefined && (await presets.get(type, name)) === null)
      throw new AppError('PRESET_NOT_FOUND', `The ${type} preset '${name}' does not exist.`);
  for (const slot of PARTITION_PROMPTS) {
    const name = patch.generation_prompt_names?.[slot];
    if (name != null) await requirePrompt({ prompts }, slot, name);
  }
};

/**
 * Only an empty, quiet partition takes another embedder. It is asked before the change and again after it: an upload
 * that was admitted in between, with the old one, is found then, and the change taken back. One that is admitted
 * later fails by itself, with EMBEDDER_CHANGED_DURING_INDEXING.
 */
const changeEmbedder = async (
  deps: UpdatePartitionDeps,
  partition: string,
  { from, to }: { from: string; to: string },
): Promise<void> => {
  await requireEmpty(deps, partition);
  if ((await deps.partitions.update(partition, { embedder: to }, { embedder: from })) === null)
    throw new AppError('CONFLICT', 'The embedder was changed by somebody else; try again.');
  try {
    await requireEmpty(deps, partition);
  } catch (error) {
    await deps.partitions.update(partition, { embedder: from }, { embedder: to });
    throw error;
  }
};

const requireEmpty = async ({ files }: UpdatePartitionDeps, partition: string): Promise<void> => {
  if (((await files.countLive([partition])).get(partition) ?? 0) > 0)
    throw new AppError('PARTITION_HAS_INDEXED_FILES');
  if ((await files.countPending(partition)) > 0) throw new AppError('INDEXING_IN_PROGRESS');
};
