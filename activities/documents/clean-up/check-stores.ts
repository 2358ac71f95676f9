import { isFinalState } from '../../../schemas/documents/tasks.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import type { Adapters } from '../../ports/adapters.js';
import { EVERYTHING } from '../../../schemas/documents/users.js';

export const DRIFT_KINDS = [
  /** A live version has not exactly `chunk_count` published chunks. */
  'chunk-count',
  /** Chunks of a generation that is neither live nor pending. */
  'stale-chunks',
  /** Chunks of a file that no record knows, or a tombstone. */
  'orphan-chunks',
  /** A live version's or a pending task's upload is not there. */
  'upload-missing',
  /** A live version's upload has another size than the record says. */
  'upload-size',
  /** A blob that no live version and no pending task owns. */
  'orphan-blob',
  /** A claim without a live version or pending task behind one of its holders. */
  'orphan-claim',
  /** A live version whose bytes are not claimed for its file. */
  'unclaimed-digest',
  /** A task has ended and was not cleaned up after. */
  'uncleaned-task',
  /** An active task that its file does not wait for: superseded, or lost. */
  'stray-task',
  /** A file waits for a task that is missing or has ended. */
  'pending-task-lost',
  /** A place in a user's quota that is held by a task which adds no file any more. */
  'orphan-reservation',
  /** A change of a file's record that its chunks may not have followed. */
  'unsettled-chunks',
  /** A file of a partition that is not there. */
  'stray-file',
  /** A deleted partition whose name is not free yet. */
  'deleted-partition',
  /** A deleted file that was not cleaned up after. */
  'tombstone',
] as const;

export interface Drift {
  kind: (typeof DRIFT_KINDS)[number];
  /** What it is about: a file key, task id, blob id or claim. */
  subject: string;
  detail: string;
}

export type ComparedStores = Pick<
  Adapters,
  'partitions' | 'files' | 'tasks' | 'quotas' | 'claims' | 'blobs'
> & { chunks: Pick<Adapters['chunks'], 'scanGenerations'> };

/** What the other stores are compared with: every record, and who may own something. */
interface Records {
  files: Map<string, FileRecord>;
  tasks: Map<string, TaskRecord>;
  /** Tasks whose file names them, as live or as pending. */
  owners: Set<string>;
}

/**
 * Compares the three stores and answers where they disagree. Meant for a quiet system: what is on its way at this
 * moment shows up as drift too. Reads everything; changes nothing.
 */
export async function checkStores(
  stores: ComparedStores,
  /** `keepUploads` off: whether the bytes of a live version are there is left open. */
  options: { deduplicate: boolean; keepUploads?: boolean },
): Promise<Drift[]> {
  const records = await readRecords(stores);
  return [
    ...checkTasks(records),
    ...(await checkPartitions(stores, records)),
    ...(await checkChunks(stores, records)),
    ...(await checkBlobs(stores, records, options.keepUploads ?? true)),
    ...(await checkClaims(stores, records, options.deduplicate)),
    ...(await checkQuotas(stores, records)),
  ];
}

async function readRecords({ files, tasks }: ComparedStores): Promise<Records> {
  const records: Records = { files: new Map(), tasks: new Map(), owners: new Set() };
  for await (const file of files.scan()) {
    records.files.set(file.file_key, file);
    if (file.live !== null) records.owners.add(file.live.task_id);
    if (file.pending_task !== null) records.owners.add(file.pending_task);
  }
  for await (const task of tasks.scan()) records.tasks.set(task.task_id, task);
  return records;
}

function nameOf(file: FileRecord): string {
  return `${file.partition}/${file.file_id}`;
}

function* checkTasks({ files, tasks }: Records): Generator<Drift> {
  for (const file of files.values()) {
    if (file.deleted_at !== null)
      yield { kind: 'tombstone', subject: file.file_key, detail: `${nameOf(file)} is deleted` };
    if (file.pending_task === null) continue;
    const task = tasks.get(file.pending_task);
    if (task === undefined || isFinalState(task.state))
      yield {
        kind: 'pending-task-lost',
        subject: file.file_key,
        detail: `${nameOf(file)} waits for ${file.pending_task}, which ${task === undefined ? 'is missing' : `is ${task.state}`}`,
      };
  }
  for (const task of tasks.values()) {
    if (isFinalState(task.state)) {
      if (task.cleaned_at === null)
        yield {
          kind: 'uncleaned-task',
          subject: task.task_id,
          detail: `${task.state}, never cleaned up after`,
        };
    } else if (files.get(task.file_key)?.pending_task !== task.task_id)
      yield {
        kind: 'stray-task',
        subject: task.task_id,
        detail: `${task.state}, but its file does not wait for it`,
      };
  }
}

async function* generationsOf({ chunks }: ComparedStores) {
  for await (const found of chunks.scanGenerations())
    yield { ...found, key: `${found.fileKey}@${found.generation}` };
}

