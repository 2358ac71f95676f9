import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { toLines } from '../text-lines.js';

/** A run of encoded lines up to this stays in the mail. */
const MAX_KEPT = 1024 * 1024;
/** Decoded at a time. */
const LETTERS_AT_ONCE = 256 * 1024;
/** Programs write lines of 76 or 64 letters; the last of a run is shorter. */
const MIN_LINE = 60;
const MAX_LINE = 4096;
const ENCODED = /^[A-Za-z0-9+/]+={0,2}$/;
/** The reader of mails ends lines so in what it does not decode. */
const LINE_END = '\n';
/** Multiples of three, so that the encoding of what begins alike begins alike. */
const MARK_BYTES = 24;
const NUMBER_BYTES = 9;

/** A mail whose large parts are in files beside it, and tokens in their places. */
export interface SlimMail {
  bytes: Buffer;
  /** Whether each part taken out belongs to one of these attachments, and so to no text. */
  areAll(attachments: readonly Buffer[]): boolean;
  /** How many bytes an attachment has in truth. */
  sizeOf(attachment: Buffer): Promise<number>;
  /** Writes them. Each once. */
  write(attachment: Buffer, path: string): Promise<void>;
  /** Removes the files that were not asked for. */
  close(): Promise<void>;
}

/** Where the token of a part stands in an attachment: it is all of it, or its encoding is among the lines. */
interface Place {
  number: number;
  start: number;
  end: number;
  isAll: boolean;
}

/**
 * Reads a mail and decodes each long run of base64 lines into a file on the way, whatever part it belongs to: the
 * reader of mails holds all that it is given several times over. Lists of hashes look the same, so that a run is taken
 * out only where its lines can be written again as they were.
 */
export async function slimMail(path: string): Promise<SlimMail> {
  const tokens = createTokens();
  const pathOf = (number: number): string => `${path}.part-${number}`;
  const kept: Buffer[] = [];
  /** Letters in a line of each part taken out. */
  const lineLengths: number[] = [];
  const spilled = (): number => lineLengths.length;
  let run = openRun(pathOf(0));
  const endRun = async (): Promise<void> => {
    const left = await run.end();
    if (typeof left === 'string') kept.push(Buffer.from(left, 'latin1'));
    else {
      kept.push(Buffer.from(`${tokens.encoded(spilled())}\r\n`, 'latin1'));
      lineLengths.push(left.lineLength);
    }
    run = openRun(pathOf(spilled()));
  };
  for await (const line of toLines(createReadStream(path, { encoding: 'latin1', highWaterMark: MAX_KEPT }))) {
    if (!run.continues(line)) await endRun();
    if (run.continues(line)) await run.add(line);
    else kept.push(Buffer.from(line, 'latin1'));
  }
  await endRun();

  return {
    bytes: Buffer.concat(kept.splice(0)),
    areAll(attachments) {
      const found = attachments.flatMap((attachment) => tokens.in(attachment).map(({ number }) => number));
      return new Set(found).size === spilled();
    },
    async sizeOf(attachment) {
      let size = attachment.length;
      for (const { number, start, end, isAll } of tokens.in(attachment)) {
        const { size: bytes } = await stat(pathOf(number));
        size += (isAll ? bytes : encodedSize(bytes, lineLengths[number]!)) - (end - start);
      }
      return size;
    },
    async write(attachment, target) {
      const places = tokens.in(attachment);
      if (places[0]?.isAll === true) {
        await rename(pathOf(places[0].number), target);
        return;
      }
      const file = await open(target, 'w');
      try {
        let from = 0;
        for (const { number, start, end } of places) {
          await file.write(attachment.subarray(from, start));
          for await (const lines of encodedLines(pathOf(number), lineLengths[number]!))
            await file.write(lines);
          from = end;
        }
        await file.write(attachment.subarray(from));
      } finally {
        await file.close();
      }
    },
    async close() {
      for (let number = 0; number < spilled(); number++) await rm(pathOf(number), { force: true });
    },
  };
}

