import type { Entry, ZipFile } from 'yauzl';
import { AppError } from '../../../schemas/app-error.js';
import type { ParseLimits } from './parse-limits.js';
import type { RandomAccessBytes } from './random-access-bytes.js';
import { openZip, walkZipEntries } from './zip-directory.js';

export type ZipLimits = Pick<
  ParseLimits,
  'maxExpandedBytes' | 'maxExpansionRatio' | 'maxArchiveEntries' | 'maxMarkupBytes'
>;

/** By its name: these parts alone are unpacked as a check, and may be read as text. */
export function isMarkup(name: string): boolean {
  return /\.(?:xml|rels)$/i.test(name);
}

/** Below this no ratio is a danger: a short text of blanks packs a thousand times. */
const HARMLESS = 32 * 1024 * 1024;

/**
 * Refuses a zip package that unpacks to too much, before anything reads it: by the sizes its directory declares, and
 * since those can lie, by unpacking its XML parts once into nothing.
 * @throws AppError FILE_TOO_COMPLEX, FILE_CORRUPT, FILE_ENCRYPTED
 */
export async function checkZipLimits(source: RandomAccessBytes, limits: ZipLimits): Promise<void> {
  let entries = 0;
  let expanded = 0;
  let markup = 0;
  const check = (limit: keyof ZipLimits, found: number): void => {
    if (found > limits[limit]) throw tooLarge({ limit, max: limits[limit], found });
  };
  try {
    await walkZip(source, async (entry) => {
      if (entry.isEncrypted()) throw new AppError('FILE_ENCRYPTED');
      check('maxArchiveEntries', ++entries);
      check('maxExpandedBytes', (expanded += entry.uncompressedSize));
      if (expanded > HARMLESS) check('maxExpansionRatio', Math.round(expanded / source.size));
      if (isMarkup(entry.fileName)) check('maxMarkupBytes', (markup += entry.uncompressedSize));
    });
    // Only then: ten thousand parts take seconds to unpack.
    await walkZip(source, async (entry, zip) => {
      if (isMarkup(entry.fileName)) await unpackIntoNothing(zip, entry);
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
    // yauzl's words for an entry that gives more than it declares: the mark of a bomb, not of an accident.
    if (error instanceof Error && /too many bytes/.test(error.message))
      throw tooLarge({ limit: 'declared size' });
    throw new AppError('FILE_CORRUPT', 'The package is damaged and cannot be unpacked.', { cause: error });
  }
}

async function walkZip(
  source: RandomAccessBytes,
  visit: (entry: Entry, zip: ZipFile) => Promise<void>,
): Promise<void> {
  const zip = await openZip(source);
  try {
    await walkZipEntries(zip, async (entry) => {
      await visit(entry, zip);
      return true;
    });
  } finally {
    zip.close();
  }
}

/**
 * Whether each entry with such a name declares at most so many bytes and does not unpack to more, which a bomb would.
 */
export async function unpacksAsDeclared(
  source: RandomAccessBytes,
  names: RegExp,
  maxBytes: number,
): Promise<boolean> {
  try {
    await walkZip(source, async (entry, zip) => {
      if (!names.test(entry.fileName)) return;
      if (entry.uncompressedSize > maxBytes) throw tooLarge({ limit: 'media size' });
      await unpackIntoNothing(zip, entry);
    });
    return true;
  } catch {
    return false;
  }
}

function tooLarge(details: Record<string, unknown>): AppError {
  return new AppError(
    'FILE_TOO_COMPLEX',
    'The package unpacks to more than is allowed; split it, or take large parts out.',
    { details },
  );
}

/** yauzl fails as soon as an entry gives more bytes than declared. */
function unpackIntoNothing(zip: ZipFile, entry: Entry): Promise<void> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error) return reject(error);
      stream.on('error', reject).on('end', resolve).resume();
    });
  });
}
