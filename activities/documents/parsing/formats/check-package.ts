import { AppError } from '../../../../schemas/app-error.js';
import { isOleHead, oleEntryNames } from '../ole-directory.js';
import { openFileBytes } from '../random-access-bytes.js';
import { isRtfHead, RTF_HEAD } from '../rtf-signature.js';
import { checkZipLimits } from '../zip-limits.js';
import type { ZipLimits } from '../zip-limits.js';

export type PackageLimits = ZipLimits;

/** The name of the part that Office puts an encrypted package into. */
const ENCRYPTED_PART = 'EncryptedPackage';

/** @throws AppError FILE_TOO_COMPLEX, FILE_CORRUPT, FILE_ENCRYPTED for a package that must not be unpacked */
export async function checkPackage(path: string, limits: PackageLimits): Promise<void> {
  const file = await openFileBytes(path);
  try {
    await checkZipLimits(file, limits);
  } finally {
    await file.close();
  }
}

/** Whether it is a container of Office 97 to 2003. */
export async function isOle(path: string): Promise<boolean> {
  return isOleHead(await head(path, 8));
}

export async function isZip(path: string): Promise<boolean> {
  return (await head(path, 4)).toString('latin1') === 'PK\x03\x04';
}

export async function isRtf(path: string): Promise<boolean> {
  return isRtfHead(await head(path, RTF_HEAD));
}

/** Office keeps a package that has a password inside such a container. */
export async function holdsEncryptedPackage(path: string): Promise<boolean> {
  const file = await openFileBytes(path);
  try {
    return (await oleEntryNames(file))?.includes(ENCRYPTED_PART) === true;
  } finally {
    await file.close();
  }
}

/**
 * @throws AppError FILE_ENCRYPTED; UNSUPPORTED_CONTENT for a file of an earlier Office under a new name
 */
export async function requireNotOle(path: string): Promise<void> {
  if (!(await isOle(path))) return;
  // Its directory may lie far from the beginning, or be damaged.
  const named = (await head(path, 1024 * 1024)).includes(ENCRYPTED_PART, 0, 'utf16le');
  if (named || (await holdsEncryptedPackage(path))) throw new AppError('FILE_ENCRYPTED');
  throw new AppError(
    'UNSUPPORTED_CONTENT',
    'The file is of an earlier Office and named like one of today; save it again in the new format.',
  );
}

async function head(path: string, length: number): Promise<Buffer> {
  const file = await openFileBytes(path);
  try {
    return await file.read(0, Math.min(length, file.size));
  } finally {
    await file.close();
  }
}
