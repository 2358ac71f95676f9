import { AppError } from '../../schemas/app-error.js';
import { isActiveState } from '../../schemas/documents/tasks.js';
import { DEFAULT_ADMIN } from '../../schemas/documents/users.js';
import type { BackupManifest, BackupPart } from '../../schemas/backups/backups.js';
import type { BackupAdapters, BackupStorage, RecordArchive, StoredDocument } from '../ports/backups.js';
import type { Adapters } from '../ports/adapters.js';
import { ARCHIVED, DERIVED_COUNTERS } from './backup-contents.js';
import { checkRestore, requireEmpty } from './check-restore.js';
import type { RestoreOrder } from './check-restore.js';
import { clearSeeded, clearStores } from './clear-stores.js';
import { readManifest } from './manifest.js';
import type { PartEntry } from './part-archive.js';
import { checkPart, partsInOrder, readPart } from './read-backup.js';
import { createFileRestorer } from './restore-files.js';
import type { FileTarget } from './restore-files.js';
import { restoredRecord } from './restored-records.js';
import { writeUnique } from './taken-names.js';

/** What a restore writes. */
export type RestoreTarget = FileTarget &
  Pick<Adapters, 'chunks' | 'blobs' | 'recordStore'> &
  Omit<BackupAdapters, 'storage'> & {
    storage: BackupStorage;
  };

/** Where a restore stands between two parts. */
export interface RestorePosition {
  phase: string;
  /** Index into the parts in their order. */
  part: number;
  /** Parts that were found as they were written, before anything is removed. */
  checked?: number;
  done: number;
  total: number;
  counts: Record<string, number>;
}

interface SliceControl {
  signal: AbortSignal;
  isOver(): boolean;
  reached(position: RestorePosition): void;
}

const OF_TOKEN = ['token_digest', 'environment_digest'] as const;

/** Records that are written at once. */
const BATCH = 500;

/** Some seconds of a restore; `phase` is `done` at its end. A repeated attempt goes on at the beginning of a part. */
export async function restoreSlice(
  target: RestoreTarget,
  order: RestoreOrder,
  from: RestorePosition | null,
  control: SliceControl,
): Promise<RestorePosition> {
  const { signal } = control;
  if (from === null) {
    const manifest = await checkRestore(target, order, signal);
    if (!order.replace) await requireOwnChunks(target);
    await raiseCounters(target, manifest, signal);
    // What came before the counters were raised may have an id of the backup.
    if (!order.replace) await requireEmpty(target.archive);
    const parts = partsInOrder(manifest);
    const total = parts.reduce((sum, { records }) => sum + records, 0);
    return { phase: 'checking', part: 0, done: 0, total, counts: {} };
  }
  if (from.phase === 'checking') return await checkParts(target, order, from, control);
  if (from.phase === 'clearing') {
    if (order.replace) await clearStores(target, signal);
    else await clearSeeded(target);
    return { ...from, phase: 'restoring' };
  }
  const manifest = await readManifest(target.storage, order.backupId, signal);
  const parts = partsInOrder(manifest);
  let position = from;
  while (position.part < parts.length) {
    position = await restoreParts(target, { manifest, parts, position, signal });
    control.reached(position);
    if (control.isOver()) return position;
  }
  await target.chunks.show(signal);
  return { ...position, phase: 'done' };
}

/**
 * First of all, so that what comes while the restore runs gets no id that something of the backup has, which would be
 * written over it.
 */
async function raiseCounters(
  target: RestoreTarget,
  manifest: BackupManifest,
  signal: AbortSignal,
): Promise<void> {
  const given = { counts: {}, finishedAt: new Date(manifest.finished_at) };
  for (const part of manifest.parts.filter(({ section }) => section === 'counters'))
    for (const entry of await readPart(target.storage, manifest.backup_id, part, signal))
      await restoreRecords(target, entry, given);
}

/**
 * All parts are looked at before anything is removed: of a stack that was cleared for a backup that lacks one, nothing
 * would be left.
 * @throws AppError BACKUP_NOT_USABLE, NOT_FOUND
 */
async function checkParts(
  target: RestoreTarget,
  { backupId }: RestoreOrder,
  from: RestorePosition,
  { signal, isOver, reached }: SliceControl,
): Promise<RestorePosition> {
  const parts = partsInOrder(await readManifest(target.storage, backupId, signal));
  let position = from;
  for (const part of parts.slice(from.checked ?? 0)) {
    await checkPart(target.storage, backupId, part, signal);
    position = { ...position, checked: (position.checked ?? 0) + 1 };
    reached(position);
    if (isOver()) break;
  }
  return (position.checked ?? 0) < parts.length ? position : { ...position, phase: 'clearing' };
}

