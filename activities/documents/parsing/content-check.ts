import type { Entry, ZipFile } from 'yauzl';
import { AppError } from '../../../schemas/app-error.js';
import type { FileKind } from './file-types.js';
import type { RandomAccessBytes } from './random-access-bytes.js';
import { isOleHead, oleEntryNames } from './ole-directory.js';
import { isRtfHead, RTF_HEAD } from './rtf-signature.js';
import { mainPartOf } from './word-package.js';
import { openZip, readZipText, walkZipEntries } from './zip-directory.js';

export type { RandomAccessBytes } from './random-access-bytes.js';

const SIGNATURE_WINDOW = 8 * 1024;
const TYPES = '[Content_Types].xml';
const RELATIONSHIPS = '_rels/.rels';
/** Parts that say what a package is; beyond that they are no list of a document's parts. */
const MAX_LIST_BYTES = 1024 * 1024;
/** What Word puts a document with a password into. */
const ENCRYPTED_PACKAGE = 'EncryptedPackage';
/** The parts without which a zip is no package of its kind. */
const PACKAGE_PARTS: Partial<Record<FileKind, string[]>> = {
  pptx: [TYPES, RELATIONSHIPS, 'ppt/presentation.xml'],
  xlsx: [TYPES, RELATIONSHIPS, 'xl/workbook.xml'],
  ods: ['content.xml'],
  odt: ['content.xml'],
  odp: ['content.xml'],
  epub: ['META-INF/container.xml'],
  zip: [],
};
const OLE_KINDS: ReadonlySet<FileKind> = new Set(['xls', 'msg']);
/** How pictures begin. */
const IMAGE_SIGNATURES: Partial<Record<FileKind, (head: Buffer) => boolean>> = {
  png: (head) => head.toString('hex', 0, 8) === '89504e470d0a1a0a',
  jpeg: (head) => head.toString('hex', 0, 3) === 'ffd8ff',
  gif: (head) => /^GIF8[79]a/.test(head.toString('latin1')),
  webp: (head) => /^RIFF.{4}WEBP/s.test(head.toString('latin1')),
  bmp: (head) => head.toString('latin1', 0, 2) === 'BM',
  tiff: (head) => ['49492a00', '4d4d002a'].includes(head.toString('hex', 0, 4)),
};
/** The parser says of these that they have a password. */
const MAY_BE_ENCRYPTED: ReadonlySet<FileKind> = new Set(['xlsx', 'pptx']);
/** Past this the directory is not worth reading at upload; the parser has its own, lower limit. */
const MAX_ENTRIES = 100_000;
/** No main part has a longer name; those of all entries are held. */
const MAX_NAME = 256;

/**
 * Refuses an upload whose content is recognisably not what its kind says. Text kinds pass unread; a damaged file
 * with the right signature passes too, and its task fails later. Reads at most the head or the zip directory.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE (415)
 */
export async function checkContent(kind: FileKind, source: RandomAccessBytes): Promise<void> {
  if (!(await fits(kind, source))) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', `File content does not match its extension '.${kind}'`);
  }
}

async function fits(kind: FileKind, source: RandomAccessBytes): Promise<boolean> {
  if (kind === 'pdf') return hasPdfSignature(source);
  const isPicture = IMAGE_SIGNATURES[kind];
  if (isPicture !== undefined) return isPicture(await source.read(0, Math.min(source.size, 16)));
  if (OLE_KINDS.has(kind)) return isOle(source);
  if (kind === 'rtf') return isRtf(source);
  if (kind === 'ppt') return (await oleEntryNames(source))?.includes('PowerPoint Document') === true;
  // Word of today's package under the old name is read all the same.
  if (kind === 'doc') return (await isOle(source)) || (await isRtf(source)) || isDocx(source);
  if (kind === 'docx') return isDocx(source);
  const parts = PACKAGE_PARTS[kind];
  if (parts === undefined) return true;
  return (MAY_BE_ENCRYPTED.has(kind) && (await isOle(source))) || isPackage(source, parts);
}

async function isRtf(source: RandomAccessBytes): Promise<boolean> {
  return source.size > 0 && isRtfHead(await source.read(0, Math.min(source.size, RTF_HEAD)));
}

async function isOle(source: RandomAccessBytes): Promise<boolean> {
  return source.size >= 8 && isOleHead(await source.read(0, 8));
}

async function hasPdfSignature(source: RandomAccessBytes): Promise<boolean> {
  if (source.size === 0) return false;
  const head = await source.read(0, Math.min(source.size, SIGNATURE_WINDOW));
  return head.includes('%PDF-');
}

async function isPackage(source: RandomAccessBytes, parts: readonly string[]): Promise<boolean> {
  if (source.size < 4) return false;
  const magic = await source.read(0, 4);
  if (magic.toString('latin1') !== 'PK\x03\x04') return false;
  const missing = new Set(parts);
  const isWhole = await walkPackage(source, (_zip, entry) => {
    missing.delete(rawName(entry));
    return missing.size > 0;
  });
  return isWhole && missing.size === 0;
}

/** A package whose main part is a Word document, whatever the part is called; or one that has a password. */
async function isDocx(source: RandomAccessBytes): Promise<boolean> {
  if (source.size < 4) return false;
  if ((await oleEntryNames(source))?.includes(ENCRYPTED_PACKAGE)) return true;
  const magic = await source.read(0, 4);
  if (magic.toString('latin1') !== 'PK\x03\x04') return false;
  const names = new Set<string>();
  const lists = new Map<string, string>();
  const isWhole = await walkPackage(source, async (zip, entry) => {
    const name = rawName(entry);
    if (name.length <= MAX_NAME) names.add(name);
    // The first of its name: each is unpacked, and an archive may name one ten thousand times.
    if ((name === TYPES || name === RELATIONSHIPS) && !lists.has(name))
      lists.set(name, await readZipText(zip, entry, MAX_LIST_BYTES));
    return true;
  });
  if (!isWhole) return false;
  const types = lists.get(TYPES);
  const relationships = lists.get(RELATIONSHIPS);
  if (types === undefined || relationships === undefined) return false;
  const main = mainPartOf(relationships);
  return names.has(main) && (main.startsWith('word/') || /wordprocessingml|ms-word/.test(types));
}

/**
 * Walks the first entries of a package until `visit` answers false.
 * @returns false when it is damaged, or no package
 */
async function walkPackage(
  source: RandomAccessBytes,
  visit: (zip: ZipFile, entry: Entry) => boolean | Promise<boolean>,
): Promise<boolean> {
  let entries = 0;
  try {
    // What the parser takes for a label is no reason to refuse an archive.
    const zip = await openZip(source, { rawNames: true });
    try {
      await walkZipEntries(zip, async (entry) => (await visit(zip, entry)) && ++entries < MAX_ENTRIES);
    } finally {
      zip.close();
    }
  } catch (error) {
    if (isSystemError(error)) throw error; // the store's trouble is not the client's
    return false;
  }
  return true;
}

/** The name as it stands in the directory; old archives hold bytes of any code page. */
function rawName({ fileName }: Entry): string {
  return (fileName as unknown as Buffer).toString('utf8');
}

/** Errors of the machine or of a driver carry a code; of the complaints about the bytes, those of zlib alone do. */
function isSystemError(error: unknown): boolean {
  if (error instanceof AppError) return true;
  return error instanceof Error && 'code' in error && !String(error.code).startsWith('Z_');
}
