import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import iconv from 'iconv-lite';
import type { Entry, ZipFile } from 'yauzl';
import { AppError } from '../../../../schemas/app-error.js';
import type { Nest, ParseSource } from '../parse-source.js';
import { openFileBytes } from '../random-access-bytes.js';
import type { Section } from '../section.js';
import { openZip, walkZipEntries } from '../zip-directory.js';
import { beyondLimit } from './limit-error.js';
import { memberSections } from './member-sections.js';

/** Below this no ratio is a danger. */
const HARMLESS = 32 * 1024 * 1024;
/** As it is, and by Deflate. */
const READ_METHODS = new Set([0, 8]);
/** APPNOTE.TXT of PKWARE, 4.4.5. */
const METHODS: Readonly<Record<number, string>> = {
  9: 'Deflate64',
  12: 'bzip2',
  14: 'LZMA',
  93: 'Zstandard',
  95: 'XZ',
  98: 'PPMd',
};
/** What macOS and Windows put beside the files of a person. */
const FURNITURE = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i;

/**
 * The members of an archive in its order, each under its name, which is a label and nothing else.
 * @throws AppError FILE_ENCRYPTED, FILE_CORRUPT, FILE_TOO_COMPLEX
 */
export async function* parseZip(source: ParseSource & { nest: Nest }): AsyncGenerator<Section> {
  const bytes = await openFileBytes(source.path);
  try {
    const zip = await openZip(bytes, { rawNames: true }).catch(damaged);
    try {
      const entries = await listEntries(zip, source.limits, bytes.size);
      for (const entry of entries) {
        const write = (path: string, most: number): Promise<number> => unpack(zip, entry, path, most);
        yield* memberSections({ name: nameOf(entry), headingPath: [], write }, source);
      }
    } finally {
      zip.close();
    }
  } finally {
    await bytes.close();
  }
}

async function listEntries(
  zip: ZipFile,
  { maxArchiveEntries, maxExpandedBytes, maxExpansionRatio }: ParseSource['limits'],
  size: number,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let count = 0;
  let expanded = 0;
  await walkZipEntries(zip, (entry) => {
    if (++count > maxArchiveEntries) throw beyondLimit('maxArchiveEntries', maxArchiveEntries);
    expanded += entry.uncompressedSize;
    const tooMuch = expanded > HARMLESS && expanded / size > maxExpansionRatio;
    if (expanded > maxExpandedBytes || tooMuch)
      throw beyondLimit('maxExpandedBytes', maxExpandedBytes, expanded);
    const name = nameOf(entry);
    if (!name.endsWith('/') && !FURNITURE.test(name)) entries.push(entry);
    return true;
  }).catch(damaged);
  if (entries.length > 0 && entries.every((entry) => entry.isEncrypted()))
    throw new AppError('FILE_ENCRYPTED');
  return entries;
}

/** By the flag of the entry; old archives hold bytes of any code page. */
function nameOf(entry: Entry): string {
  const raw = entry.fileName as unknown as Buffer;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw);
  } catch {
    return iconv.decode(raw, 'cp437');
  }
}

async function unpack(zip: ZipFile, entry: Entry, path: string, most: number): Promise<number> {
  if (entry.isEncrypted()) throw new AppError('FILE_ENCRYPTED');
  if (!READ_METHODS.has(entry.compressionMethod)) throw packedOtherwise(entry.compressionMethod);
  if (entry.uncompressedSize > most) throw beyondLimit('maxExpandedBytes', most);
  const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
    zip.openReadStream(entry, (error, opened) => (error ? reject(error) : resolve(opened))),
  ).catch(damaged);
  // The reader fails as soon as an entry gives more bytes than it declares.
  await pipeline(stream, createWriteStream(path)).catch(damaged);
  return entry.uncompressedSize;
}

function packedOtherwise(method: number): AppError {
  const name = METHODS[method] ?? `method ${method}`;
  return new AppError(
    'UNSUPPORTED_CONTENT',
    `It is packed by ${name}, which is not read; pack it by Deflate.`,
  );
}

function damaged(error: unknown): never {
  if (error instanceof AppError || (error instanceof Error && 'syscall' in error)) throw error;
  if (error instanceof Error && /too many bytes/.test(error.message))
    throw beyondLimit('maxExpandedBytes', 0);
  throw new AppError('FILE_CORRUPT', 'The archive is damaged and cannot be unpacked.', { cause: error });
}