/**
 * Records may be empty where the chunks are not: those of another record store, which may still be there.
 * @throws AppError RESTORE_NOT_EMPTY
 */
async function requireOwnChunks({
  chunks,
  recordStore,
}: Pick<RestoreTarget, 'chunks' | 'recordStore'>): Promise<void> {
  const own = await recordStore.id();
  if ((await chunks.ownerOf(own)) === own) return;
  throw new AppError(
    'RESTORE_NOT_EMPTY',
    'The vector store holds the chunks of another record store; a restore would replace them.',
  );
}

interface PartOfRestore {
  manifest: BackupManifest;
  parts: readonly BackupPart[];
  position: RestorePosition;
  signal: AbortSignal;
}

/** One part, or several where a file goes over their ends. */
async function restoreParts(target: RestoreTarget, given: PartOfRestore): Promise<RestorePosition> {
  const { manifest, parts, position, signal } = given;
  const restorer = createFileRestorer(target, { vectors: manifest.vectors, signal });
  const counts = { ...position.counts };
  let { part, done } = position;
  try {
    do {
      const present = parts[part]!;
      for (const entry of await readPart(target.storage, manifest.backup_id, present, signal))
        if (entry.name.startsWith('files/')) await restorer.take(entry);
        else await restoreRecords(target, entry, { counts, finishedAt: new Date(manifest.finished_at) });
      part += 1;
      done += present.records;
    } while (restorer.isOpen() && parts[part]?.section === 'files');
    await restorer.end();
  } finally {
    await restorer.close();
  }
  const restored: Record<string, number> = { ...restorer.counts };
  for (const [name, value] of Object.entries(restored)) counts[name] = (counts[name] ?? 0) + value;
  return { ...position, phase: parts[part]?.section ?? 'finishing', part, done, counts };
}

async function restoreRecords(
  target: RestoreTarget,
  { name, bytes }: PartEntry,
  { counts, finishedAt }: { counts: Record<string, number>; finishedAt: Date },
): Promise<void> {
  const collection = /^records\/([a-z_]+)\.ndjson$/.exec(name)?.[1];
  if (!ARCHIVED.some((archived) => archived.collection === collection) || collection === undefined)
    throw new AppError('BACKUP_NOT_USABLE', `${name} is not known to this release.`);
  const records = Buffer.from(bytes)
    .toString('utf8')
    .split('\n')
    .map((line) => target.archive.decode(line));
  let leftOut = 0;
  for (let from = 0; from < records.length; from += BATCH)
    leftOut += await writeRecords(target, collection, {
      records: records.slice(from, from + BATCH),
      finishedAt,
    });
  counts[collection] = (counts[collection] ?? 0) + records.length - leftOut;
  if (leftOut > 0) counts['left_out'] = (counts['left_out'] ?? 0) + leftOut;
}

/** Answers how many of them are left out. */
async function writeRecords(
  { archive }: RestoreTarget,
  collection: string,
  { records, finishedAt }: { records: readonly StoredDocument[]; finishedAt: Date },
): Promise<number> {
  if (collection === 'counters') {
    for (const { _id, value } of records)
      if (!DERIVED_COUNTERS.includes(String(_id))) await archive.raiseCounter(String(_id), Number(value));
    return 0;
  }
  const ids = records.map(({ _id }) => _id);
  // Those of files that wait for their indexing came with the files.
  const tasks = ['tasks', 'callbacks'].includes(collection) ? await archive.getMany('tasks', ids) : new Map();
  const around = {
    isActiveTask: (id: string): boolean =>
      isActiveState((tasks.get(id) as StoredDocument | undefined)?.['state']),
    now: new Date(),
  };
  const missing = collection === 'tasks' ? records.filter(({ _id }) => !tasks.has(_id)) : records;
  const restored = missing.map((record) => restoredRecord(collection, record, around));
  const written = collection === 'users' ? await withOwnToken(archive, restored) : restored;
  return await writeUnique(archive, collection, written, finishedAt);
}

/** The administrator has its token from AUTH_TOKEN of this stack, and goes on to be let in with it. */
async function withOwnToken(
  archive: RecordArchive,
  users: readonly StoredDocument[],
): Promise<StoredDocument[]> {
  const present = (await archive.getMany('users', [DEFAULT_ADMIN])).get(DEFAULT_ADMIN);
  return users.map((user) =>
    user._id === DEFAULT_ADMIN && present !== undefined
      ? {
          ...user,
          ...Object.fromEntries(OF_TOKEN.flatMap((name) => (name in present ? [[name, present[name]]] : []))),
        }
      : user,
  );
}