/** What stands in the places of parts. A mail cannot know them beforehand. */
function createTokens(): { encoded(number: number): string; in(attachment: Buffer): Place[] } {
  const mark = randomBytes(MARK_BYTES / 2).toString('hex');
  const encodedMark = Buffer.from(mark).toString('base64');
  const length = MARK_BYTES + NUMBER_BYTES;
  const numberIn = (token: Buffer): number => Number(token.toString('latin1', MARK_BYTES, length));
  return {
    encoded: (number) => Buffer.from(mark + String(number).padStart(NUMBER_BYTES, '0')).toString('base64'),
    in(attachment) {
      if (attachment.length === length && attachment.indexOf(mark) === 0)
        return [{ number: numberIn(attachment), start: 0, end: length, isAll: true }];
      const places: Place[] = [];
      for (let at = attachment.indexOf(encodedMark); at >= 0; at = attachment.indexOf(encodedMark, at + 1)) {
        const end = at + (length / 3) * 4;
        const number = numberIn(Buffer.from(attachment.toString('latin1', at, end), 'base64'));
        places.push({ number, start: at, end, isAll: false });
      }
      return places;
    },
  };
}

interface Run {
  /** Whether a line can stand in it: of the length of the others, or a shorter one at the end. */
  continues(line: string): boolean;
  add(line: string): Promise<void>;
  /** The lines, where they are few; else their bytes are in the file. */
  end(): Promise<string | { lineLength: number }>;
}

/** Encoded lines that follow each other. */
function openRun(path: string): Run {
  let lines = '';
  let letters = '';
  let file: FileHandle | null = null;
  let lineLength = 0;
  let isOver = false;
  const decode = async (count: number): Promise<void> => {
    await file?.write(Buffer.from(letters.slice(0, count), 'base64'));
    letters = letters.slice(count);
  };
  return {
    continues(line) {
      const given = line.replace(/\r?\n$/, '');
      if (isOver || given.length < (lineLength === 0 ? MIN_LINE : 1) || !ENCODED.test(given)) return false;
      if (given.length > (lineLength === 0 ? MAX_LINE : lineLength)) return false;
      const isWhole = given.length % 4 === 0 && !given.endsWith('=');
      // The bits beyond the last byte may be any.
      return isWhole || (lineLength > 0 && Buffer.from(given, 'base64').toString('base64') === given);
    },
    async add(line) {
      const given = line.trimEnd();
      if (lineLength === 0) lineLength = given.length;
      isOver = given.length < lineLength || given.endsWith('=');
      if (file === null) {
        lines += line;
        if (lines.length <= MAX_KEPT) return;
        file = await open(path, 'w');
        letters = lines.replaceAll(/[\r\n]/g, '');
        lines = '';
      } else letters += given;
      if (letters.length >= LETTERS_AT_ONCE) await decode(letters.length - (letters.length % 4));
    },
    async end() {
      if (file === null) return lines;
      await decode(letters.length);
      await file.close();
      return { lineLength };
    },
  };
}

function encodedSize(bytes: number, lineLength: number): number {
  const letters = Math.ceil(bytes / 3) * 4;
  return letters + Math.max(0, Math.ceil(letters / lineLength) - 1) * LINE_END.length;
}

/** The bytes of a file as a mail holds them, without the end of the last line. */
async function* encodedLines(path: string, lineLength: number): AsyncGenerator<string> {
  const lineBytes = (lineLength / 4) * 3;
  let rest = Buffer.alloc(0);
  let before = '';
  for await (const bytes of createReadStream(path)) {
    rest = Buffer.concat([rest, bytes as Buffer]);
    const lines: string[] = [];
    let at = 0;
    for (; at + lineBytes <= rest.length; at += lineBytes)
      lines.push(rest.toString('base64', at, at + lineBytes));
    if (lines.length > 0) {
      yield before + lines.join(LINE_END);
      before = LINE_END;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) yield before + rest.toString('base64');
}
