import { readColor } from './css-colors.js';
import { isSize, sizeInFont } from './css-sizes.js';

const EVERYWHERE = new Set(['inherit', 'initial', 'unset', 'revert', 'revert-layer']);
const DISPLAYS =
  /^(?:none|contents|block|inline|flow-root|list-item|(?:inline-)?(?:flex|grid|block|table)|table-[a-z-]{1,20}|-webkit-[a-z-]{1,20}|ruby)$/;
const VISIBILITIES = new Set(['visible', 'hidden', 'collapse']);
const OPACITY = /^[+-]?\d{0,9}(?:\.\d{1,9})?%?$/;

/** Which values browsers take. What they calculate is not known here, and takes the place of none. */
const TAKES: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['color', (value) => value === 'currentcolor' || readColor(value) !== null],
  ['font-size', isSize],
  ['font', (value) => sizeInFont(value) !== undefined],
  ['display', (value) => DISPLAYS.test(value)],
  ['visibility', (value) => VISIBILITIES.has(value)],
  ['opacity', (value) => /\d/.test(value) && OPACITY.test(value)],
]);

/**
 * What a `style` attribute declares and a browser takes, the last of a name at its place: a value that browsers pass
 * over takes the place of none, nor does any take that of an `!important` one.
 */
export function declarations(style: unknown): Map<string, string> {
  const found = new Map<string, string>();
  if (typeof style !== 'string') return found;
  const important = new Set<string>();
  for (const written of partsOf(style)) {
    const part = withoutEscapes(written);
    const colon = part.indexOf(':');
    if (colon === -1) continue;
    const name = part.slice(0, colon).trim().toLowerCase();
    const said = part
      .slice(colon + 1)
      .toLowerCase()
      .split(/\s+/)
      .join(' ');
    const value = said.replace(/! ?important ?$/, '').trim();
    const isImportant = value !== said.trim();
    if (important.has(name) && !isImportant) continue;
    if (!EVERYWHERE.has(value) && TAKES.get(name)?.(value) === false) continue;
    if (isImportant) important.add(name);
    found.delete(name); // so that the order is that of what holds
    found.set(name, value);
  }
  return found;
}

/** Where something begins or ends; what stands behind a backslash does neither. */
const SIGNS = /\\[^]|\/\*|["'()[\]{};\n\r\f]/g;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const NEW_LINES = '\n\r\f';
/** Of `url`, each letter by an escape. */
const MAX_NAME = 30;

/**
 * A style cut at each `;` but those in strings, addresses and brackets, without comments (CSS Syntax 3, section 5.3).
 * One of these that does not end takes all that follows; a string ends with its line.
 */
function* partsOf(style: string): Generator<string> {
  const open: string[] = [];
  /** What ends the string or address that is open. */
  let quote: string | null = null;
  let part = '';
  let from = 0;
  for (const { 0: sign, index } of style.matchAll(SIGNS)) {
    if (index < from) continue; // in a comment
    if (quote !== null) {
      if (endsQuote(sign, quote)) quote = null;
      continue;
    }
    const before = style.slice(Math.max(from, index - MAX_NAME), index);
    quote = quoteBegunBy(sign, before, style.slice(index + 1));
    if (quote !== null) continue;
    if (sign === '/*') {
      const end = style.indexOf('*/', index + 2);
      part += `${style.slice(from, index)} `;
      from = end < 0 ? style.length : end + 2;
    } else if (Object.hasOwn(CLOSING, sign)) open.push(CLOSING[sign]!);
    else if (sign === open.at(-1)) open.pop();
    else if (sign === ';' && open.length === 0) {
      yield part + style.slice(from, index);
      part = '';
      from = index + 1;
    }
  }
  yield part + style.slice(from);
}

function endsQuote(sign: string, quote: string): boolean {
  return sign === quote || (quote !== ')' && NEW_LINES.includes(sign));
}

/** What ends it. `url(…)` without quotes is one word, whatever signs are in it. */
function quoteBegunBy(sign: string, before: string, behind: string): string | null {
  if (sign === '"' || sign === "'") return sign;
  if (sign !== '(' || !/(?:^|[^\w\u0080-\uffff-])url$/i.test(withoutEscapes(before))) return null;
  return /^["']/.test(behind.trimStart()) ? null : ')';
}

/** `whit\65` is `white` (CSS Syntax 3, section 4.3.7). */
function withoutEscapes(style: string): string {
  return style.replace(/\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi, (_escape, code?: string, sign?: string) =>
    code === undefined ? sign! : String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)),
  );
}
