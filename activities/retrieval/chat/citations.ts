/** What may become a citation line is kept back up to this length, which is one of some two hundred sources. */
const MAX_LINE_LENGTH = 1000;
/** Of emphasis or code around such a line. */
const MAX_MARKS = 3;

/**
 * `[Sources: 1, 3]`, `[source : 2]`, `**[Sources: none]**`, `[Sources: Source 1 and 2-4].`, `[Sources: [1], [3]]` at
 * the very end.
 */
const CITATION_LINE =
  /(?<!\s)\s*[*_`]{0,3}\[\s*sources?\s*:(\s*(?:none|no|n\/a|aucune?)\s*|(?:sources?|and|et|[\d\s,;&#–\-[\]])*)\][*_`]{0,3}\.?[*_`]{0,3}\s*$/i;
/** A bracket that such a line may still come of: whatever one begins with is matched too. */
const OPEN_LINE =
  /^\[\s*(?:s|so|sou|sour|sourc|sources?\s*(?::[^\][]*(?:\][*_`]{0,3}\.?[*_`]{0,3}\s*)?)?)?$/i;
/** One whose numbers stand in brackets of their own; a word of its list may have come in part. */
const OPEN_LIST =
  /\[\s*sources?\s*:(?:sources?|and|et|[\d\s,;&#–\-[\]])*(?:[a-z]{0,6}|\][*_`]{1,3}\.?[*_`]{0,3}\s*|\]\.[*_`]{0,3}\s*)$/i;
const NONE = /^(?:none|no|n\/a|aucune?)$/i;
const NUMBERS = /(\d{1,6})(?:\s*[–-]\s*(\d{1,6}))?/g;

export interface Citations {
  /** The part of the answer that was still kept back, without the citation line. */
  tail: string;
  /** Whether the answer ended in a citation line. */
  reported: boolean;
  /** Whether that line said `none`. */
  none: boolean;
  /** Numbers of sources that were in the prompt, ascending, each once. */
  cited: number[];
}

export interface CitationFilter {
  /** Takes the next delta of the answer; gives back what may be shown now. */
  push(delta: string): string;
  end(): Citations;
}

/**
 * Where what may yet become a citation line begins, with the white space and marks before it; the end of the text when
 * nothing may. A mark within the answer, `[Source 2]`, is none as soon as its number has come.
 */
function possibleLineStart(text: string): number {
  const earliest = Math.max(0, text.length - MAX_LINE_LENGTH);
  const late = text.slice(earliest);
  const list = late.search(OPEN_LIST);
  const bracket = list === -1 ? late.lastIndexOf('[') : list;
  const isOpen = list !== -1 || (bracket !== -1 && OPEN_LINE.test(late.slice(bracket)));
  let start = isOpen ? earliest + bracket : text.length;
  for (let marks = 0; marks < MAX_MARKS && /[*_`]/.test(text.charAt(start - 1)); marks++) start -= 1;
  while (start > earliest && /\s/.test(text.charAt(start - 1))) start -= 1;
  return start;
}

function citedNumbers(line: string, sourceCount: number): number[] {
  const numbers = new Set<number>();
  for (const [, first, last] of line.matchAll(NUMBERS)) {
    const from = Math.max(Number(first), 1);
    const to = Math.min(Number(last ?? first), sourceCount);
    for (let number = from; number <= to; number++) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b);
}

/**
 * Cuts the citation line off the end of a streamed answer and reads it. What comes out does not depend on how
 * the answer was cut into deltas: what is kept back at the end is decided by positions in the whole answer alone.
 * Only what may become such a line is kept back, and not the last 80 characters whatever they are (section 1.9 of the
 * wire contract): the first words of an answer would come as late as a model takes for twenty more.
 * Inline marks such as `[Source 2]` are part of the answer and stay.
 *
 * @param sourceCount sources in the prompt; a number beyond is never reported as cited
 */
export function createCitationFilter(sourceCount: number): CitationFilter {
  let held = '';
  return {
    push(delta) {
      held += delta;
      const keepFrom = possibleLineStart(held);
      const released = held.slice(0, keepFrom);
      held = held.slice(keepFrom);
      return released;
    },
    end() {
      const citations: Citations = { tail: held, reported: false, none: false, cited: [] };
      const match = CITATION_LINE.exec(held);
      held = '';
      if (match === null) return citations;
      const line = match[1]?.trim() ?? '';
      return {
        tail: citations.tail.slice(0, match.index),
        reported: true,
        none: NONE.test(line),
        cited: citedNumbers(line, sourceCount),
      };
    },
  };
}