async function checkChunks(stores: ComparedStores, { files, tasks }: Records): Promise<Drift[]> {
  const drifts: Drift[] = [];
  const published = new Map<string, { chunks: number; published: number }>();
  for await (const found of generationsOf(stores)) {
    const file = files.get(found.fileKey);
    const pending = file?.pending_task == null ? undefined : tasks.get(file.pending_task);
    const detail = `${found.chunks} chunks, ${found.published} of them published`;
    if (file === undefined || file.deleted_at !== null)
      drifts.push({ kind: 'orphan-chunks', subject: found.key, detail });
    else if (found.generation === file.live?.generation) published.set(found.fileKey, found);
    else if (found.generation !== pending?.generation)
      drifts.push({ kind: 'stale-chunks', subject: found.key, detail });
  }
  for (const file of files.values()) {
    if (file.live === null) continue;
    const { chunk_count: expected, generation } = file.live;
    const found = published.get(file.file_key) ?? { chunks: 0, published: 0 };
    if (found.chunks !== expected || found.published !== expected)
      drifts.push({
        kind: 'chunk-count',
        subject: `${file.file_key}@${generation}`,
        detail: `${nameOf(file)}: ${expected} chunks expected, ${found.chunks} found, ${found.published} published`,
      });
  }
  return drifts;
}

/** Uploads that a record rests on, with the size it says. */
function expectedUploads(
  { files, tasks }: Records,
  keepUploads: boolean,
): Map<string, { size: number; owner: string; optional: boolean }> {
  const uploads = new Map<string, { size: number; owner: string; optional: boolean }>();
  for (const file of files.values()) {
    const pending = file.pending_task === null ? undefined : tasks.get(file.pending_task)?.upload;
    for (const upload of [file.live, pending])
      if (upload != null)
        uploads.set(upload.upload_id, {
          size: upload.size_bytes,
          owner: nameOf(file),
          optional: !keepUploads && upload === file.live,
        });
  }
  return uploads;
}

async function checkBlobs(
  { blobs }: ComparedStores,
  records: Records,
  keepUploads: boolean,
): Promise<Drift[]> {
  const drifts: Drift[] = [];
  const missing = expectedUploads(records, keepUploads);
  for await (const blob of blobs.scan()) {
    const upload = missing.get(blob.blobId);
    missing.delete(blob.blobId);
    const task = records.tasks.get(blob.taskId);
    // A chunk list is handed from one activity to the next and goes when its task ends.
    const inUse =
      blob.kind === 'chunks' &&
      records.owners.has(blob.taskId) &&
      task !== undefined &&
      !isFinalState(task.state);
    if (upload === undefined && !inUse)
      drifts.push({
        kind: 'orphan-blob',
        subject: blob.blobId,
        detail: `${blob.kind} of task ${blob.taskId}, ${blob.size} bytes`,
      });
    else if (upload !== undefined && upload.size !== blob.size)
      drifts.push({
        kind: 'upload-size',
        subject: blob.blobId,
        detail: `${upload.owner}: ${upload.size} bytes expected, ${blob.size} found`,
      });
  }
  for (const [blobId, { owner, optional }] of missing)
    if (!optional)
      drifts.push({ kind: 'upload-missing', subject: blobId, detail: `the bytes of ${owner} are missing` });
  return drifts;
}

async function checkClaims(
  { claims }: ComparedStores,
  { files, owners }: Records,
  deduplicate: boolean,
): Promise<Drift[]> {
  const drifts: Drift[] = [];
  const claimed = new Set<string>();
  for await (const claim of claims.scan()) {
    const file = files.get(claim.fileKey);
    const lost = claim.holders.filter((holder) => !owners.has(holder));
    if (file === undefined || file.deleted_at !== null || claim.holders.length === 0 || lost.length > 0)
      drifts.push({
        kind: 'orphan-claim',
        subject: `${claim.partition}/${claim.digest}`,
        detail: `held for ${claim.fileKey} by ${lost.length === 0 ? 'no task' : lost.join(', ')}`,
      });
    claimed.add(`${claim.partition}\n${claim.digest}\n${claim.fileKey}`);
  }
  if (!deduplicate) return drifts;
  for (const file of files.values())
    if (
      file.live !== null &&
      // The attachments of a mail claim nothing: each mail has its own.
      file.attached === undefined &&
      !claimed.has(`${file.partition}\n${file.live.content_sha256}\n${file.file_key}`)
    )
      drifts.push({
        kind: 'unclaimed-digest',
        subject: file.file_key,
        detail: `the bytes of ${nameOf(file)} are not claimed for it`,
      });
  return drifts;
}

async function checkQuotas({ quotas }: ComparedStores, { files }: Records): Promise<Drift[]> {
  const adding = new Set(
    [...files.values()].flatMap(({ live, pending_task }) => (live === null ? (pending_task ?? []) : [])),
  );
  const drifts: Drift[] = [];
  for await (const { userId, taskIds } of quotas.scan())
    for (const taskId of taskIds)
      if (!adding.has(taskId))
        drifts.push({ kind: 'orphan-reservation', subject: taskId, detail: `on the list of user ${userId}` });
  return drifts;
}

async function checkPartitions({ partitions }: ComparedStores, { files }: Records): Promise<Drift[]> {
  const drifts: Drift[] = (await partitions.listDeleted()).map(({ partition, partition_key }) => ({
    kind: 'deleted-partition',
    subject: partition_key,
    detail: `${partition} is deleted, and its name is taken`,
  }));
  const present = await partitions.list(EVERYTHING);
  const keys = new Set(present.map(({ partition, partition_key }) => `${partition}\n${partition_key}`));
  for (const file of files.values()) {
    if (file.deleted_at !== null) continue;
    if (!keys.has(`${file.partition}\n${file.partition_key}`))
      drifts.push({ kind: 'stray-file', subject: file.file_key, detail: `${nameOf(file)} is nowhere` });
    if (file.chunk_updates.length > 0)
      drifts.push({
        kind: 'unsettled-chunks',
        subject: file.file_key,
        detail: `${nameOf(file)}: ${file.chunk_updates.join(', ')}`,
      });
  }
  return drifts;
}
