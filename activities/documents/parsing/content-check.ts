import { AppError } from '../../../schemas/app-error.js';
import type { FileKind } from './file-types.js';
import type { RandomAccessBytes } from './random-access-bytes.js';
import { openZip, walkZipEntries } from './zip-directory.js';

export type { RandomAccessBytes } from './random-access-bytes.js';

const SIGNATURE_WINDOW = 8 * 1024;
const DOCX_PARTS = ['[Content_Types].xml', '_rels/.rels', 'word/document.xml'];
/** Past this the directory is not worth reading at upload; the parser has its own, lower limit. */
const MAX_ENTRIES = 100_000;

/**
 * Refuses an upload whose content is recognisably not what its kind says. Text kinds pass unread; a damaged file
 * with the right signature passes too, and its task fails later. Reads at most the head or the zip directory.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE (415)
 */
export async function checkContent(kind: FileKind, source: RandomAccessBytes): Promise<void> {
  const fits = kind === 'pdf' ? await hasPdfSignature(source) : kind === 'docx' ? await isDocx(source) : true;
  if (!fits) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', `File content does not match its extension '.${kind}'`);
  }
}

async function hasPdfSignature(source: RandomAccessBytes): Promise<boolean> {
  if (source.size === 0) return false;
  const head = await source.read(0, Math.min(source.size, SIGNATURE_WINDOW));
  return head.includes('%PDF-');
}

async function isDocx(source: RandomAccessBytes): Promise<boolean> {
  if (source.size < 4) return false;
  const magic = await source.read(0, 4);
  if (magic.toString('latin1') !== 'PK\x03\x04') return false;
  const missing = new Set(DOCX_PARTS);
  let entries = 0;
  try {
    const zip = await openZip(source);
    try {
      await walkZipEntries(zip, (entry) => {
        missing.delete(entry.fileName);
        return missing.size > 0 && ++entries < MAX_ENTRIES;
      });
    } finally {
      zip.close();
    }
  } catch (error) {
    if (isSystemError(error)) throw error; // the store's trouble is not the client's
    return false;
  }
  return missing.size === 0;
}

/** Errors of the machine or of a driver carry a code; yauzl's complaints about the bytes do not. */
function isSystemError(error: unknown): boolean {
  return error instanceof AppError || (error instanceof Error && 'code' in error);
}
