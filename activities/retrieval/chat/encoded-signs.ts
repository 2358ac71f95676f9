/** A text as it is read, and where each of its characters begins in the given one; the last place is its end. */
export interface ReadText {
  read: string;
  places: number[];
}

/**
 * What Markdown decodes in the target of a link: a backslash before a sign of ASCII, and character references
 * (CommonMark 0.31, 2.4 and 2.5). Of those with names, the ones for signs that an address begins with; Markdown knows
 * none for a letter.
 */
const ENCODED = /\\([!-/:-@[-`{-~])|&(?:#(\d{1,7})|#x([\da-f]{1,6})|(colon|sol|bsol|period|tab|newline));/giu;
const NAMED: Record<string, string> = { colon: ':', sol: '/', bsol: '\\', period: '.', tab: '', newline: '' };

/** The sign that an encoded one stands for; browsers leave tabs and line breaks out of an address. */
function markdownSign([whole, escaped, decimal, hexadecimal, name]: RegExpExecArray): string {
  if (escaped !== undefined) return escaped;
  if (name !== undefined) return NAMED[name.toLowerCase()]!;
  const code = decimal === undefined ? parseInt(hexadecimal!, 16) : Number(decimal);
  if (code === 9 || code === 10 || code === 13) return '';
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
}

function readAs(text: string, encoded: RegExp, signOf: (match: RegExpExecArray) => string): ReadText {
  let read = '';
  const places: number[] = [];
  const add = (part: string, place: (index: number) => number): void => {
    read += part;
    for (let index = 0; index < part.length; index += 1) places.push(place(index));
  };
  let at = 0;
  for (const match of text.matchAll(encoded)) {
    const [from, begin] = [at, match.index];
    add(text.slice(from, begin), (index) => from + index);
    add(signOf(match), () => begin);
    at = begin + match[0].length;
  }
  const rest = at;
  add(text.slice(rest), (index) => rest + index);
  places.push(text.length);
  return { read, places };
}

/** As Markdown reads it in the target of a link. */
export function readMarkdown(text: string): ReadText {
  return readAs(text, ENCODED, markdownSign);
}

const ESCAPE = /\\(?:u[\da-f]{4}|[^u])/giu;
const CONTROLS: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The sign that the escape of JSON which begins there stands for; the end of the text may have cut it off. */
export function escapedSign(json: string, at: number): string {
  const sign = json.charAt(at + 1);
  if (sign !== 'u') return CONTROLS[sign] ?? sign;
  const code = Number(`0x${json.slice(at + 2, at + 6)}`);
  return Number.isNaN(code) ? '' : String.fromCharCode(code);
}

/** As the strings in JSON are read; their quotation marks and what stands between them stay. */
export function readJson(json: string): ReadText {
  return readAs(json, ESCAPE, ({ 0: escape }) => escapedSign(escape, 0));
}

/** How long the escape is that stands there, or would be if the text went on; 1 where none begins. */
export function escapeLength(json: string, at: number): number {
  if (json.charAt(at) !== '\\') return 1;
  return json.charAt(at + 1) === 'u' ? 6 : 2;
}
