import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../schemas/app-error.js';
import { isFinalState } from '../../../schemas/documents/tasks.js';
import type { FileVersion } from '../../../schemas/documents/documents.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { isErrorCode } from '../../../schemas/error-table.js';
import { mergeMetadata } from '../../../schemas/documents/merge-metadata.js';
import { authoriseAnew, authoriseCaller } from '../../http/middleware/authorise-partition.js';
import { admitUpload } from '../../../activities/documents/commands/admit-upload.js';
import { cancelTask } from '../../../activities/documents/commands/cancel-task.js';
import { confirmAdmission } from '../../../activities/documents/commands/confirm-admission.js';
import {
  requireAdmissible,
  requireEmbedder,
} from '../../../activities/documents/commands/require-admissible.js';
import { noSuchFile, noSuchPartition } from '../../../activities/documents/commands/refusals.js';
import { readForm, requiredField } from '../../http/read-form.js';
import type { CallerContext } from '../../http/route.js';
import { readClientMetadata } from '../../../activities/documents/commands/client-metadata.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { requireMetadataSize } from '../../../activities/documents/commands/metadata-size.js';
import { links } from '../../http/links.js';

/** A copy of a thousand chunks takes seconds. What is not there by then is taken back, and the client may ask again. */
const TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 100;

/**
 * Copies a live file under a new name. The copy is a task like an upload's: it takes a place in the quota and claims
 * the bytes, and its workflow survives a crash. Answered once it is live: a copy that fails is no 201.
 * @param readFields reads the fields that the route's form has
 */
export async function copyDocument(
  deps: GatewayDeps,
  admitted: CallerContext,
  { partition, file_id: fileId }: { partition: string; file_id: string },
  readFields: () => Promise<Readonly<Record<string, string>>> = () => readForm(admitted.koa),
): Promise<void> {
  const { adapters, config, workflows } = deps;
  const commandDeps = { ...adapters, ...config.documents, workflows, log: admitted.log };
  const { userId } = admitted.principal;
  await requireAdmissible(commandDeps, { partition, fileId, principal: admitted.principal, adds: true });
  const fields = await readFields();
  const ctx = { ...admitted, ...(await admitted.admitAnew()) };
  const { source, version } = await findSource(deps, ctx, fields);
  const target = await adapters.partitions.get(partition);
  if (target === null) throw noSuchPartition(partition);
  // A missing partition lets everyone pass; it may have been made by another caller since.
  await authoriseAnew(adapters.partitions, ctx, partition, 'editor');
  await requireEmbedder(adapters, target);
  if (target.embedder !== version.embedder)
    throw new AppError('CONFLICT', `Partition '${partition}' has another embedder`, { plain: true });
  const { metadata, relationship_id, parent_id, filename, original_filename, mimetype } = version;
  const task = await admitUpload(commandDeps, {
    intent: 'create',
    partition,
    fileId,
    userId,
    partitionKey: target.partition_key,
    embedder: target.embedder,
    source,
    workspaces: [],
    metadata,
    relationshipId: relationship_id,
    parentId: parent_id,
    upload: {
      upload_id: randomUUID(),
      filename,
      original_filename,
      mimetype,
      size_bytes: version.size_bytes,
      content_sha256: version.content_sha256,
    },
    taskUrl: links(ctx.baseUrl).task,
  });
  await confirmAdmission(commandDeps, {
    partition,
    partitionKey: target.partition_key,
    fileId,
    fileKey: task.file_key,
    userId,
    workspaces: [],
  });
  const ended = await awaitEnd(adapters.tasks, task, ctx.signal);
  if (ended !== null) {
    requireCompleted(ended);
    return;
  }
  // The client has left: the copy goes on without an answer.
  if (ctx.signal.aborted) return;
  await cancelTask(commandDeps, task).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'TASK_NOT_CANCELLABLE') throw error;
  });
  const now = await adapters.tasks.get(task.task_id);
  const file = await adapters.files.get(partition, fileId);
  if (now?.state === 'COMPLETED' || file?.live?.task_id === task.task_id) return;
  throw new AppError('SERVICE_UNAVAILABLE', 'The file could not be copied in time; try again', {
    plain: true,
    retryAfterMs: TIMEOUT_MS,
  });
}

async function findSource(
  { adapters }: GatewayDeps,
  ctx: CallerContext,
  fields: Readonly<Record<string, string>>,
): Promise<{ source: { file_key: string; generation: number }; version: FileVersion }> {
  const partition = requiredField(fields, 'source_partition');
  const fileId = requiredField(fields, 'source_file_id');
  const embedders = await adapters.models.list('embedder');
  const { metadata } = readClientMetadata(
    fields['metadata'],
    embedders.flatMap(({ vector_field }) => vector_field ?? []),
  );
  await authoriseCaller(adapters.partitions, ctx, partition, 'viewer');
  const file = await adapters.files.get(partition, fileId);
  if (file?.live == null) throw noSuchFile({ partition, fileId });
  const { file_key, live } = file;
  const version = mergeMetadata(live, metadata);
  requireMetadataSize(version.metadata, live.metadata);
  return { source: { file_key, generation: live.generation }, version };
}

/** The task once it is final; null when the time-out passed or the client left before. */
async function awaitEnd(
  tasks: GatewayDeps['adapters']['tasks'],
  task: TaskRecord,
  signal: AbortSignal,
): Promise<TaskRecord | null> {
  for (const until = Date.now() + TIMEOUT_MS; Date.now() < until && !signal.aborted;) {
    const now = await tasks.get(task.task_id);
    if (now === null) return null;
    if (isFinalState(now.state)) return now;
    await sleep(LOOK_EVERY_MS);
  }
  return null;
}

function requireCompleted(task: TaskRecord): void {
  if (task.state === 'COMPLETED') return;
  const code = task.error?.code ?? '';
  if (!isErrorCode(code)) throw new AppError('UNEXPECTED_ERROR');
  throw new AppError(code, task.error?.message, { plain: code === 'FILE_NOT_FOUND' });
}
