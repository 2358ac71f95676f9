/** Shorter runs than a chunk's: the segmenter's time grows with the square of a text in these scripts. */
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]{1,400}/gu;
const OTHER_WORD = /[\p{L}\p{N}]+/gu;

/**
 * Whether a text is written in a script without white space between words (Chinese, Japanese, Thai …): it has as many
 * letters of such a script as words and numbers of others.
 */
export function isUnspaced(text: string): boolean {
  const letters = [...(text.match(RUN) ?? []).join('')].length;
  if (letters === 0) return false;
  const others = text.replace(RUN, ' ').match(OTHER_WORD)?.length ?? 0;
  return letters >= others;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** The text with white space between the words of such scripts. */
export function spacedOut(text: string): string {
  return text.replace(
    RUN,
    (run) => ` ${[...segmenter.segment(run)].map(({ segment }) => segment).join(' ')} `,
  );
}
