/** What an element says of its own looks. */
export interface Looks {
  [attribute: string]: unknown;
  hidden?: unknown;
  style?: unknown;
  color?: unknown;
  bgColor?: unknown;
  className?: unknown;
  id?: unknown;
}

/** What lies behind an element: paper, or something that this does not know, such as what a style sheet says. */
export type Backdrop = 'white' | 'unknown';

/** Smaller letters cannot be read: two pixels are half a millimetre on a screen. */
const TINY_PX = 2;
/** Further than this beyond the edge nothing is scrolled to. */
const OFF_PAGE_PX = 500;
const PX_PER: Readonly<Record<string, number>> = {
  px: 1,
  pt: 4 / 3,
  em: 16,
  rem: 16,
  ex: 8,
  '%': 0.16,
  '': 1,
};
/** Of 255: lighter on white paper cannot be read. */
const NEARLY_WHITE = 244;

function declarations(style: unknown): Map<string, string> {
  const found = new Map<string, string>();
  if (typeof style !== 'string') return found;
  for (const part of style.split(';')) {
    const colon = part.indexOf(':');
    if (colon === -1) continue;
    const value = part.slice(colon + 1).replace(/!important/i, '');
    found.set(part.slice(0, colon).trim().toLowerCase(), value.trim().toLowerCase());
  }
  return found;
}

/** A length in pixels; null for what is none, such as `auto` or `calc(…)`. */
function pixels(value: string | undefined): number | null {
  const found = /^(-?\d{0,9}(?:\.\d{1,9})?)(px|pt|em|rem|ex|%)?$/.exec(value ?? '');
  if (found === null || found[1] === '' || found[1] === '-') return null;
  return Number(found[1]) * PX_PER[found[2] ?? '']!;
}

export function isNearlyWhite(color: string): boolean {
  if (color === 'white' || color === 'transparent' || color === 'snow' || color === 'ivory') return true;
  const hex = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/.exec(color)?.[1];
  if (hex !== undefined) {
    const size = hex.length / 3;
    return [0, 1, 2].every((place) => {
      const part = hex.slice(place * size, (place + 1) * size);
      return parseInt(size === 1 ? part + part : part, 16) >= NEARLY_WHITE;
    });
  }
  const parts =
    /^rgba?\(\s{0,9}(\d{1,3})[\s,]{1,9}(\d{1,3})[\s,]{1,9}(\d{1,3})(?:[\s,/]{1,9}([\d.]{1,9}))?\s{0,9}\)$/.exec(
      color,
    );
  if (parts === null) return false;
  if (parts[4] !== undefined && Number(parts[4]) < 0.05) return true;
  return parts.slice(1, 4).every((part) => Number(part) >= NEARLY_WHITE);
}

function isOffPage(declared: ReadonlyMap<string, string>): boolean {
  const indent = pixels(declared.get('text-indent'));
  if (indent !== null && indent <= -OFF_PAGE_PX) return true;
  if (!['absolute', 'fixed'].includes(declared.get('position') ?? '')) return false;
  return ['left', 'top', 'right', 'bottom'].some((side) => {
    const at = pixels(declared.get(side));
    return at !== null && at <= -OFF_PAGE_PX;
  });
}

function hasNoSize(declared: ReadonlyMap<string, string>): boolean {
  if (/^rect\(\s{0,9}(?:0|1px)[\s,]/.test(declared.get('clip') ?? '')) return true;
  if (/^inset\(\s{0,9}(?:50|100)%/.test(declared.get('clip-path') ?? '')) return true;
  const isSmall = (name: string): boolean => {
    const size = pixels(declared.get(name));
    return size !== null && size <= 1;
  };
  const overflow = declared.get('overflow') ?? '';
  return overflow === 'hidden' && ['height', 'max-height', 'width', 'max-width'].some(isSmall);
}

function isNotShown(declared: ReadonlyMap<string, string>): boolean {
  return (
    declared.get('display') === 'none' || ['hidden', 'collapse'].includes(declared.get('visibility') ?? '')
  );
}

/** What lies behind the children of an element, as far as its own attributes tell. */
export function backdropIn(around: Backdrop, { style, bgColor, className, id }: Looks): Backdrop {
  const declared = declarations(style);
  const own = declared.get('background-color') ?? declared.get('background') ?? bgColor;
  if (typeof own === 'string') return isNearlyWhite(own) ? 'white' : 'unknown';
  return className === undefined && id === undefined ? around : 'unknown';
}

/**
 * Whether a reader of the page would see nothing of an element: not shown, transparent, too small, outside of the page,
 * or white on white. A model would read it all the same, so that such text can carry instructions that people do not
 * see. Style sheets are not evaluated: only what the element says itself counts, and a light colour only where nothing
 * says what it stands on.
 *
 * @param backdrop what lies behind the element's text, its own background included (`backdropIn`)
 */
export function isHiddenElement(looks: Looks, backdrop: Backdrop): boolean {
  if (looks.hidden !== undefined && looks.hidden !== false) return true;
  const declared = declarations(looks.style);
  if (isNotShown(declared)) return true;
  const opacity = declared.get('opacity');
  if (opacity !== undefined && opacity !== '' && Number(opacity) < 0.05) return true;
  const letters = pixels(declared.get('font-size'));
  if (letters !== null && letters <= TINY_PX) return true;
  if (isOffPage(declared) || hasNoSize(declared)) return true;
  const color = declared.get('color') ?? looks.color;
  return typeof color === 'string' && backdrop === 'white' && isNearlyWhite(color.toLowerCase());
}
