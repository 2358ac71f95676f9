import { AppError } from '../../schemas/app-error.js';
import type { ImportSource, RefusedFile } from '../../schemas/imports/imports.js';
import type { Principal } from '../../schemas/documents/users.js';
import type { TakeDocumentDeps } from '../documents/commands/take-document.js';
import type { ImportStore, SourceService } from '../ports/imports.js';
import type { ListedFile } from './file-lists.js';
import { importFile, isRefusedByName, isRefusedFile } from './import-file.js';
import { fillWorkspaces, importPartition } from './import-partition.js';
import { importUsers } from './import-people.js';
import { readSource } from './read-source.js';
import type { SourcePartition, SourceReader } from './read-source.js';

/** Where an import stands between two files. */
export interface ImportPosition {
  phase: 'users' | 'files' | 'workspaces' | 'done';
  /** The partition at work; null: the first is yet to come. */
  partition: string | null;
  /** The last file of it; null: none, and the partition itself is not made yet. */
  after: string | null;
  done: number;
  total: number | null;
  figures: Record<string, number>;
  /** Before the next slice: no room for more uploads, or files that are being indexed. */
  waitMs: number;
  /** The file behind `after`, where the source failed at it while it answered all else. */
  failing?: FailingFile;
}

export interface FailingFile {
  file_id: string;
  tries: number;
  /** Of the first of them; ms. */
  since: number;
}

export interface ImportOrder {
  sourceId: string;
  dryRun: boolean;
  principal: Principal;
}

export interface ImportDeps extends TakeDocumentDeps {
  imports: ImportStore;
  maxBytes: number;
}

export interface ImportControl {
  signal: AbortSignal;
  /** Asked after something was done: each slice gets on, however long the lists of the source take. */
  isOver(): boolean;
  /** A file that the source fails at was tried for long enough. */
  isGivenUp(failing: FailingFile): boolean;
  reached(position: ImportPosition): void;
  /** Before the position behind it is told: a worker that dies then finds it refused again, and not forgotten. */
  refused(file: RefusedFile, position: ImportPosition): Promise<void>;
}

/** Refused files that the record names, and refused partitions; the figures count all. */
const REFUSED_LISTED = 100;
/** Uploads are indexed meanwhile. */
const INDEXING_WAIT_MS = 2_000;
const FULL_WAIT_MS = 10_000;

const START: ImportPosition = {
  phase: 'users',
  partition: null,
  after: null,
  done: 0,
  total: null,
  figures: {},
  waitMs: 0,
};

function add(figures: Record<string, number>, more: Record<string, number>): Record<string, number> {
  const sum = { ...figures };
  for (const [name, value] of Object.entries(more)) if (value > 0) sum[name] = (sum[name] ?? 0) + value;
  return sum;
}

interface Work {
  deps: ImportDeps;
  order: ImportOrder;
  service: SourceService;
  reader: SourceReader;
  source: ImportSource;
  control: ImportControl;
}

/** Some seconds of an import; `phase` is `done` at its end. A repeated attempt goes on behind the last file. */
export async function importSlice(
  deps: ImportDeps,
  order: ImportOrder,
  service: SourceService,
  from: ImportPosition | null,
  control: ImportControl,
): Promise<ImportPosition> {
  const source = await deps.imports.getSource(order.sourceId);
  if (source === null) throw new AppError('NOT_FOUND', `There is no source ${order.sourceId}.`);
  const work: Work = { deps, order, service, source, control, reader: readSource(service) };
  const position = { ...(from ?? START), waitMs: 0 };
  switch (position.phase) {
    case 'users':
      return takeUsers(work, position);
    case 'files':
      return takeFiles(work, position);
    case 'workspaces':
      return takeWorkspaces(work, position);
    case 'done':
      return position;
  }
}

async function takeUsers(work: Work, position: ImportPosition): Promise<ImportPosition> {
  const { deps, order, reader, source } = work;
  const { defaultFileQuota } = deps.config.documents;
  const stores = { users: deps.adapters.users, counters: deps.adapters.counters };
  const counts = await importUsers(
    { ...stores, imports: deps.imports, defaultFileQuota },
    source,
    await reader.users(),
    order,
  );
  const partitions = await reader.partitions();
  const total = partitions.reduce(
    (sum, { document_count, file_count }) => sum + (document_count ?? file_count ?? 0),
    0,
  );
  return { ...position, phase: 'files', total, figures: add(position.figures, counts) };
}

async function takeFiles(work: Work, from: ImportPosition): Promise<ImportPosition> {
  let position = from;
  for (const given of await work.reader.partitions()) {
    const isBehind = position.partition !== null && given.partition < position.partition;
    const isFinished = given.partition === position.partition && position.after === '';
    if (isBehind || isFinished) continue;
    position = await takePartition(work, given, position);
    work.control.reached(position);
    if (work.control.isOver() || position.waitMs > 0 || position.after !== '') return position;
  }
  return { ...position, phase: work.order.dryRun ? 'done' : 'workspaces', partition: null, after: null };
}

