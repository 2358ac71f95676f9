import { randomUUID } from 'node:crypto';
import { AppError } from '../../../schemas/app-error.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { authorisePartition } from '../../http/middleware/authorise-partition.js';
import { admitUpload, newFileKey } from '../commands/admit-upload.js';
import { createPartition, requireMayCreatePartition } from '../commands/create-partition.js';
import { confirmAdmission } from '../commands/confirm-admission.js';
import { requireAdmissible, requireEmbedder } from '../commands/require-admissible.js';
import { alreadyExists, noSuchFile } from '../../http/refusals.js';
import type { CallerContext } from '../../http/route.js';
import { checkUpload } from './check-upload.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { links } from '../../http/links.js';
import type { UploadName } from './blob-storage-engine.js';
import { receiveUpload } from './receive-upload.js';
import type { Received } from './receive-upload.js';
import { serverAbilities } from './server-abilities.js';

/** A partition that was read so long ago is read anew: a large upload takes minutes. */
const RECENT_MS = 1000;

/** A document that comes as a form in the body of the request. */
export async function uploadDocument(
  deps: GatewayDeps,
  ctx: CallerContext,
  named: { partition: string; file_id: string },
  intent: TaskRecord['intent'],
): Promise<{ task_status_url: string }> {
  const { blobs } = deps.adapters;
  const { maxUploadBytes: maxBytes } = deps.config.http;
  const task = await takeDocument(deps, ctx, named, intent, (upload) =>
    receiveUpload(ctx.koa, { blobs, upload, maxBytes, signal: ctx.signal }),
  );
  return { task_status_url: links(ctx.baseUrl).task(task.task_id) };
}

/**
 * Checks that need no document, its bytes, checks that need them, admission. Refused at any point, nothing is left.
 * @param receive stores the bytes under the name given, as those of a file that admission will confirm
 */
export async function takeDocument(
  deps: GatewayDeps,
  ctx: CallerContext,
  { partition, file_id: fileId }: { partition: string; file_id: string },
  intent: TaskRecord['intent'],
  receive: (upload: UploadName) => Promise<Received>,
): Promise<TaskRecord> {
  const { adapters, config, workflows } = deps;
  const target = { partition, fileId, taskUrl: links(ctx.baseUrl).task };
  const place = await checkTarget(deps, ctx, target, intent);
  const checkedAt = performance.now();

  const uploadId = randomUUID();
  // A key of its own also for what replaces a file: what cleans up behind that one must not find these bytes.
  const foreseen = { fileKey: newFileKey(), generation: await adapters.counters.nextGeneration() };
  const received = await receive({ blobId: uploadId, ...foreseen });
  try {
    let present: FileRecord | null | undefined;
    const checked = await checkUpload(received, {
      stores: adapters,
      uploadId,
      abilities: await serverAbilities(deps, partition),
      allowPrivateCallbacks: config.callbacks.allowPrivateAddresses,
      ...(intent === 'create'
        ? {
            requireNew: async () => void (present = await requireNew(deps, target)),
            findWorkspaces: (ids: readonly string[]) => findWorkspaces(adapters, partition, ids),
          }
        : {}),
    });
    const isRecent = performance.now() - checkedAt < RECENT_MS;
    const { embedder, partition_key: partitionKey } =
      place !== null && isRecent ? place : await openPartition(deps, ctx, partition);
    const commandDeps = { ...adapters, ...config.documents, workflows, log: ctx.log };
    const task = await admitUpload(commandDeps, {
      ...target,
      ...checked,
      intent,
      userId: ctx.principal.userId,
      embedder,
      partitionKey,
      foreseen,
      isUnlimited: ctx.principal.isAdmin,
      ...(present !== undefined && { present }),
    });
    await confirmAdmission(commandDeps, {
      partition,
      partitionKey,
      fileId,
      fileKey: task.file_key,
      userId: ctx.principal.userId,
      workspaces: checked.workspaces,
    });
    return task;
  } catch (error) {
    await received
      .discard()
      .catch((failure: unknown) =>
        ctx.log.warn({ err: failure }, 'bytes of a refused upload are left to the sweep'),
      );
    throw error;
  }
}

/**
 * Keys of the workspaces that an upload names.
 * @throws AppError WORKSPACE_NOT_FOUND (404), plain, for one that is not in this partition
 */
async function findWorkspaces(
  { workspaces }: Pick<GatewayDeps['adapters'], 'workspaces'>,
  partition: string,
  workspaceIds: readonly string[],
): Promise<string[]> {
  const keys: string[] = [];
  for (const id of new Set(workspaceIds)) {
    const found = await workspaces.get(partition, id);
    if (found === null) throw new AppError('WORKSPACE_NOT_FOUND', 'Workspace not found', { plain: true });
    keys.push(found.workspace_key);
  }
  return keys;
}

/** Answers the partition as it is before the bytes have come; null where it is yet to be made. */
async function checkTarget(
  { adapters, config }: GatewayDeps,
  ctx: CallerContext,
  { partition, fileId }: { partition: string; fileId: string },
  intent: TaskRecord['intent'],
): Promise<PartitionRecord | null> {
  await requireAdmissible(
    { ...adapters, ...config.documents },
    { partition, fileId, principal: ctx.principal, adds: intent === 'create' },
  );
  if (intent === 'replace') {
    const file = await adapters.files.get(partition, fileId);
    if (file === null || (file.live === null && file.pending_task === null))
      throw noSuchFile({ partition, fileId });
  }
  const present = await adapters.partitions.get(partition);
  if (present !== null) await requireEmbedder(adapters, present);
  else if (intent === 'create') {
    const { maxPartitionsPerUser } = config.documents;
    await requireMayCreatePartition(
      { ...adapters, maxPartitionsPerUser },
      { partition, userId: ctx.principal.userId },
    );
  }
  return present;
}

async function requireNew(
  { adapters }: GatewayDeps,
  target: { partition: string; fileId: string },
): Promise<FileRecord | null> {
  const file = await adapters.files.get(target.partition, target.fileId);
  if (file?.live) throw alreadyExists(target);
  return file;
}

/** The upload's partition, created when it is missing; not before the upload has passed every check of its own. */
async function openPartition(
  { adapters, config }: GatewayDeps,
  ctx: CallerContext,
  partition: string,
): Promise<PartitionRecord> {
  const present = await adapters.partitions.get(partition);
  if (present !== null) return present;
  try {
    const { maxPartitionsPerUser } = config.documents;
    return await createPartition(
      { ...adapters, maxPartitionsPerUser },
      { partition, userId: ctx.principal.userId },
    );
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'PARTITION_EXISTS') throw error;
    // Created in this moment, by this caller or by another: the role is asked of the record, not of the scope.
    const role = await adapters.partitions.roleOf(ctx.principal.userId, partition);
    const roles = role === null ? {} : { [partition]: role };
    const scope = ctx.scope.kind === 'all' ? ctx.scope : { ...ctx.scope, roles };
    await authorisePartition(adapters.partitions, scope, partition, 'editor');
    const created = await adapters.partitions.get(partition);
    if (created === null) throw error;
    return created;
  }
}
