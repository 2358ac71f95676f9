/** What an element says of its own looks. */
export interface Looks {
  [attribute: string]: unknown;
  hidden?: unknown;
  style?: unknown;
  color?: unknown;
  bgColor?: unknown;
  background?: unknown;
  /** Of a `font` element. */
  size?: unknown;
  className?: unknown;
  id?: unknown;
  href?: unknown;
}

/** What lies behind an element: paper, or something that this does not know, such as what a style sheet says. */
export type Backdrop = 'white' | 'unknown';

/** What text takes over from the elements that it stands in, unless a nearer one says otherwise. */
export interface Surroundings {
  backdrop: Backdrop;
  /** Height of letters in pixels. */
  letters: number;
  /** Letters are nearly white or transparent. */
  pale: boolean;
}

/** Smaller letters cannot be read: two pixels are half a millimetre on a screen. */
const TINY_PX = 2;
/** Further than this beyond the edge nothing is scrolled to. */
const OFF_PAGE_PX = 500;
const NORMAL_PX = 16;
const PX_PER: Readonly<Record<string, number>> = {
  px: 1,
  pt: 4 / 3,
  em: 16,
  rem: 16,
  ex: 8,
  '%': 0.16,
  '': 1,
};
const OF_THE_LETTERS_AROUND = new Set(['em', 'ex', '%']);
/** Words that leave what the element around says; `larger` and `smaller` do so nearly. */
const TAKEN_OVER = new Set(['', 'inherit', 'unset', 'revert', 'currentcolor', 'larger', 'smaller']);
const NO_BACKGROUND = new Set(['', 'none', 'transparent', 'initial', 'unset']);
/** Of 255: lighter on white paper cannot be read. */
const NEARLY_WHITE = 244;

function declarations(style: unknown): Map<string, string> {
  const found = new Map<string, string>();
  if (typeof style !== 'string') return found;
  for (const part of style.split(';')) {
    const colon = part.indexOf(':');
    if (colon === -1) continue;
    const value = part.slice(colon + 1).replace(/!important/i, '');
    const name = part.slice(0, colon).trim().toLowerCase();
    found.delete(name); // so that the order is that of what holds
    found.set(name, value.trim().toLowerCase());
  }
  return found;
}

/** A length in pixels, beside letters of a height; null for what is none, such as `auto` or `calc(…)`. */
function pixels(value: string | undefined, letters = NORMAL_PX): number | null {
  const found = /^(-?\d{0,9}(?:\.\d{1,9})?)(px|pt|em|rem|ex|%)?$/.exec(value ?? '');
  if (found === null || found[1] === '' || found[1] === '-') return null;
  const unit = found[2] ?? '';
  return Number(found[1]) * PX_PER[unit]! * (OF_THE_LETTERS_AROUND.has(unit) ? letters / NORMAL_PX : 1);
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

function backdropIn(
  around: Backdrop,
  { bgColor, background, className, id }: Looks,
  declared: ReadonlyMap<string, string>,
): Backdrop {
  const picture = declared.get('background-image') ?? 'none';
  if (background !== undefined || !NO_BACKGROUND.has(picture)) return 'unknown';
  const own = declared.get('background-color') ?? declared.get('background') ?? bgColor;
  if (typeof own === 'string' && !NO_BACKGROUND.has(own)) return isNearlyWhite(own) ? 'white' : 'unknown';
  return className === undefined && id === undefined ? around : 'unknown';
}

/** Of `font: bold 13px/1.5 Arial`, where the size alone has a unit or is 0. */
function sizeInFont(font: string): string | undefined {
  const sizes = font.split(/\s/).map((word) => word.split('/')[0]!);
  return sizes.find((size) => size === '0' || (/[^\d.]$/.test(size) && pixels(size) !== null));
}

function lettersIn(
  around: number,
  { size }: Looks,
  declared: ReadonlyMap<string, string>,
  tagName: string,
): number {
  let letters = tagName === 'font' && size !== undefined ? NORMAL_PX : around;
  for (const [name, value] of declared) {
    if (name !== 'font-size' && name !== 'font') continue;
    if (TAKEN_OVER.has(value)) continue;
    const own = pixels(name === 'font' ? sizeInFont(value) : value, around) ?? NORMAL_PX;
    if (own >= 0) letters = own;
  }
  return letters;
}

function isPaleIn(
  around: boolean,
  looks: Looks,
  declared: ReadonlyMap<string, string>,
  tagName: string,
): boolean {
  const own = declared.get('color') ?? looks.color;
  if (typeof own === 'string' && !TAKEN_OVER.has(own)) return isNearlyWhite(own.toLowerCase());
  // Browsers give links a colour of their own.
  return tagName === 'a' && looks.href !== undefined && own === undefined ? false : around;
}

/** On white paper, until an element says otherwise. */
export function plainSurroundings(backdrop: Backdrop): Surroundings {
  return { backdrop, letters: NORMAL_PX, pale: false };
}

/** What the text in an element takes over, as far as its own attributes tell. */
export function surroundingsIn(around: Surroundings, looks: Looks, tagName = ''): Surroundings {
  const declared = declarations(looks.style);
  return {
    backdrop: backdropIn(around.backdrop, looks, declared),
    letters: lettersIn(around.letters, looks, declared, tagName),
    pale: isPaleIn(around.pale, looks, declared, tagName),
  };
}

export function areTiny(letters: number): boolean {
  return letters <= TINY_PX;
}

/**
 * Whether text is too small, or white on white. Unlike what is not shown at all, an element in it that says a size or a
 * colour of its own is seen: mails have wrappers without a height of letters, which keeps gaps out.
 */
export function isHiddenText({ letters, pale, backdrop }: Surroundings): boolean {
  return areTiny(letters) || (pale && backdrop === 'white');
}

/**
 * Whether a reader of the page would see nothing of an element, whatever stands in it: not shown, transparent, or
 * outside of the page. A model would read it all the same, so that such text can carry instructions that people do not
 * see. Style sheets are not evaluated: only what the element says itself counts, and a light colour (`isHiddenText`)
 * only where nothing says what it stands on.
 */
export function isHiddenElement(looks: Looks): boolean {
  if (looks.hidden !== undefined && looks.hidden !== false) return true;
  const declared = declarations(looks.style);
  if (isNotShown(declared)) return true;
  const opacity = declared.get('opacity');
  if (opacity !== undefined && opacity !== '' && Number(opacity) < 0.05) return true;
  return isOffPage(declared) || hasNoSize(declared);
}
