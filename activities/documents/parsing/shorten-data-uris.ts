import { formatFileSize } from '../../text/format-file-size.js';

const START = /data(?::|%3a)/gi;
const MAX_START = 'data%3a'.length;
/** The longest beginning that is waited for: type, parameters and comma. */
const MAX_HEAD = 300;
const TYPE =
  /^((?:application|audio|chemical|font|image|message|model|multipart|text|video)\/[\w.+-]{1,100})?((?:;[^;]*)*)$/;
const HEAD_ESCAPES: Readonly<Record<string, string>> = {
  '%20': ' ',
  '%2b': '+',
  '%2f': '/',
  '%3b': ';',
  '%3d': '=',
};
/** A shorter payload is an example of one, or costs no more than what would stand for it. */
const MIN_PAYLOAD = 64;
/** So long it is held back to be given as it was, whatever of it is no payload: white space may be encoded, too. */
const MAX_EXAMPLE = 1000;
/** Base64 is wrapped at 60 characters or more; a word of a text that goes on is shorter. */
const MIN_WRAPPED_LINE = 40;
const MAX_WHITE_SPACE = 100;
/** Characters that are remembered of what was given. */
const BEFORE = 8;

const BASE64_RUN = /[A-Za-z0-9+/=_-]*/y;
const BASE64_SIGN = /[A-Za-z0-9+/=_ \t\r\n-]/;
const ESCAPE = /^%[0-9a-f]{2}$/i;
const WHITE_SPACE = new RegExp(String.raw`[ \t\r\n]{1,${MAX_WHITE_SPACE}}`, 'y');
const BLANK_LINE = /\n[ \t\r]*\n/;

/** What closes a URI that stands behind such a sign. */
const CLOSING: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '<': '>', '(': ')' };
/** A quote goes over lines, as SVG does, but not over a blank one: it may never be closed. */
const END_OF_QUOTE: Readonly<Record<string, RegExp>> = {
  '"': endOfQuote('"'),
  "'": endOfQuote("'"),
  '`': endOfQuote('`'),
};

/** What stands for a data URI: one with the size in place of the payload, and so still the target of a link. */
const SHORTENED = String.raw`data:[\w.+-]+\/[\w.+-]+,\d+\.\d\d[KMGT]?B`;
const WHOLE_SHORTENED = new RegExp(`^${SHORTENED}$`);
const TAG_OF_SHORTENED = new RegExp(`<img\\b[^<>]{0,2000}?(${SHORTENED})[^<>]{0,2000}>`, 'gi');

interface OpenUri {
  type: string;
  isBase64: boolean;
  closing: string | null;
  /** As it was written, for as long as it may turn out to be too short to be replaced. */
  raw: string;
  /** Characters of the payload, percent-encoded ones counted once. */
  length: number;
  padding: number;
  /** Parentheses that were opened inside a payload of text. */
  depth: number;
}

/** How far a payload goes in a text: to the end of what there is, unless it is `done`. */
interface Scan {
  end: number;
  done: boolean;
}

/**
 * A text with a short mark, of type and size, in the place of each data URI that is longer: a picture in base64 tells
 * a reader nothing, and would be hundreds of chunks. Linear time and constant memory, whatever the text holds.
 * @param onFirst is told where the first one stood, before anything behind it is given
 */
