import { AppError } from '../../schemas/app-error.js';
import type { BackupManifest } from '../../schemas/backups/backups.js';
import { BACKUP_FORMAT } from '../../schemas/backups/backups.js';
import type { Adapters } from '../ports/adapters.js';
import type { BackupAdapters, BackupStorage, StoredDocument } from '../ports/backups.js';
import { ARCHIVED } from './backup-contents.js';
import type { Archived } from './backup-contents.js';
import { writeManifest } from './manifest.js';
import { createPartWriter } from './part-writer.js';
import type { PartWriter } from './part-writer.js';
import type { StoredFile } from './stored-records.js';
import { writeFiles } from './write-files.js';

/** Records of a page; of files, whose bytes and chunks come along, fewer. */
const PAGE = 500;
const FILES = 20;
/** A page is held as records, as lines and as bytes at once, and one is added to a part that is nearly full. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** What a backup reads. */
export type BackupSource = Pick<Adapters, 'blobs' | 'chunks' | 'endpoints'> &
  Omit<BackupAdapters, 'storage'> & { storage: BackupStorage };

export interface BackupOrder {
  runId: string;
  backupId: string;
  vectors: boolean;
}

/** Where a backup stands between two parts. */
export interface BackupPosition {
  phase: string;
  /** Index into ARCHIVED. */
  step: number;
  after: string | number | null;
  /** Parts that are written. */
  parts: number;
  startedAt: number;
  /** No later alert belongs to it. */
  lastAlert: number;
  done: number;
  total: number;
  counts: Record<string, number>;
  /** Of the files that are written; missing in a run that an earlier release began. */
  embedders?: string[];
  /** Fingerprints of the keys in use when it began; missing as above. */
  keys?: string[];
}

export interface SliceEnd {
  signal: AbortSignal;
  isOver(): boolean;
  /** Called whenever a repeated attempt may go on from here. */
  reached(position: BackupPosition): void;
}

/** The beginning: what is written later is another backup's, as far as ids and times tell. */
async function begin(source: BackupSource): Promise<BackupPosition> {
  const { archive } = source;
  const startedAt = Date.now();
  const keys = await keysInUse(source);
  const counter = (await archive.getMany('counters', ['alert'])).get('alert');
  const estimates = await Promise.all(ARCHIVED.map(({ collection }) => archive.estimate(collection)));
  return {
    phase: ARCHIVED[0]!.section,
    step: 0,
    after: null,
    parts: 0,
    startedAt,
    lastAlert: Number(counter?.['value'] ?? 0),
    done: 0,
    total: estimates.reduce((sum, each) => sum + each, 0),
    counts: {},
    keys,
  };
}

/** The present key, and those before it where something is sealed with one of them. */
async function keysInUse({ keyFingerprints, needsFormerKeys }: BackupSource): Promise<string[]> {
  return (await needsFormerKeys()) ? [...keyFingerprints] : keyFingerprints.slice(0, 1);
}

/**
 * Some seconds of a backup, a part or more. Each part that is closed can be gone on from; a repeated attempt writes the
 * parts behind it again, under the same names. Answers where it stands; `phase` is `done` once the manifest is written.
 */
export async function backupSlice(
  source: BackupSource,
  order: BackupOrder,
  from: BackupPosition | null,
  control: SliceEnd,
): Promise<BackupPosition> {
  let position = from ?? (await begin(source));
  const writer = createPartWriter(source, { ...order, signal: control.signal });
  /** Of a part that fills up in the middle of a page: what precedes it stays the place to go on from. */
  let parts = position.parts;
  const closePart = async (archived: Archived): Promise<void> => {
    parts += 1;
    await writer.close(parts, archived.section);
  };
  for (;;) {
    control.signal.throwIfAborted();
    const archived = ARCHIVED[position.step];
    if (archived === undefined) {
      await finish(source, order, position, control.signal);
      return { ...position, phase: 'done' };
    }
    const page = await readPage(source, archived, position);
    requireEmbedders(archived, page, position);
    const counts = await writePage(source, writer, page, {
      archived,
      order,
      signal: control.signal,
      closeFull: () => closePart(archived),
    });
    position = {
      ...behind(position, page),
      counts: sum(position.counts, counts),
      embedders: embeddersSoFar(archived, page, position),
    };
    const isOver = control.isOver();
    const isDue = isOver || writer.isFull() || position.phase !== archived.section;
    if (isDue && !writer.isEmpty()) await closePart(archived);
    // What is held and not written yet is not done.
    if (!writer.isEmpty()) continue;
    position = { ...position, parts };
    control.reached(position);
    if (isOver) return position;
  }
}

