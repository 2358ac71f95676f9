import { randomUUID } from 'node:crypto';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { Adapters } from '../../ports/adapters.js';
import { toVersionEntries } from '../metadata-entries.js';
import { fileOf } from '../commands/file-of.js';

type Stores = Pick<Adapters, 'files' | 'tasks' | 'claims' | 'chunks'>;

async function readFile({ files }: Pick<Adapters, 'files'>, fileKey: string): Promise<FileRecord | null> {
  const file = await fileOf(files, fileKey);
  return file === undefined || file.deleted_at !== null ? null : file;
}

/**
 * What the live chunks say of their file follows its record. Two changes at once may write in any order: a writer that
 * finds that the record has changed meanwhile writes again, and a token is removed only after the chunks were written
 * as the record says. So the chunks end as the record is; the token of a writer that died is left to the sweep.
 * @param tokens the caller's own, or all that are there
 */
export async function settleChunks(
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
 * The attachments of a mail claim nothing: each mail has its own.
 */
export async function settleClaims(
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
  if (file.attached === undefined)
    for (const holder of holders) await stores.claims.claim({ partition, fileKey, fileId, ...holder });
  await stores.claims.releaseElsewhere(fileKey, partition);
}

/**
 * The attachments of a mail that are files of their own are where the mail is, and so are those of mails among them.
 * One whose name was taken there a moment ago stays behind, and goes with the mail all the same when that is deleted.
 * @param settle has what a moved one says of itself follow, claims apart; `token` stands in its record until then
 */
export async function bringAttached(
  stores: Pick<Adapters, 'files' | 'tasks' | 'claims'>,
  mail: Pick<FileRecord, 'file_key' | 'partition' | 'partition_key'>,
  settle: (file: FileRecord, token: string) => Promise<void>,
): Promise<void> {
  for (const file of await stores.files.listAttached(mail.file_key))
    await bringOne(stores, mail, file, settle);
}

async function bringOne(
  stores: Pick<Adapters, 'files' | 'tasks' | 'claims'>,
  { file_key: mailKey, partition, partition_key }: Parameters<typeof bringAttached>[1],
  listed: FileRecord,
  settle: (file: FileRecord, token: string) => Promise<void>,
): Promise<void> {
  const token = randomUUID();
  for (
    let file: FileRecord | null = listed;
    // Deleted, or moved by a client, since it was listed: then it goes with the mail no more.
    file?.attached?.to === mailKey && file.partition_key !== partition_key;
    file = await readFile(stores, listed.file_key)
  ) {
    const { live, metadata_patch: metadataPatch } = file;
    const to = { partition, partition_key };
    const outcome = await stores.files.change({ file, token, live, metadataPatch, to });
    if (outcome === 'exists') return;
    if (outcome === 'stale') continue;
    await settleClaims(stores, file.file_key);
    await bringAttached(stores, { file_key: file.file_key, ...to }, settle);
    await settle(file, token);
    return;
  }
}

/** Takes up a change of a file's record that a crash cut short. */
export async function settleFile(stores: Stores, file: FileRecord): Promise<void> {
  if (file.chunk_updates.length === 0) return;
  await settleClaims(stores, file.file_key);
  await bringAttached(stores, file, (attached, token) => settleChunks(stores, attached.file_key, [token]));
  await settleChunks(stores, file.file_key, 'all');
}