export async function* shortenDataUris(
  fragments: AsyncIterable<string>,
  onFirst: (position: number) => void = () => undefined,
): AsyncGenerator<string> {
  let held = '';
  /** The last characters that were given, for what a URI stands behind. */
  let before = '';
  let given = 0;
  let isFirst = true;
  let open: OpenUri | null = null;

  /** Gives what is complete of the held text; at the end that is everything. */
  // eslint-disable-next-line complexity -- a scanner: one branch for each state of an address
  function release(atEnd: boolean): string {
    let at = 0;
    let complete = '';
    const give = (text: string): void => {
      complete += text;
      given += text.length;
      before = text.length < BEFORE ? (before + text).slice(-BEFORE) : text.slice(-BEFORE);
    };
    for (;;) {
      if (open !== null) {
        const { end, done }: Scan = scanPayload(held, at, open, atEnd);
        if (!isLong(open)) open.raw += held.slice(at, end);
        at = end;
        if (!done) break;
        const isReplaced = isLong(open);
        if (isReplaced && isFirst) {
          isFirst = false;
          onFirst(given);
        }
        give(isReplaced ? markOf(open) : open.raw);
        open = null;
        continue;
      }
      START.lastIndex = at;
      const start = START.exec(held);
      if (start === null) {
        // The end may be the beginning of a beginning.
        const end = atEnd ? held.length : Math.max(at, held.length - MAX_START);
        if (end > at) give(held.slice(at, end));
        at = end;
        break;
      }
      if (start.index > at) give(held.slice(at, start.index));
      at = start.index;
      const head = readHead(held.slice(at, at + MAX_HEAD), start[0].length);
      if (head === 'cut' && held.length - at < MAX_HEAD && !atEnd) break;
      if (typeof head === 'object') {
        // A quote that stands apart may be the end of another text, which base64 cannot go on from.
        const sign = (head.isBase64 ? before.trimEnd() : before).at(-1) ?? '';
        open = {
          type: head.type,
          isBase64: head.isBase64,
          closing: CLOSING[sign] ?? null,
          raw: held.slice(at, at + head.length),
          length: 0,
          padding: 0,
          depth: 0,
        };
        at += head.length;
      } else {
        give(start[0]);
        at += start[0].length;
      }
    }
    held = held.slice(at);
    return complete;
  }

  for await (const fragment of fragments) {
    held += fragment;
    yield release(false);
  }
  yield release(true);
}

/** Whether this is what stands for a data URI that was longer. */
export function isShortenedUri(url: string): boolean {
  return WHOLE_SHORTENED.test(url);
}

/** HTML with the marks in `img` tags put into its text, for a reader that sees no attributes. */
export function withMarksAsText(html: string): string {
  return html.replace(TAG_OF_SHORTENED, ' $1 ');
}

function isLong({ length, raw }: OpenUri): boolean {
  return length > MIN_PAYLOAD || raw.length > MAX_EXAMPLE;
}

function markOf({ type, isBase64, length, padding }: OpenUri): string {
  const bytes = isBase64 ? Math.floor(((length - padding) * 3) / 4) : length;
  return `data:${type},${formatFileSize(bytes).replace(' ', '')}`;
}

/**
 * What stands before the payload, in any case, with white space or percent-encoded signs in it; `cut` when there is no
 * comma yet. Text without base64 is taken only where it is written strictly: a sentence may hold a `data:`, too.
 */
function readHead(
  text: string,
  from: number,
): { type: string; isBase64: boolean; length: number } | 'cut' | 'none' {
  const comma = /,|%2c/i.exec(text.slice(from));
  if (comma === null) return 'cut';
  const said = text
    .slice(from, from + comma.index)
    .toLowerCase()
    .replace(/%[0-9a-f]{2}/g, (escape) => HEAD_ESCAPES[escape] ?? escape);
  const compact = said.replace(/\s+/g, '');
  const parts = TYPE.exec(compact);
  const isBase64 = parts?.[2]?.split(';').at(-1) === 'base64';
  const isStrict = parts?.[1] !== undefined && compact.length === said.length;
  if (parts === null || (!isBase64 && !isStrict)) return 'none';
  return { type: parts[1] ?? 'text/plain', isBase64, length: from + comma.index + comma[0].length };
}

function scanPayload(text: string, from: number, uri: OpenUri, atEnd: boolean): Scan {
  return uri.isBase64 ? scanBase64(text, from, uri, atEnd) : scanText(text, from, uri, atEnd);
}

