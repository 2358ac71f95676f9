import { stringify } from 'lossless-json';
import { AppError } from '../../schemas/app-error.js';
import type { FileRecord, Metadata } from '../../schemas/documents/documents.js';
import type { Principal } from '../../schemas/documents/users.js';
import { readClientMetadata } from '../documents/commands/client-metadata.js';
import { patchFile } from '../documents/commands/patch-file.js';
import { receiveDownload } from '../documents/commands/receive-download.js';
import { takeDocument } from '../documents/commands/take-document.js';
import type { TakeDocumentDeps } from '../documents/commands/take-document.js';
import type { SourceService } from '../ports/imports.js';
import type { SourceFile } from './file-lists.js';
import type { SourceReader } from './read-source.js';

export interface FileOrder {
  service: SourceService;
  reader: SourceReader;
  principal: Principal;
  maxBytes: number;
  dryRun: boolean;
  signal: AbortSignal;
}

/** `not_ready`: the source is still indexing it. */
export type FileOutcome = 'taken' | 'renewed' | 'words_changed' | 'known' | 'not_ready';

/** Keys of a row that the server sets; `page` is the same for every file. */
const SERVER_KEYS: ReadonlySet<string> = new Set([
  'link',
  'partition',
  'file_id',
  'filename',
  'original_filename',
  'source',
  'file_size',
  'content_sha256',
  'indexed_at',
  'page',
]);

const FALLBACK_TIMEOUT_MS = 3_600_000;

function wordsOf(row: SourceFile): string {
  const own = Object.entries(row).filter(([key, value]) => !SERVER_KEYS.has(key) && value !== null);
  return stringify(Object.fromEntries(own)) ?? '{}';
}

function nameOf({ original_filename: original, filename, file_id: id }: SourceFile): string {
  const [name] = [original, filename].filter((each) => typeof each === 'string' && each !== '');
  return (name as string | undefined) ?? id;
}

/** Those of the source's words that ours lack or have otherwise; words of ours alone stay. */
function changedWords(present: Metadata, text: string): Metadata {
  const { metadata } = readClientMetadata(text, []);
  return Object.fromEntries(
    Object.entries(metadata).filter(([key, value]) => stringify(value) !== stringify(present[key])),
  );
}

/**
 * One file of the source: nothing is done where its bytes and words are here, words alone are changed where the bytes
 * are, and everything else is an upload that passes the admission of any upload.
 * @throws AppError as the admission; IMPORT_SOURCE_FAILED, IMPORT_SOURCE_REFUSED
 */
export async function importFile(
  deps: TakeDocumentDeps,
  { partition, row }: { partition: string; row: SourceFile },
  order: FileOrder,
): Promise<FileOutcome> {
  const { adapters } = deps;
  const { file_id: fileId } = row;
  const present = await adapters.files.get(partition, fileId);
  const live = present?.live ?? null;
  const hasBytes = await hasBytesOf(deps, present, row.content_sha256);
  if (hasBytes) {
    // One that is being indexed is looked at by the next run.
    const isSettled = live !== null && present?.pending_task === null;
    return isSettled ? changeWords(deps, { partition, row, present: live.metadata }, order) : 'known';
  }
  // A file that is not live has no digest; an earlier release of the source may tell none of one that is.
  const path =
    order.dryRun && row.content_sha256 !== '' ? '' : await order.reader.bytesPath(partition, fileId);
  if (path === null) return 'not_ready';
  const isRenewed = present !== null && (live !== null || present.pending_task !== null);
  if (!order.dryRun) await take(deps, { partition, row, path, isRenewed }, order);
  return isRenewed ? 'renewed' : 'taken';
}

async function changeWords(
  { adapters, config, workflows, log }: TakeDocumentDeps,
  { partition, row, present }: { partition: string; row: SourceFile; present: Metadata },
  { dryRun }: FileOrder,
): Promise<FileOutcome> {
  const metadata = changedWords(present, wordsOf(row));
  if (Object.keys(metadata).length === 0) return 'known';
  if (!dryRun)
    await patchFile(
      { ...adapters, ...config.documents, workflows, log },
      { partition, fileId: row.file_id, metadata, to: null },
    );
  return 'words_changed';
}

/** Whether the bytes are live here or about to be; where the source tells no digest, whether the file is here. */
async function hasBytesOf(
  { adapters }: TakeDocumentDeps,
  present: FileRecord | null,
  digest: string | null,
): Promise<boolean> {
  if (present === null) return false;
  if (digest === null || digest === '') return present.live !== null;
  if (present.pending_task === null) return present.live?.content_sha256 === digest;
  return (await adapters.tasks.get(present.pending_task))?.upload.content_sha256 === digest;
}

async function take(
  deps: TakeDocumentDeps,
  of: { partition: string; row: SourceFile; path: string; isRenewed: boolean },
  { service, principal, maxBytes, signal }: FileOrder,
): Promise<void> {
  const { row, partition } = of;
  const downloads = {
    open: async (path: string, limits: Parameters<SourceService['downloads']['open']>[1]) => ({
      ...(await service.downloads.open(path, limits)),
      // As it was uploaded there: the type of the answer says nothing more.
      name: nameOf(row),
      mimetype: null,
    }),
  };
  const by = {
    principal,
    isEditorOf: () => true,
    admitAnew: async () => undefined,
    requireEditor: async () => undefined,
    taskUrl: (taskId: string) => `/indexer/task/${taskId}`,
  };
  await takeDocument(
    deps,
    by,
    { partition, file_id: row.file_id },
    of.isRenewed ? 'replace' : 'create',
    (upload) =>
      receiveDownload({
        blobs: deps.adapters.blobs,
        downloads,
        upload,
        url: of.path,
        maxBytes,
        timeoutMs: FALLBACK_TIMEOUT_MS,
        signal,
        fields: { metadata: wordsOf(row) },
        onProgress: () => undefined,
      }),
  );
}

/** Statuses that speak of the token or the address, and so of every file. */
const OF_ALL_FILES: ReadonlySet<number> = new Set([401, 403]);

/** Whether the source refused one request by what it asks for, or gave no usable answer about one file alone. */
export function isRefusedByName({ code, details }: AppError): boolean {
  if (code !== 'IMPORT_SOURCE_REFUSED') return false;
  const answered = Number(details['answered'] ?? NaN);
  return details['unreadable'] === true || (answered >= 400 && !OF_ALL_FILES.has(answered));
}

/** Whether it concerns this file alone, and trying again would end in the same. */
export function isRefusedFile(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    !error.retryable &&
    !['IMPORT_SOURCE_REFUSED', 'RATE_LIMITED', 'VDB_SCHEMA_MIGRATION_REQUIRED', 'CONFIG_ERROR'].includes(
      error.code,
    ) &&
    error.code !== 'DEFAULT_EMBEDDER_MIGRATION_REQUIRED'
  );
}
