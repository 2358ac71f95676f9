import type { Adapters } from '../ports/adapters.js';
import type { RecordArchive } from '../ports/backups.js';
import { ARCHIVED, SEEDED } from './backup-contents.js';

type Stores = Pick<Adapters, 'chunks' | 'blobs' | 'recordStore'> & { archive: RecordArchive };

/**
 * Counters go up alone. What a process has noted of scenarios today it does not note again; those that no alert has any
 * more are forgotten in time.
 */
const KEPT: readonly string[] = ['counters', 'alert_scenarios'];

/** What is there goes, but for the administrator; chunks and bytes first, so that nothing is left without a record. */
export async function clearStores(
  { archive, chunks, blobs, recordStore }: Stores,
  signal: AbortSignal,
): Promise<void> {
  for await (const { fileKey } of chunks.scanGenerations()) {
    signal.throwIfAborted();
    await chunks.deleteFile(fileKey);
  }
  // Of another record store's chunks none is left, and what is restored is of this one.
  await chunks.giveTo(await recordStore.id());
  for await (const { blobId } of blobs.scan()) {
    signal.throwIfAborted();
    await blobs.remove(blobId);
  }
  const besides = ['claims', 'alert_counts', 'alert_hours', 'held_metrics', 'embedder_swaps', 'sessions'];
  const held = ARCHIVED.map(({ collection }) => collection).filter(
    (collection) => !KEPT.includes(collection),
  );
  for (const collection of [...held, ...besides]) await archive.clear(collection);
}

/**
 * What a start puts there goes. The rest was found empty: what is there by now was taken, and answered, since then, and
 * stays.
 */
export async function clearSeeded({ archive }: Pick<Stores, 'archive'>): Promise<void> {
  for (const collection of SEEDED) await archive.clear(collection);
}
