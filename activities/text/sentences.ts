/** The segmenter's time grows with the square of the text: 635 kB at once took 11 s, in windows 14 ms. */
const WINDOW = 2000;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** A full stop after these (or after a single letter) ends no sentence; English and French. */
const ABBREVIATION =
  /(?:^|[\s("'«])(?:\p{L}|dr|mr|mrs|ms|prof|st|ste|jr|sr|vs|cf|fig|no|nos|vol|pp|art|al|approx|ca|e\.g|i\.e|mme|mlle|env|p\.ex|jan|feb|févr?|mar|apr|avr|jun|jul|juil|aug|sept?|oct|nov|dec|déc)\.\s*$/iu;

/** A line that starts like a list item or a row stays a segment of its own. */
const OWN_LINE = /[-*+•>|#]|\d{1,3}[.)]\s/y;

/** The text with its line ends as spaces, but for those before a line of its own. */
function flow(text: string): string {
  return text.replace(/\n\s*/g, (gap: string, at: number) => {
    OWN_LINE.lastIndex = at + gap.length;
    return OWN_LINE.test(text) ? gap : gap.replaceAll('\n', ' ');
  });
}

/**
 * Cuts a paragraph into sentences, in linear time. The segments cover the text without gaps; each keeps the white
 * space that follows it. Within a hard-wrapped paragraph a line end does not end a sentence.
 */
export function splitSentences(text: string): string[] {
  const flowing = flow(text);
  const sentences: string[] = [];
  let open = 0;
  for (let start = 0; start < text.length;) {
    const end = windowEnd(flowing, start);
    const last = end === text.length;
    const window = flowing.slice(start, end);
    const segments = [...segmenter.segment(window)].map(({ segment }) => segment);
    const parts = segments.length > 1 ? segments : splitClauses(window);
    // The last part of a window is cut by the window, so it starts the next one; unless it is all there is.
    const whole = last ? segments : parts.length > 1 ? parts.slice(0, -1) : parts;
    let next = start;
    for (const part of whole) {
      next += part.length;
      if (next < text.length && ABBREVIATION.test(flowing.slice(Math.max(open, next - 12), next))) continue;
      sentences.push(text.slice(open, next));
      open = next;
    }
    start = next;
  }
  if (open < text.length) sentences.push(text.slice(open));
  return sentences;
}

/** Where a clause may end: behind a stop of any kind and the white space after it. */
const STOP = /[.!?;:…]["'’”»)\]]*\s+/gu;

/** Cuts a sentence into its clauses, in linear time; the segments cover the text without gaps. */
export function splitClauses(sentence: string): string[] {
  const clauses: string[] = [];
  let open = 0;
  for (const { index, 0: stop } of sentence.matchAll(STOP)) {
    const next = index + stop.length;
    if (ABBREVIATION.test(sentence.slice(Math.max(open, next - 12), next))) continue;
    clauses.push(sentence.slice(open, next));
    open = next;
  }
  if (open < sentence.length) clauses.push(sentence.slice(open));
  return clauses;
}

function windowEnd(text: string, start: number): number {
  const limit = start + WINDOW;
  if (limit >= text.length) return text.length;
  const space = text.lastIndexOf(' ', limit);
  if (space > start + WINDOW / 2) return space + 1;
  return endsInPair(text, limit) ? limit - 1 : limit;
}

/** So many UTF-16 units at most, and no half of a surrogate pair at the end. */
export function firstCharacters(text: string, most: number): string {
  return text.slice(0, text.length > most && endsInPair(text, most) ? most - 1 : most);
}

/** Whether a cut at this offset would part a surrogate pair. */
export function endsInPair(text: string, offset: number): boolean {
  const code = text.charCodeAt(offset - 1);
  return code >= 0xd800 && code < 0xdc00;
}
