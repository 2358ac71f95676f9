/** A text shorter than this is not refused for its length. */
const MIN_LENGTH = 32;

/** Near the middle, in this order: between paragraphs, sentences, lines, words. */
const SEAMS = [/\n\s*\n/g, /(?<=[.!?。])\s+/g, /\n/g, /\s+/g];
/** So far from the middle a better seam is taken, as a part of the length. */
const REACH = 0.2;

/**
 * A text in two parts of about the same length, cut where it hurts least; null when it is too short to be worth it.
 * Together the parts hold every word.
 */
export function splitInTwo(text: string): readonly [string, string] | null {
  if (text.length < MIN_LENGTH) return null;
  const middle = text.length / 2;
  const from = Math.floor(text.length * (0.5 - REACH));
  const window = text.slice(from, Math.ceil(text.length * (0.5 + REACH)));
  for (const seam of SEAMS) {
    const places = [...window.matchAll(seam)].map(({ index, 0: gap }) => from + index + gap.length);
    const at = places.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
    if (at !== undefined && at > 0 && at < text.length) return [text.slice(0, at), text.slice(at)];
  }
  const cut = Math.floor(middle);
  // Never between the halves of a pair.
  const at = /[\udc00-\udfff]/.test(text.charAt(cut)) ? cut + 1 : cut;
  return [text.slice(0, at), text.slice(at)];
}