function embeddersSoFar(
  { collection }: Archived,
  page: readonly StoredDocument[],
  { embedders = [] }: BackupPosition,
): string[] {
  if (collection !== 'files') return embedders;
  const named = (page as readonly StoredFile[]).flatMap(({ live }) => live?.embedder ?? []);
  return [...new Set([...embedders, ...named])];
}

/**
 * A restore puts vectors where the embedder of their file has them. One that was renamed since its files were written,
 * or deleted, would make a backup that nothing can be restored from.
 */
function requireEmbedders(
  { collection }: Archived,
  page: readonly StoredDocument[],
  { embedders = [], after }: BackupPosition,
): void {
  // Of more than a page none is known to be missing.
  if (collection !== 'model_endpoints' || after !== null || page.length >= PAGE) return;
  const registered = new Set(page.map(({ name }) => name));
  const missing = embedders.filter((name) => !registered.has(name));
  if (missing.length > 0)
    throw new AppError(
      'CONFLICT',
      `Embedders of files were renamed or deleted while the backup was written: ${missing.join(', ')}. Start another one.`,
    );
}

/** The place behind a page. */
function behind(position: BackupPosition, page: readonly StoredDocument[]): BackupPosition {
  // One that is shorter than asked for may be so because its records are large.
  const isLast = page.length === 0;
  const step = isLast ? position.step + 1 : position.step;
  const done = position.done + page.length;
  return {
    ...position,
    phase: ARCHIVED[step]?.section ?? 'manifest',
    step,
    after: isLast ? null : page.at(-1)!._id,
    done,
    total: Math.max(position.total, done),
  };
}

async function readPage(
  { archive }: BackupSource,
  archived: Archived,
  { after, lastAlert }: BackupPosition,
): Promise<StoredDocument[]> {
  const { collection } = archived;
  return await archive.page(collection, {
    after,
    size: collection === 'files' ? FILES : PAGE,
    bytes: PAGE_BYTES,
    upTo: collection === 'alerts' ? lastAlert : undefined,
  });
}

async function writePage(
  source: BackupSource,
  writer: PartWriter,
  page: readonly StoredDocument[],
  context: { archived: Archived; order: BackupOrder; signal: AbortSignal; closeFull(): Promise<void> },
): Promise<Record<string, number>> {
  const { collection } = context.archived;
  if (page.length === 0) return {};
  if (collection === 'files') {
    const { order, closeFull, signal } = context;
    const options = { vectors: order.vectors, closeFull, signal };
    return { ...(await writeFiles(source, writer, page as readonly StoredFile[], options)) };
  }
  const lines = page.map((record) => source.archive.encode(record));
  writer.add(`records/${collection}.ndjson`, Buffer.from(lines.join('\n')));
  writer.count(page.length);
  return { [collection]: page.length };
}

function sum(counts: Record<string, number>, more: Record<string, number>): Record<string, number> {
  const together = { ...counts };
  for (const [name, value] of Object.entries(more)) together[name] = (together[name] ?? 0) + value;
  return together;
}

async function finish(
  source: BackupSource,
  { runId, backupId, vectors }: BackupOrder,
  position: BackupPosition,
  signal: AbortSignal,
): Promise<void> {
  const { storage, runs, archive, keyFingerprints } = source;
  // At both ends: meanwhile the key may have been changed, and what was read before may have been sealed anew.
  const present = keyFingerprints[0] ?? null;
  const keys = new Set([...(position.keys ?? []), ...(await keysInUse(source))]);
  const former = [...keys].filter((key) => key !== present);
  const steps = await archive.page('schema_steps', { after: null, size: PAGE });
  const manifest: BackupManifest = {
    format: BACKUP_FORMAT,
    backup_id: backupId,
    started_at: new Date(position.startedAt).toISOString(),
    finished_at: new Date().toISOString(),
    vectors,
    secrets_key: present,
    ...(former.length > 0 && { former_keys: former }),
    record_steps: steps.map(({ _id }) => String(_id)),
    counts: position.counts,
    parts: (await runs.parts(runId)).slice(0, position.parts),
  };
  await writeManifest(storage, manifest, signal);
}
