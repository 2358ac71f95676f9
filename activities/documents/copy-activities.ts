import { Context } from '@temporalio/activity';
import { AppError } from '../../schemas/app-error.js';
import { chunkId } from '../../schemas/documents/chunk-id.js';
import type { FileVersion, StoredChunk } from '../../schemas/documents/documents.js';
import type { EnrichmentStage, TaskRecord } from '../../schemas/documents/tasks.js';
import { reportAttached } from './commands/attach-files.js';
import { copyAttached } from './commands/copy-attached.js';
import { embedderOf } from './embedder-of.js';
import { placeOf } from './place-of.js';
import { requireActive, versionFacts } from './task-ref.js';
import type { DocumentRef } from './task-ref.js';
import type { Adapters } from '../ports/adapters.js';
import { toVersionEntries } from './metadata-entries.js';
import { fileOf } from './commands/file-of.js';
import { ACTIVITY_WARNINGS } from '../temporal/activity-warnings.js';

export interface CopyActivityDeps {
  adapters: Pick<
    Adapters,
    | 'files'
    | 'tasks'
    | 'blobs'
    | 'chunks'
    | 'models'
    | 'partitions'
    | 'users'
    | 'callbacks'
    | 'counters'
    | 'quotas'
    | 'claims'
  >;
  settings: {
    /** For attachments of a mail that are files: how many files a user may have. */
    defaultFileQuota: number;
  };
}

/** What became of a copy. */
interface Copied {
  chunkCount: number;
  /** Tasks for copies of its attachments may wait to be started. */
  attached?: true;
}

const PAGE = 200;

/** Activities that copy a live version: text, vectors and bytes, without parsing or embedding again. */
export function createCopyActivities({ adapters, settings }: CopyActivityDeps) {
  const { files, tasks, blobs, chunks, models } = adapters;

  const attachmentStores = {
    ...adapters,
    ...settings,
    log: ACTIVITY_WARNINGS,
  };

  /** @throws AppError FILE_NOT_FOUND when the version is not the live one any more: what it had is being removed */
  const sourceOf = async (task: TaskRecord): Promise<FileVersion> => {
    const file = await fileOf(files, task.source?.file_key ?? '');
    if (file?.live == null || file.live.generation !== task.source?.generation)
      throw new AppError('FILE_NOT_FOUND', 'The source was changed or deleted while it was copied.');
    return file.live;
  };

  /** Writes the chunks and bytes of the source under the task's own file and generation. Repeating it is harmless. */
  const copyVersion = async (ref: DocumentRef): Promise<Copied> => {
    const context = Context.current();
    const signal = context.cancellationSignal;
    const task = requireActive(await tasks.begin(ref.taskId));
    const source = await sourceOf(task);
    // What the source lacks the copy lacks too.
    const degradedStages = source.degraded_stages.filter((stage) => stage !== 'parse') as EnrichmentStage[];
    const copies = await copyAttached(attachmentStores, { task, source, signal });
    const { parse_report: report } = source;
    const parseReport = report && (copies === null ? report : reportAttached(report, copies));
    if (degradedStages.length > 0) await tasks.noteEnrichment(ref.taskId, { degradedStages });
    if (parseReport !== undefined) await tasks.noteEnrichment(ref.taskId, { parseReport });
    // Where a swap was made since: what the source lacks of its vectors, publishing makes.
    const name = embedderOf(task, await placeOf(adapters, task));
    const { vectorField, dimension } = await models.embedder(name);
    const nothing = Array.from({ length: dimension }, () => 0);
    const total = source.chunk_count;
    let copied = 0;
    while (copied < total) {
      signal.throwIfAborted();
      const from = { vectorField, from: copied, limit: PAGE, signal };
      const page = await chunks.listWithVectors(task.source!.file_key, source.generation, from);
      if (page.length === 0) break;
      await chunks.put(
        page.map(({ chunk, vector, context: said }) => ({
          chunk: copyOf(chunk, task),
          vector: vector ?? nothing,
          context: said,
        })),
        vectorField,
        signal,
      );
      copied += page.length;
      const progress = 0.9 * (copied / Math.max(total, 1));
      const goOn = await tasks.report(ref.taskId, {
        stage: 'store',
        progress,
        attempt: context.info.attempt,
      });
      if (!goOn) throw new AppError('TASK_CANCELLED');
    }
    // Gone where uploads are not kept: the copy has none to download either.
    const bytes = await blobs.read(source.upload_id).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
      throw error;
    });
    if (bytes !== null)
      await blobs.write(
        {
          blobId: task.upload.upload_id,
          kind: 'upload',
          taskId: ref.taskId,
          fileKey: ref.fileKey,
          generation: ref.generation,
        },
        bytes,
        signal,
      );
    // Read again: what was removed during the copying would be missing in the copy.
    await sourceOf(task);
    if (copied !== total)
      throw new AppError('VDB_ERROR', `${copied} of ${total} chunks were found to be copied.`);
    const hasAttached = copies?.attachments.some(({ file_id: fileId }) => fileId !== null) === true;
    return { chunkCount: total, ...(hasAttached ? { attached: true } : {}) };
  };

  return { copyVersion };
}

export type CopyActivities = ReturnType<typeof createCopyActivities>;

function copyOf(chunk: StoredChunk, task: TaskRecord): StoredChunk {
  return {
    ...chunk,
    chunk_id: chunkId(task.file_key, task.generation, chunk.position),
    partition: task.partition,
    file_id: task.file_id,
    file_key: task.file_key,
    generation: task.generation,
    published: false,
    relationship_id: task.relationship_id,
    parent_id: task.parent_id,
    metadata: toVersionEntries(versionFacts(task)),
  };
}