function scanBase64(text: string, from: number, uri: OpenUri, atEnd: boolean): Scan {
  let at = from;
  for (;;) {
    const run = runAt(text, at);
    countBase64(uri, text.slice(at, at + run));
    at += run;
    if (at === text.length) return { end: at, done: atEnd };
    if (text[at] === '%') {
      if (text.length - at < 3 && !atEnd) return { end: at, done: false };
      const sign = decodedSign(text.slice(at, at + 3));
      if (sign === null) return { end: at, done: true };
      countBase64(uri, sign.trim());
      at += 3;
      continue;
    }
    const gap = wrapAt(text, at, uri.closing, atEnd);
    if (typeof gap !== 'number') return { end: at, done: gap === 'end' };
    at += gap;
  }
}

function runAt(text: string, at: number): number {
  BASE64_RUN.lastIndex = at;
  return BASE64_RUN.exec(text)?.[0].length ?? 0;
}

function countBase64(uri: OpenUri, signs: string): void {
  uri.length += signs.length;
  for (let at = signs.length; at > 0 && signs[at - 1] === '='; at -= 1) uri.padding += 1;
}

/** The sign of base64, or the white space, that `%2B` and the like stand for. */
function decodedSign(escape: string): string | null {
  if (!ESCAPE.test(escape)) return null;
  const sign = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return BASE64_SIGN.test(sign) ? sign : null;
}

/**
 * The length of white space behind which the base64 goes on: with a whole line of it, or with the last one, which its
 * padding or the closing sign tells. `wait`: more of the text is needed to say.
 */
// eslint-disable-next-line complexity -- a scanner: each condition ends a wrapped address in its own way
function wrapAt(text: string, at: number, closing: string | null, atEnd: boolean): number | 'end' | 'wait' {
  WHITE_SPACE.lastIndex = at;
  const gap = WHITE_SPACE.exec(text)?.[0] ?? '';
  if (gap === '' || BLANK_LINE.test(gap)) return 'end';
  const next = at + gap.length;
  const run = runAt(text, next);
  if (run >= MIN_WRAPPED_LINE) return gap.length;
  if (next + run === text.length && gap.length < MAX_WHITE_SPACE && !atEnd) return 'wait';
  if (run === 0) return 'end';
  if (text[next + run - 1] === '=') return gap.length;
  WHITE_SPACE.lastIndex = next + run;
  const behind = next + run + (WHITE_SPACE.exec(text)?.[0].length ?? 0);
  if (behind === text.length && behind - next - run < MAX_WHITE_SPACE && !atEnd) return 'wait';
  return text[behind] === closing ? gap.length : 'end';
}

function scanText(text: string, from: number, uri: OpenUri, atEnd: boolean): Scan {
  const quoteEnd = END_OF_QUOTE[uri.closing ?? ''];
  const isQuoted = quoteEnd !== undefined;
  const end = isQuoted ? indexOf(quoteEnd, text, from) : endOfWord(text, from, uri);
  const done = end !== null || atEnd;
  // What looks like the beginning of a blank line is looked at again with what follows.
  const complete = isQuoted && !done ? Math.max(from, text.length - MAX_WHITE_SPACE - 2) : text.length;
  const payload = text.slice(from, end ?? complete);
  uri.length += payload.length - 2 * (payload.split('%').length - 1);
  return { end: end ?? complete, done };
}

function endOfQuote(closing: string): RegExp {
  return new RegExp(String.raw`${closing}|\n[ \t\r]{0,${MAX_WHITE_SPACE}}\n`, 'g');
}

function indexOf(sign: RegExp, text: string, from: number): number | null {
  sign.lastIndex = from;
  return sign.exec(text)?.index ?? null;
}

/** Behind `(`, where a link of Markdown begins, the bracket counts that was not opened inside. */
function endOfWord(text: string, from: number, uri: OpenUri): number | null {
  const signs = /[\s"<>`()]/g;
  signs.lastIndex = from;
  for (let match = signs.exec(text); match !== null; match = signs.exec(text)) {
    if (match[0] === '(') uri.depth += 1;
    else if (match[0] !== ')') return match.index;
    else if (uri.depth > 0) uri.depth -= 1;
    else if (uri.closing === ')') return match.index;
  }
  return null;
}
