import { open } from 'node:fs/promises';
import iconv from 'iconv-lite';
import { AppError } from '../../../schemas/app-error.js';
import { cleanText } from '../../text/clean-text.js';
import { guessEncoding } from './guess-encoding.js';

const SAMPLE = 64 * 1024;
const BLOCK = 256 * 1024;
/** More control characters than this part of the text, and it is no text. A log may hold a block of zeros. */
const MAX_CONTROLS = 0.002;

/** A text file whose encoding is known. */
export interface DecodedText {
  encoding: string;
  /** The text in fragments of at most 256 Ki characters, line ends as `\n`, other control characters as spaces. */
  fragments(): AsyncGenerator<string>;
}

/**
 * Finds the encoding of a text file: byte order mark, ISO-2022-JP by its escapes, UTF-8 when nearly all of it is, else
 * by statistics.
 * @param declared what the file says of itself (an HTML meta tag); believed only when it is not UTF-8
 * @throws AppError UNSUPPORTED_CONTENT for binary data, here or while reading the fragments
 */
export async function openText(
  path: string,
  declared?: (head: string) => string | undefined,
): Promise<DecodedText> {
  const file = await open(path);
  try {
    const head = await readAt(file, 0, SAMPLE);
    const encoding = markedEncoding(head) ?? (await findEncoding(file, head, declared));
    return { encoding, fragments: () => decode(path, encoding) };
  } finally {
    await file.close();
  }
}

type File = Awaited<ReturnType<typeof open>>;

async function readAt(file: File, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

function markedEncoding(head: Buffer): string | undefined {
  const starts = (...bytes: number[]): boolean => head.subarray(0, bytes.length).equals(Buffer.from(bytes));
  if (starts(0xef, 0xbb, 0xbf)) return 'utf-8';
  if (starts(0xff, 0xfe, 0, 0)) return 'utf-32le';
  if (starts(0, 0, 0xfe, 0xff)) return 'utf-32be';
  if (starts(0xff, 0xfe)) return 'utf-16le';
  if (starts(0xfe, 0xff)) return 'utf-16be';
  return undefined;
}

async function findEncoding(
  file: File,
  head: Buffer,
  declared?: (head: string) => string | undefined,
): Promise<string> {
  const wide = unmarkedWide(head);
  if (wide) return wide;
  if (head.includes(0) && controlsIn(head.toString('latin1')) > head.length * MAX_CONTROLS) throw binary();
  const invalidAt = await firstNonUtf8(file);
  if (invalidAt === null) return isIso2022Jp(head) ? ISO_2022_JP : 'utf-8';
  // The head may be plain ASCII: look where the first other byte is.
  const sample = invalidAt < SAMPLE ? head : await readAt(file, Math.max(0, invalidAt - 1024), SAMPLE);
  if (isMostlyUtf8(sample)) return 'utf-8';
  const said = declared?.(head.toString('latin1'));
  return (said && meantEncoding(said)) ?? guessEncoding(sample);
}

/** ASCII alone, with escape sequences that switch to Japanese and back (RFC 1468). */
const ISO_2022_JP = 'iso-2022-jp';

function isIso2022Jp(head: Buffer): boolean {
  const text = head.toString('latin1');
  return /\u001b\$[@B]/.test(text) && /\u001b\([BIJ]/.test(text) && !/[\u0080-\u00ff]/.test(text);
}

/** Code pages that browsers do not know and XML may be written in. */
const CODE_PAGE = /^(?:cp|ibm|iso|koi|mac)/i;

/**
 * The encoding that a declaration stands for, as browsers read it: `iso-8859-1` means windows-1252. Undefined for what
 * is no encoding and for Unicode, which the bytes are not when this is asked.
 */
function meantEncoding(declared: string): string | undefined {
  let meant = CODE_PAGE.test(declared) ? declared : '';
  try {
    meant = new TextDecoder(declared).encoding;
  } catch {
    // unknown to browsers
  }
  return !/^utf/i.test(meant) && iconv.encodingExists(meant) ? meant : undefined;
}

/** So many characters beyond ASCII for each that cannot be decoded, and the text is UTF-8 with a fault in it. */
const DECODED_PER_FAULT = 10;

/** Texts in other encodings hold hardly a sequence of bytes that UTF-8 has. */
function isMostlyUtf8(sample: Buffer): boolean {
  // It may begin and end within a character.
  const start = sample.findIndex((byte) => (byte & 0xc0) !== 0x80);
  const text = new TextDecoder('utf-8').decode(sample.subarray(Math.max(0, start)), { stream: true });
  const faults = text.match(/\ufffd/g)?.length ?? 0;
  const beyondAscii = text.match(/[^\u0000-\u007f]/gu)?.length ?? 0;
  return beyondAscii - faults >= Math.max(1, faults * DECODED_PER_FAULT);
}

/** UTF-16 without a mark: Latin text has a zero in every second byte. */
function unmarkedWide(head: Buffer): string | undefined {
  let even = 0;
  let odd = 0;
  for (let i = 0; i < head.length; i++) {
    if (head[i] !== 0) continue;
    if (i % 2 === 0) even++;
    else odd++;
  }
  const half = head.length / 2;
  if (odd > half * 0.4 && even < half * 0.05) return 'utf-16le';
  if (even > half * 0.4 && odd < half * 0.05) return 'utf-16be';
  return undefined;
}

/** Offset (to the block) of the first byte that is not UTF-8, or null. */
async function firstNonUtf8(file: File): Promise<number | null> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0; ;) {
    const block = await readAt(file, at, BLOCK);
    try {
      decoder.decode(block, { stream: block.length > 0 });
    } catch {
      return at + firstHighByte(block);
    }
    if (block.length === 0) return null;
    at += block.length;
  }
}

function firstHighByte(block: Buffer): number {
  const at = block.findIndex((byte) => byte >= 0x80);
  return at < 0 ? 0 : at;
}

function openDecoder(encoding: string): { write(block: Buffer): string; end(): string | undefined } {
  if (encoding !== ISO_2022_JP) return iconv.getDecoder(encoding, { stripBOM: true });
  const decoder = new TextDecoder(encoding);
  return { write: (block) => decoder.decode(block, { stream: true }), end: () => decoder.decode() };
}

async function* decode(path: string, encoding: string): AsyncGenerator<string> {
  const decoder = openDecoder(encoding);
  let controls = 0;
  let total = 0;
  let heldReturn = false;
  const file = await open(path);
  try {
    for (let at = 0; ;) {
      const block = await readAt(file, at, BLOCK);
      const last = block.length === 0;
      at += block.length;
      let text: string = (heldReturn ? '\r' : '') + (last ? (decoder.end() ?? '') : decoder.write(block));
      heldReturn = !last && text.endsWith('\r');
      if (heldReturn) text = text.slice(0, -1);
      controls += controlsIn(text);
      total += text.length;
      if (controls > 8 && controls > total * MAX_CONTROLS) throw binary();
      if (text !== '') yield cleanText(text);
      if (last) return;
    }
  } finally {
    await file.close();
  }
}

/** Without tab, line ends, backspace (printer files) and escape (terminal logs). */
const CONTROLS = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f\u007f]/g;

function controlsIn(text: string): number {
  return text.match(CONTROLS)?.length ?? 0;
}

function binary(): AppError {
  return new AppError('UNSUPPORTED_CONTENT', 'The file holds binary data, not text.');
}
