/** The keys of a dictionary, each with its value as it stands there. */
export type PdfEntries = ReadonlyMap<string, string>;

export const BLANK = /[\s\0]/;
const ENDS_WORD = /[\s\0()<>[\]{}/%]/;
const CLOSES: Readonly<Record<string, string>> = { '<<': '>>', '[': ']' };

/** `/F#69lter` is `/Filter` (ISO 32000-1, 7.3.5). */
export function withPlainNames(text: string): string {
  return text.replace(/#([0-9a-f]{2})/gi, (_escape, code: string) => String.fromCharCode(parseInt(code, 16)));
}

/**
 * The dictionary in front of a stream, by what stands before the word `stream`: from the beginning of an object to the
 * end, and nothing else. Null where none or more than one can be read so, such as a string that looks like the
 * beginning of an object, or where a key is given twice: readers may differ then.
 */
export function dictionaryBefore(before: string): PdfEntries | null {
  let found: PdfEntries | null = null;
  let work = before.length * 4;
  for (
    let at = before.lastIndexOf(' obj');
    at >= 0;
    at = at === 0 ? -1 : before.lastIndexOf(' obj', at - 1)
  ) {
    const start = skipBlanks(before, at + 4);
    // A comment that begins behind each of many reaches to the end from all of them.
    work -= start - at;
    if (work < 0) return null;
    if (!before.startsWith('<<', start)) continue;
    const { entries, end, isWhole } = readEntries(before, start);
    work -= end - start;
    if (work < 0) return null;
    if (!isWhole || skipBlanks(before, end) !== before.length) continue;
    if (found !== null || entries === null) return null;
    found = entries;
  }
  return found;
}

interface ReadEntries {
  /** Null where a key is given twice. */
  entries: PdfEntries | null;
  /** Behind what was read, also where it is no dictionary. */
  end: number;
  isWhole: boolean;
}

function readEntries(text: string, start: number): ReadEntries {
  const entries = new Map<string, string>();
  let isClear = true;
  let at = skipBlanks(text, start + 2);
  while (!text.startsWith('>>', at)) {
    if (text[at] !== '/') return { entries, end: at, isWhole: false };
    const behindKey = endOfValue(text, at);
    const valueAt = skipBlanks(text, behindKey!);
    const end = endOfValue(text, valueAt);
    if (end === null) return { entries, end: text.length, isWhole: false };
    const key = withPlainNames(text.slice(at + 1, behindKey!));
    isClear &&= !entries.has(key);
    const behind = endOfReference(text, end);
    entries.set(key, withPlainNames(text.slice(valueAt, behind)));
    at = skipBlanks(text, behind);
  }
  return { entries: isClear ? entries : null, end: at + 2, isWhole: true };
}

/** Behind `12 0 R`, whose first number ends there; the same place where it is none. */
function endOfReference(text: string, end: number): number {
  const rest = /^[\s\0]{1,9}\d{1,9}[\s\0]{1,9}R(?![^\s\0()<>[\]{}/%])/.exec(text.slice(end, end + 32));
  return end + (rest?.[0].length ?? 0);
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  for (;;) {
    if (at < text.length && BLANK.test(text[at]!)) at++;
    else if (text[at] === '%') at = endOfComment(text, at);
    else return at;
  }
}

function endOfComment(text: string, from: number): number {
  const end = text.slice(from).search(/[\r\n]/);
  return end < 0 ? text.length : from + end;
}

/** Behind the value that begins there; null where none does, or it does not end. */
function endOfValue(text: string, from: number): number | null {
  const open: string[] = [];
  let at = from;
  do {
    const next = endOfToken(text, at, open);
    if (next === null) return null;
    at = open.length > 0 ? skipBlanks(text, next) : next;
  } while (open.length > 0);
  return at;
}

/** Behind a bracket, a string, a name or a word; `open` holds what closes the brackets around it. */
function endOfToken(text: string, at: number, open: string[]): number | null {
  const mark = ['<<', '>>'].find((pair) => text.startsWith(pair, at)) ?? text[at];
  if (mark === undefined) return null;
  const closing = CLOSES[mark];
  if (closing !== undefined) {
    open.push(closing);
    return at + mark.length;
  }
  if (mark === '>>' || mark === ']') return open.pop() === mark ? at + mark.length : null;
  if (mark === '(') return endOfString(text, at);
  if (mark === '<') {
    const end = text.indexOf('>', at);
    return end < 0 ? null : end + 1;
  }
  let end = mark === '/' ? at + 1 : at;
  while (end < text.length && !ENDS_WORD.test(text[end]!)) end++;
  return end === at ? null : end;
}

function endOfString(text: string, from: number): number | null {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at + 1;
  }
  return null;
}
