import { TRANSPARENT, isNearlyWhite, readColor, share } from './css-colors.js';
import { declarations } from './css-declarations.js';
import { NORMAL_PX, isSize, pixels, sizeInFont } from './css-sizes.js';

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
/** Of the attribute `color`. */
const NO_COLOR = new Set(['', 'transparent']);
const NO_BACKGROUND = new Set(['', 'none', 'transparent', 'initial', 'unset']);
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

/** The colour in a background, or what may be a picture; null for what leaves the one around. */
function backgroundOf(value: string): string | null {
  const word = [value, ...value.split(/\s/)].find((part) => part.includes('(') || readColor(part) !== null);
  if (word === undefined || word === 'initial') return null;
  const color = readColor(word);
  return color === null || color.opacity >= TRANSPARENT ? word : null;
}

function backdropIn(
  around: Backdrop,
  { bgColor, background, className, id }: Looks,
  declared: ReadonlyMap<string, string>,
): Backdrop {
  const picture = declared.get('background-image') ?? 'none';
  if (background !== undefined || !NO_BACKGROUND.has(picture)) return 'unknown';
  const own =
    backgroundOf(declared.get('background-color') ?? declared.get('background') ?? '') ??
    (typeof bgColor === 'string' && !NO_BACKGROUND.has(bgColor) ? bgColor : null);
  if (own !== null) return isNearlyWhite(own) ? 'white' : 'unknown';
  return className === undefined && id === undefined ? around : 'unknown';
}

function lettersIn(
  around: number,
  { size }: Looks,
  declared: ReadonlyMap<string, string>,
  tagName: string,
): number {
  let letters = tagName === 'font' && /^\s{0,9}[+-]?\d/.test(String(size)) ? NORMAL_PX : around;
  for (const [name, value] of declared) {
    if (name !== 'font-size' && name !== 'font') continue;
    const said = name === 'font' ? sizeInFont(value) : value;
    // Browsers pass over what is no size; what they calculate is taken over as well.
    if (said === undefined || !isSize(said)) continue;
    const own = pixels(said, around) ?? NORMAL_PX;
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
  const declaredColor = declared.get('color');
  if (declaredColor !== undefined && readColor(declaredColor) !== null) return isNearlyWhite(declaredColor);
  // Of an attribute browsers make some colour whatever it says.
  const { color } = looks;
  if (typeof color === 'string' && declaredColor === undefined && !NO_COLOR.has(color.toLowerCase()))
    return isNearlyWhite(color.toLowerCase());
  // Browsers give links a colour of their own.
  return tagName === 'a' && looks.href !== undefined && declaredColor === undefined ? false : around;
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
  if (opacity !== undefined && share(opacity) < TRANSPARENT) return true;
  return isOffPage(declared) || hasNoSize(declared);
}
