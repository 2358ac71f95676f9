import { open } from 'node:fs/promises';
import { constants, inflateSync } from 'node:zlib';
import { BLANK, dictionaryBefore } from './pdf-dictionary.js';
import type { PdfEntries } from './pdf-dictionary.js';

const BLOCK = 1024 * 1024;
const MAX_DICTIONARY = 4096;
const MAX_UNPACKED = 4 * 1024 * 1024;

interface PdfStream {
  dictionary: PdfEntries | null;
  packed: Buffer;
}

/** A part of a file that is looked through, and the streams that begin in its first half. */
export interface PdfWindow {
  bytes: Buffer;
  /**
   * Looked for while they are read, so that the reader decides how many. The dictionary is null where its beginning is
   * too far away, or it cannot be told for sure.
   */
  streams: Iterable<PdfStream>;
}

/**
 * A PDF from its beginning, wherever its objects stand: in windows that overlap, so that each stream is seen from its
 * dictionary on, up to `length` bytes of it.
 */
export async function* readPdfWindows(path: string, length: number): AsyncGenerator<PdfWindow> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    for (let at = 0; at < size; at += BLOCK) {
      const wanted = Math.min(MAX_DICTIONARY + BLOCK + length, size - at);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, at);
      const bytes = buffer.subarray(0, bytesRead);
      yield { bytes, streams: streamsOf(bytes, at === 0 ? 0 : MAX_DICTIONARY, length) };
    }
  } finally {
    await file.close();
  }
}

/** Dictionaries that begin in front of this block are in its first bytes. */
function* streamsOf(bytes: Buffer, from: number, length: number): Generator<PdfStream> {
  for (let at = bytes.indexOf('stream', from); at >= 0; at = bytes.indexOf('stream', at + 6)) {
    if (at >= BLOCK + MAX_DICTIONARY) break;
    const before = bytes.subarray(Math.max(0, at - MAX_DICTIONARY), at).toString('latin1');
    if (!endsDictionary(before)) continue; // `endstream`, or a word of a text
    const start = at + 6 + (bytes[at + 6] === 13 ? 2 : 1);
    yield { dictionary: dictionaryBefore(before), packed: bytes.subarray(start, start + length) };
  }
}

/** A comment may stand between; of white space a PDF has one more than JavaScript. */
function endsDictionary(before: string): boolean {
  let end = before.length;
  while (end > 0 && BLANK.test(before[end - 1]!)) end--;
  const text = before.slice(0, end);
  return text.endsWith('>>') || lastLine(text).includes('%');
}

function lastLine(text: string): string {
  return text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

/** As far as the bytes go; null when it is too much, empty when they are no such stream. */
export function inflate(packed: Buffer): string | null {
  try {
    return inflateSync(packed, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: MAX_UNPACKED,
    }).toString('latin1');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? null : '';
  }
}
