import colorString from 'color-string';

interface Color {
  /** Of 255 each. */
  parts: readonly number[];
  opacity: number;
}

/** No colour is written longer; what takes it apart is not ours. */
const MAX_COLOR = 100;
/** Of 255: lighter on white paper cannot be read. */
const NEARLY_WHITE = 244;
/** Of 1: less opaque than this cannot be seen. */
export const TRANSPARENT = 0.05;

/** Lightness, of 100 in the first two and of 1 in the others (CSS Color 4, sections 9 and 10). */
const BY_LIGHTNESS = /^(lab|lch|oklab|oklch)\( ?([\d.]{1,20})(%?)[ /][^()]*\)$/;
const IN_A_SPACE =
  /^color\( ?(?:srgb|display-p3) ([\d.]{1,20}%?) ([\d.]{1,20}%?) ([\d.]{1,20}%?)(?: ?\/ ?[\d.]{1,20}%?)? ?\)$/;
const OPACITY = /\/ ?([\d.]{1,20}%?) ?\)$/;

/** Null for what is no colour, which browsers pass over. Pages of old have colours without a `#`. */
export function readColor(color: string): Color | null {
  if (color.length > MAX_COLOR) return null;
  if (color === 'initial') return { parts: [0], opacity: 1 };
  const bare = /^(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(color) ? `#${color}` : color;
  const found = colorString.get(bare);
  if (found === null) return readModernColor(color);
  const opacity = found.value[3] ?? 1;
  if (found.model === 'rgb') return { parts: found.value.slice(0, 3), opacity };
  const [, first = 0, second = 0] = found.value;
  // A gray as light as the colour's darkest part: of HSL by lightness, of HWB by whiteness.
  const light = found.model === 'hwb' ? first : second - ((100 - second) * first) / 100;
  return { parts: [light * 2.55], opacity };
}

export function isNearlyWhite(color: string): boolean {
  if (color === 'ivory') return true;
  const read = readColor(color);
  return read !== null && (read.opacity < TRANSPARENT || read.parts.every((part) => part >= NEARLY_WHITE));
}

/** Of 1, by a number or per cent. */
export function share(text: string): number {
  return text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text);
}

/** Forms that came after HSL and HWB. What is as light as white is white, whatever else is said. */
function readModernColor(color: string): Color | null {
  const opacity = share(OPACITY.exec(color)?.[1] ?? '1');
  const parts = IN_A_SPACE.exec(color)?.slice(1);
  if (parts !== undefined) return { parts: parts.map((part) => share(part) * 255), opacity };
  const [, kind, light, percent] = BY_LIGHTNESS.exec(color) ?? [];
  if (kind === undefined) return null;
  const isOfHundred = percent === '%' || !kind.startsWith('ok');
  return { parts: [(Number(light) / (isOfHundred ? 100 : 1)) * 255], opacity };
}
