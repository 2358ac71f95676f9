import { AppError } from '../../../schemas/app-error.js';

/** Common file systems' limit on a name, in bytes. */
const MAX_BYTES = 255;
/** Of a longer name only so many characters from each end are looked at. */
const MAX_CHARACTERS = 1024;

/**
 * A client's file name made safe to show and to write into a header: the last path step, without control and
 * direction-changing characters, quotes and separators; shortened from the middle so that the extension stays.
 * @throws AppError BAD_REQUEST (400) when nothing is left
 */
export function safeFilename(original: string): string {
  const clean = lastStep(original)
    .normalize('NFC')
    // Controls, line separators, zero-width and bidirectional marks (a name must not read otherwise than it is).
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
    .replaceAll(/["<>|:*?;]/g, '_')
    .replaceAll(/\s+/gu, ' ')
    .replace(/(?<![\s.])[\s.]+$/, '')
    .replace(/^[\s.]+(?=\.)|^\s+/, '');
  if (clean === '') throw new AppError('BAD_REQUEST', 'Invalid file name', { plain: true });
  if (Buffer.byteLength(clean) <= MAX_BYTES) return clean;
  const extension = /\.[^.]{1,20}$/.exec(clean)?.[0] ?? '';
  let stem = clean.slice(0, clean.length - extension.length);
  const room = MAX_BYTES - Buffer.byteLength(extension);
  // Whole characters go, from the end, until the bytes fit; each takes a byte at least.
  const characters = [...stem.slice(0, MAX_BYTES)];
  stem = characters.join('');
  while (Buffer.byteLength(stem) > room) {
    characters.pop();
    stem = characters.join('');
  }
  return `${stem}${extension}`;
}

function lastStep(path: string): string {
  const base = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  if (base.length <= 2 * MAX_CHARACTERS) return base;
  return base.slice(0, MAX_CHARACTERS) + base.slice(-MAX_CHARACTERS);
}
