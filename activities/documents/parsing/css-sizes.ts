export const NORMAL_PX = 16;
const PX_PER: Readonly<Record<string, number>> = {
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 38,
  mm: 3.8,
  q: 0.95,
  em: 16,
  rem: 16,
  ex: 8,
  ch: 8,
  // Hundredths of a window, whose size is not known here.
  vw: 10,
  vh: 7,
  vmin: 7,
  vmax: 10,
  '%': 0.16,
  '': 1,
};
const OF_THE_LETTERS_AROUND = new Set(['em', 'ex', 'ch', '%']);
/** Heights of letters by a word; `larger` and `smaller` leave nearly what the element around says. */
const SIZE_WORDS = new Set([
  'xx-small',
  'x-small',
  'small',
  'medium',
  'large',
  'x-large',
  'xx-large',
  'xxx-large',
  'initial',
  'caption',
  'icon',
  'menu',
  'message-box',
  'small-caption',
  'status-bar',
]);
/** A length in pixels, beside letters of a height; null for what is none, such as `auto` or `calc(…)`. */
export function pixels(value: string | undefined, letters = NORMAL_PX): number | null {
  const found = /^([+-]?\d{0,9}(?:\.\d{1,9})?)([a-z]{1,4}|%)?$/.exec(value ?? '');
  const unit = found?.[2] ?? '';
  if (found === null || !/\d/.test(found[1]!) || !Object.hasOwn(PX_PER, unit)) return null;
  return Number(found[1]) * PX_PER[unit]! * (OF_THE_LETTERS_AROUND.has(unit) ? letters / NORMAL_PX : 1);
}

/** None is below zero. */
export function isSize(value: string): boolean {
  return SIZE_WORDS.has(value) || (pixels(value) ?? -1) >= 0;
}

/** Of `font: bold 13px/1.5 Arial`, where the size alone has a unit or is 0. Without a name behind it none holds. */
export function sizeInFont(font: string): string | undefined {
  if (SIZE_WORDS.has(font)) return font;
  const words = font.replace(/\s{0,9}\/\s{0,9}/g, '/').split(/\s/);
  const sizes = words.slice(0, -1).map((word) => word.split('/')[0]!);
  return sizes.find((size) => isSize(size) && (size === '0' || /[^\d.]$/.test(size)));
}
