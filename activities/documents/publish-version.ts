import { AppError } from '../../schemas/app-error.js';
import type { FileRecord, FileVersion } from '../../schemas/documents/documents.js';
import { degradedStagesOf } from '../../schemas/documents/tasks.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import { chunksBlobId } from './chunk-list.js';
import { requireActive, versionFacts } from './task-ref.js';
import type { DocumentRef } from './task-ref.js';
import { openContexts, removeContexts } from './enrichment/context-list.js';
import { fillVectors } from './fill-vectors.js';
import { removeDescriptions, removePictures } from './enrichment/picture-list.js';
import type { Adapters } from '../ports/adapters.js';
import { UNMEASURED } from '../ports/meter.js';
import type { Meter } from '../ports/meter.js';
import type { ReadingFacts, TaskProgress } from '../ports/tasks.js';
import { timed } from './timed.js';
import { settleChunks } from './clean-up/settle-file.js';
import { fileOf } from './commands/file-of.js';

/** What publishing came to. `replaced`: there may be an older version to be removed. */
export interface Published {
  replaced: boolean;
}

export interface PublishOptions {
  signal: AbortSignal;
  /** All chunks were just written as published ones. */
  isMarked?: boolean;
  /**
   * By the attempt that has read the document, in its first try: the task as it is by then, which need not be read
   * again, and what reading came to. There is no list of chunks to be removed.
   * `partition`: as it was after the file was admitted, so that a deletion or a swap begun since then finds the file.
   */
  read?: { task: TaskRecord; facts: ReadingFacts; partition: PartitionRecord };
}

export type Publish = (ref: DocumentRef, chunkCount: number, options: PublishOptions) => Promise<Published>;

/**
 * Notes how far the task is whose version is to be published, and answers it; null when an attempt before this one
 * did that and died before it reported.
 * @throws AppError TASK_CANCELLED when the task has ended otherwise
 */
export async function advanceUnpublished(
  tasks: Adapters['tasks'],
  { taskId }: DocumentRef,
  progress: TaskProgress,
): Promise<TaskRecord | null> {
  const active = await tasks.advance(taskId, progress);
  if (active !== null) return active;
  const task = await tasks.get(taskId);
  return task?.state === 'COMPLETED' ? null : requireActive(task);
}

/** Whether the file's record waits for another task by now, or shows another version. */
async function isOvertaken(files: Pick<Adapters['files'], 'getMany'>, ref: DocumentRef): Promise<boolean> {
  const file = await fileOf(files, ref.fileKey);
  return file?.pending_task !== ref.taskId && file?.live?.task_id !== ref.taskId;
}

