import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { Adapters } from '../../ports/adapters.js';
import { toVersionEntries } from '../metadata-entries.js';

type Stores = Pick<Adapters, 'files' | 'tasks' | 'claims' | 'chunks'>;

async function readFile({ files }: Pick<Adapters, 'files'>, fileKey: string): Promise<FileRecord | null> {
  const file = (await files.getMany([fileKey])).get(fileKey);
  return file === undefined || file.deleted_at !== null ? null : file;
}

/**
 * What the live chunks say of their file follows its record. Two changes at once may write in any order: a writer that
 * finds that the record has changed meanwhile writes again, and a token is removed only after the chunks were written
 * as the record says. So the chunks end as the record is; the token of a writer that died is left to the sweep.
 * @param tokens the caller's own, or all that are there
 */
export async function reconcileChunks(
  stores: Pick<Adapters, 'files' | 'chunks'>,
  fileKey: string,
  tokens: readonly string[] | 'all',
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const file = await readFile(stores, fileKey);
    if (file === null) return;
    const mine = file.chunk_updates.filter((token) => tokens === 'all' || tokens.includes(token));
    if (mine.length === 0) return;
    const { live, partition } = file;
    if (live !== null)
      await stores.chunks.annotate(
        fileKey,
        live.generation,
        live.chunk_count,
        {
          partition,
          relationship_id: live.relationship_id,
          parent_id: live.parent_id,
          metadata: toVersionEntries(live),
        },
        signal,
      );
    if (await stores.files.confirmChunkUpdates(fileKey, file.revision, mine)) return;
  }
}

/**
 * After a move: the bytes of the live version and of the pending one are claimed where the file is, and nowhere else.
 */
export async function reconcileClaims(
  stores: Pick<Adapters, 'files' | 'tasks' | 'claims'>,
  fileKey: string,
): Promise<void> {
  const file = await readFile(stores, fileKey);
  if (file === null) return;
  const { partition, file_id: fileId, live } = file;
  const pending = file.pending_task === null ? null : await stores.tasks.get(file.pending_task);
  const holders = [
    ...(live === null ? [] : [{ taskId: live.task_id, digest: live.content_sha256 }]),
    ...(pending === null ? [] : [{ taskId: pending.task_id, digest: pending.upload.content_sha256 }]),
  ];
  for (const holder of holders) await stores.claims.claim({ partition, fileKey, fileId, ...holder });
  await stores.claims.releaseElsewhere(fileKey, partition);
}

/** Takes up a change of a file's record that a crash cut short. */
export async function reconcileFile(stores: Stores, file: FileRecord, signal?: AbortSignal): Promise<void> {
  if (file.chunk_updates.length === 0) return;
  await reconcileClaims(stores, file.file_key);
  await reconcileChunks(stores, file.file_key, 'all', signal);
}
