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
  for (const part of withoutEscapes(withoutComments(style)).split(';')) {
    const colon = part.indexOf(':');
    if (colon === -1) continue;
    const name = part.slice(0, colon).trim().toLowerCase();
    const written = part
      .slice(colon + 1)
      .toLowerCase()
      .split(/\s+/)
      .join(' ');
    const value = written.replace(/! ?important ?$/, '').trim();
    const isImportant = value !== written.trim();
    if (important.has(name) && !isImportant) continue;
    if (!EVERYWHERE.has(value) && TAKES.get(name)?.(value) === false) continue;
    if (isImportant) important.add(name);
    found.delete(name); // so that the order is that of what holds
    found.set(name, value);
  }
  return found;
}

/** One that does not end takes all that follows. */
function withoutComments(style: string): string {
  const [first = '', ...rest] = style.split('/*');
  return rest.reduce((text, part) => {
    const end = part.indexOf('*/');
    return end < 0 ? text : text + part.slice(end + 2);
  }, first);
}

/** `whit\65` is `white` (CSS Syntax 3, section 4.3.7). */
function withoutEscapes(style: string): string {
  return style.replace(/\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi, (_escape, code?: string, sign?: string) =>
    code === undefined ? sign! : String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)),
  );
}
