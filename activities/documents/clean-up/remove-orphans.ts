import { isFinalState } from '../../../schemas/documents/tasks.js';
import type { Adapters } from '../../ports/adapters.js';
import type { ContentClaim } from '../../ports/files.js';
import { keptGenerations } from './clean-file-record.js';
import { fileOf } from '../commands/file-of.js';

/**
 * The record store that the chunks belong to where it is another than this one; null: they are its own. To another one
 * every file is unknown, so that its reconciler would remove all chunks.
 */
export async function foreignOwner({
  recordStore,
  chunks,
}: Pick<Adapters, 'recordStore' | 'chunks'>): Promise<string | null> {
  const own = await recordStore.id();
  const owner = await chunks.ownerOf(own);
  return owner === own ? null : owner;
}

/**
 * Removes chunks of generations that no record keeps. The record is read after the chunks were counted, and
 * nothing above its `latest_generation` is touched, so that indexings in progress lose nothing.
 */
export async function removeOrphanChunks(
  stores: Pick<Adapters, 'files' | 'chunks'>,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for await (const group of stores.chunks.scanGenerations()) {
    signal.throwIfAborted();
    const file = await fileOf(stores.files, group.fileKey);
    if (file === undefined) {
      removed += await stores.chunks.deleteFile(group.fileKey);
      continue;
    }
    const keep = keptGenerations(file);
    if (keep.includes(group.generation) || group.generation > file.latest_generation) continue;
    removed += await stores.chunks.deleteGenerations(group.fileKey, { keep, upTo: file.latest_generation });
  }
  return removed;
}

/** Removes bytes, older than a point in time, whose task is unknown: a gateway died before it wrote the task. */
export async function removeOrphanBlobs(
  stores: Pick<Adapters, 'tasks' | 'files' | 'blobs'>,
  before: Date,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for await (const blob of stores.blobs.scan()) {
    signal.throwIfAborted();
    if (blob.createdAt >= before) continue;
    const task = await stores.tasks.get(blob.taskId);
    if (task !== null) continue;
    const file = await fileOf(stores.files, blob.fileKey);
    if (file?.live?.upload_id === blob.blobId) continue;
    await stores.blobs.remove(blob.blobId);
    removed += 1;
  }
  return removed + (await stores.blobs.removeIncomplete(before));
}

/**
 * Files of a partition that is not there any more: put into it in the moment of its deletion, by a gateway that died
 * before it could look again. They become tombstones, and the sweep does the rest.
 */
export async function removeStrayFiles(
  stores: Pick<Adapters, 'partitions' | 'files'>,
  before: Date,
  signal: AbortSignal,
): Promise<void> {
  for await (const file of stores.files.scan()) {
    signal.throwIfAborted();
    if (file.deleted_at !== null || file.updated_at >= before) continue;
    if ((await stores.partitions.get(file.partition))?.partition_key === file.partition_key) continue;
    await stores.files.markDeleted(file.partition, file.file_id, file.file_key);
  }
}

const CLAIMS_AT_A_TIME = 500;

/**
 * Lets go of claims whose task has ended, or has no record any more, while its version is not that of the file: the
 * same bytes would be refused for good. A task is recorded before it claims, so none is under way.
 */
export async function releaseOrphanClaims(stores: ClaimedStores, signal: AbortSignal): Promise<void> {
  let page: ContentClaim[] = [];
  for await (const claim of stores.claims.scan()) {
    page.push(claim);
    if (page.length < CLAIMS_AT_A_TIME) continue;
    signal.throwIfAborted();
    await releaseOrphansOf(stores, page);
    page = [];
  }
  await releaseOrphansOf(stores, page);
}

type ClaimedStores = Pick<Adapters, 'claims' | 'tasks' | 'files'>;

async function releaseOrphansOf(
  { claims, tasks, files }: ClaimedStores,
  page: ContentClaim[],
): Promise<void> {
  const records = await tasks.getHeads(page.flatMap(({ holders }) => holders));
  const over = ({ holders }: ContentClaim): string[] =>
    holders.filter((holder) => isFinalState(records.get(holder)?.state ?? 'CANCELLED'));
  const suspects = page.filter((claim) => over(claim).length > 0);
  // After the tasks: a version is live before its task has ended.
  const found = await files.getMany(
    suspects.map(({ fileKey }) => fileKey),
    { reports: false },
  );
  const lost = suspects.flatMap((claim) => {
    const file = found.get(claim.fileKey);
    return over(claim).filter((holder) => holder !== file?.live?.task_id && holder !== file?.pending_task);
  });
  if (lost.length > 0) await claims.release(lost);
}