/** Makes the partition; `after` is empty where it is refused, as behind its last file. */
async function enterPartition(
  { deps, order, reader, source, control }: Work,
  given: SourcePartition,
  position: ImportPosition,
): Promise<ImportPosition> {
  const { partition } = given;
  const { dryRun, principal } = order;
  const asked = { reader, users: source.users, userId: principal.userId, dryRun };
  try {
    const counts = await importPartition(deps.adapters, given, asked);
    return { ...position, partition, after: null, figures: add(position.figures, counts) };
  } catch (error) {
    control.signal.throwIfAborted();
    if (!isRefusedFile(error)) throw error;
    // Its name is one that this service has another use for, say.
    const figures = add(position.figures, { partitions_refused: 1 });
    const behind = { ...position, partition, after: '', figures };
    const { code, message } = error;
    if ((figures['partitions_refused'] ?? 0) <= REFUSED_LISTED)
      await control.refused({ partition, file_id: '', code, message }, behind);
    return behind;
  }
}

/**
 * Why one file is left out. What the source cannot give is tried again first; if it still gives all but that, the file
 * is at fault, and must not hold up those behind it. Tries are counted for each file, over attempts: one passing
 * failure each of many files must leave none of them out.
 * @throws what it was given, or the failure of the source, where that is not about this file alone
 */
async function refusalOf(
  { reader, control }: Work,
  error: unknown,
  fileId: string,
  from: ImportPosition,
): Promise<AppError> {
  if (!(error instanceof AppError)) throw error;
  // Its bytes are gone, say.
  const isMissing = error.code === 'NOT_FOUND';
  if (!isMissing && isRefusedFile(error)) return error;
  const isFailure = error.code === 'IMPORT_SOURCE_FAILED';
  if (!isMissing && !isFailure && !isRefusedByName(error)) throw error;
  await reader.partitions();
  if (!isFailure) return error;
  const known = from.failing?.file_id === fileId ? from.failing : { tries: 0, since: Date.now() };
  const failing = { file_id: fileId, tries: known.tries + 1, since: known.since };
  if (control.isGivenUp(failing)) return error;
  control.reached({ ...from, failing });
  throw error;
}

/** Takes one file, or lists it as refused; with `waitMs` it is still to be taken. */
async function takeFile(
  work: Work,
  partition: string,
  file: ListedFile,
  from: ImportPosition,
): Promise<ImportPosition> {
  const { deps, order, reader, service, control } = work;
  const { dryRun, principal } = order;
  const { maxBytes } = deps;
  const { file_id } = file;
  const { failing: _, ...before } = from;
  const behind = (figure: string): ImportPosition => ({
    ...before,
    figures: add(from.figures, { [figure]: 1 }),
    after: file_id,
    done: from.done + 1,
  });
  try {
    const outcome = await importFile(
      deps,
      { partition, row: file.row() },
      { service, reader, principal, maxBytes, dryRun, signal: control.signal },
    );
    return behind(outcome);
  } catch (error) {
    control.signal.throwIfAborted();
    if (error instanceof AppError && error.code === 'RATE_LIMITED')
      return { ...before, waitMs: error.retryAfterMs ?? FULL_WAIT_MS };
    const { code, message } = await refusalOf(work, error, file_id, from);
    const next = behind('refused');
    if ((next.figures['refused'] ?? 0) <= REFUSED_LISTED)
      await control.refused({ partition, file_id, code, message }, next);
    return next;
  }
}

/** `after` is empty at its end: no file is called so. */
async function takePartition(
  work: Work,
  given: SourcePartition,
  from: ImportPosition,
): Promise<ImportPosition> {
  const { reader, control } = work;
  const { partition } = given;
  let position = from;
  if (position.partition !== partition) {
    position = await enterPartition(work, given, position);
    if (position.after === '') return position;
    control.reached(position);
  }
  for (;;) {
    const { files, isLast } = await reader.files(partition, position.after);
    for (const file of files) {
      position = await takeFile(work, partition, file, position);
      if (position.waitMs > 0) return position;
      control.reached(position);
      const isEnd = isLast && file === files.at(-1);
      if (!isEnd && control.isOver()) return position;
    }
    if (isLast) return { ...position, after: '' };
  }
}

async function takeWorkspaces({ deps, reader }: Work, position: ImportPosition): Promise<ImportPosition> {
  let waiting = 0;
  for (const { partition } of await reader.partitions())
    if ((await deps.adapters.partitions.get(partition)) !== null)
      waiting += await fillWorkspaces(deps.adapters, partition, reader);
  return waiting > 0 ? { ...position, waitMs: INDEXING_WAIT_MS } : { ...position, phase: 'done' };
}