/** @param options.keepUploads off: the bytes of an upload go once it is indexed */
export function createPublisher(
  adapters: Pick<Adapters, 'files' | 'tasks' | 'quotas' | 'blobs' | 'chunks' | 'partitions' | 'models'>,
  { keepUploads, meter = UNMEASURED }: { keepUploads: boolean; meter?: Pick<Meter, 'stageTook'> },
): Publish {
  const { files, tasks, blobs, chunks, partitions } = adapters;

  /** A file admitted in the moment in which its partition was deleted goes with it. */
  const requirePartition = async (
    { fileKey }: DocumentRef,
    known: PartitionRecord | undefined,
  ): Promise<{ file: FileRecord; partition: PartitionRecord } | null> => {
    const file = await fileOf(files, fileKey);
    if (file === undefined || file.deleted_at !== null) return null;
    const isKnown = known?.partition_key === file.partition_key;
    const partition = isKnown ? known : await partitions.get(file.partition);
    if (partition?.partition_key === file.partition_key) return { file, partition };
    await files.markDeleted(file.partition, file.file_id, fileKey);
    throw new AppError('TASK_CANCELLED', 'The partition was deleted.');
  };

  const fillVersion = (task: TaskRecord, embedder: string, signal: AbortSignal) => {
    const contextOf = openContexts(blobs, task.task_id, task.context_parts ?? 0);
    return fillVectors(adapters, { generations: [task.generation], embedder, contextOf, signal });
  };

  /**
   * A swap that was switched between the look at the partition and the publication has passed over the version, which
   * was not live: it is made of the new embedder here. One that is switched later finds it.
   * @param embedder of which it was published
   */
  const followSwitch = async (
    task: TaskRecord,
    file: FileRecord | undefined,
    { embedder, signal }: { embedder: string; signal: AbortSignal },
  ): Promise<void> => {
    if (file === undefined) return;
    const partition = await partitions.get(file.partition);
    if (partition?.partition_key !== file.partition_key || !partition.swapped_from.includes(embedder)) return;
    await fillVersion(task, partition.embedder, signal);
    await files.switchEmbedder(file.partition_key, embedder, partition.embedder);
  };

  /**
   * During a swap of the embedder a version gets the vectors of both. Answers the name of the one by which searches
   * find it once it is live: the partition's, where a swap has been made since the task was admitted.
   */
  const followSwap = async (
    task: TaskRecord,
    partition: PartitionRecord | undefined,
    signal: AbortSignal,
  ): Promise<string> => {
    const fill = (embedder: string) => fillVersion(task, embedder, signal);
    // What the new embedder does not take now, the swap itself comes to later: an upload does not wait for it.
    if (partition?.swap != null)
      await fill(partition.swap.target).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!(error instanceof AppError)) throw error;
      });
    if (partition?.swapped_from.includes(task.embedder) !== true) return task.embedder;
    await fill(partition.embedder);
    return partition.embedder;
  };

  const removeIntermediates = async (task: TaskRecord): Promise<void> => {
    const { task_id: taskId, pictures } = task;
    await blobs.remove(chunksBlobId(taskId));
    await removeContexts(blobs, taskId, task.context_parts ?? 0);
    await removePictures(blobs, taskId, pictures?.kept ?? 0);
    await removeDescriptions(blobs, taskId, pictures?.kept ?? 0);
    if (!keepUploads) await blobs.remove(task.upload.upload_id);
  };

  /** What follows a publication. A replaced version is cleaned up by a workflow of its own. */
  const end = async (
    task: TaskRecord,
    { replaced, facts }: { replaced: boolean; facts: ReadingFacts | undefined },
  ): Promise<void> => {
    if (task.takes_no_place !== true) await adapters.quotas.release([task.task_id]);
    // In one step nothing but the upload was stored for it.
    const cleaned = facts !== undefined && !replaced && keepUploads;
    await tasks.complete(task.task_id, { ...facts, cleaned });
    if (replaced || cleaned) return;
    await removeIntermediates(task);
    // Not those before it: one that a crash kept from its clean-up is still owed it.
    await tasks.markCleaned(task.file_key, task.generation, task.generation);
  };

  /**
   * Makes the new version the visible one, in this order: chunks marked, record flipped by one guarded update,
   * task completed. Repeating any part is harmless.
   * @throws AppError SUPERSEDED when another task has the file by now
   */
  const publish: Publish = async (ref, chunkCount, { signal, isMarked = false, read }) => {
    const known: Partial<typeof read> = read ?? {};
    const task = known.task ?? (await advanceUnpublished(tasks, ref, { stage: 'publish', progress: 0.95 }));
    if (task === null) return { replaced: true };
    // Marking what is marked already would have the engine read each chunk again.
    const { partition } = task;
    const marked = isMarked ? chunks.show(signal) : chunks.publish({ ...ref, partition }, chunkCount, signal);
    await marked.catch(async (error: unknown) => {
      // Overtaken, and its chunks cleaned up with what the newer version replaced: they are missing for good.
      throw (await isOvertaken(files, ref)) ? new AppError('SUPERSEDED') : error;
    });
    const place = await requirePartition(ref, known.partition);
    const embedder = await followSwap(task, place?.partition, signal);
    const published = await files.publish(
      ref.fileKey,
      ref.taskId,
      { ...versionOf(task, chunkCount), embedder },
      task.partition,
      place?.file,
    );
    if (published.outcome === 'superseded') throw new AppError('SUPERSEDED');
    // An attempt before this one may have died in between, and had not seen what this one has.
    const publishedWith = published.outcome === 'already' ? task.embedder : embedder;
    await followSwitch(task, place?.file, { embedder: publishedWith, signal });
    // Words that came, and a move that was made, while this ran or after an attempt before this one: that one's change
    // of the chunks was confirmed, and this attempt may have stored them anew as they were.
    if (published.outcome === 'already') await files.announce(ref.fileKey, ref.taskId);
    if (published.outcome === 'already' || published.behind)
      await settleChunks(adapters, ref.fileKey, [ref.taskId], signal);
    const replaced = published.outcome === 'already' || published.previous !== null;
    await end(task, { replaced, facts: known.facts });
    return { replaced };
  };
  return (ref, chunkCount, options) => timed(meter, 'publish', () => publish(ref, chunkCount, options));
}

function versionOf(task: TaskRecord, chunkCount: number): FileVersion {
  return {
    ...versionFacts(task),
    generation: task.generation,
    task_id: task.task_id,
    relationship_id: task.relationship_id,
    parent_id: task.parent_id,
    chunk_count: chunkCount,
    embedder: task.embedder,
    degraded_stages: degradedStagesOf(task),
    ...(task.parse_report === undefined ? {} : { parse_report: task.parse_report }),
  };
}
