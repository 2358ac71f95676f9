/**
 * How sources stand in a prompt, written and read in one place:
 *
 *     [Source 1] report.pdf, page 3, Safety > Valves
 *     text of the chunk
 *
 *     [Source 2] …
 *
 *     [End of sources]
 *
 * Clients and models know the literal `[Source N]`. Text from documents never holds a marker of its own, because
 * `neutralizeMarkers` has been over it: a document cannot pose as another source, nor end the list, nor cite.
 */
export interface SourceBlock {
  /** 1, 2, 3 … */
  number: number;
  /** One line: filename, page, heading path. */
  heading: string;
  text: string;
}

export const sourceMarker = (number: number): string => `[Source ${number}]`;

export const SOURCES_END = '[End of sources]';

/**
 * A bracketed marker in the text of a document, also with full-width brackets or with invisible characters inside
 * (a model reads them all alike).
 */
const MARKER =
  /[[［【][\s\p{Cf}]*((?:end\s+of\s+)?s\p{Cf}*o\p{Cf}*u\p{Cf}*r\p{Cf}*c\p{Cf}*e[^[\]［］【】\n]{0,600})[\]］】]/giu;
/** What is left of one that is split over lines or never closed. */
const MARKER_START = /[[［【](?=[\s\p{Cf}]*(?:end\s+of\s+)?s\p{Cf}*o\p{Cf}*u\p{Cf}*r\p{Cf}*c\p{Cf}*e)/giu;

/** How chat templates mark turns: a server that finds one in a text may take what follows for another voice. */
const TURN_MARK =
  /<([|｜][^<>\n]{0,64}[|｜])>|<(\/?(?:start_of_turn|end_of_turn|bos|eos|s))>|<{1,2}(\/?SYS)>{1,2}|\[(\/?INST)\]/gi;
/** A line that poses as the beginning of a message. */
const ROLE_LINE =
  /^([ \t]*(?:#{1,6}[ \t]*)?(?:\*\*|__)?(?:system|assistant|developer)(?:[ \t]+(?:prompt|message|instructions?))?(?:\*\*|__)?)[ \t]*[:：]/gim;

/**
 * Turns the brackets of every `[Source 2]`, `[Sources: none]` or `[End of sources]` in a document's text into
 * parentheses, and likewise those of the marks of chat templates; the colon of a line such as `System:` becomes a dash.
 * A person still reads the same; no parser and no model takes it for ours.
 */
export const neutralizeMarkers = (text: string): string =>
  text
    .replace(MARKER, '($1)')
    .replace(MARKER_START, '(')
    .replace(TURN_MARK, (_mark, ...inside: (string | undefined)[]) => `(${inside.slice(0, 4).find(Boolean)})`)
    .replace(ROLE_LINE, '$1 –');

/** The sources as the end of a system message. */
export const writeSourceBlocks = (sources: readonly SourceBlock[]): string =>
  [
    ...sources.map(({ number, heading, text }) => {
      const line = neutralizeMarkers(heading.replace(/\s+/g, ' ').trim());
      return `${sourceMarker(number)} ${line}\n${neutralizeMarkers(text).trim()}\n`;
    }),
    SOURCES_END,
  ].join('\n');

/** The sources in a system message that `writeSourceBlocks` had a part in; null when it holds no list at all. */
export const readSourceBlocks = (message: string): SourceBlock[] | null => {
  const end = message.lastIndexOf(SOURCES_END);
  if (end === -1) return null;
  const blocks: SourceBlock[] = [];
  for (const line of message.slice(0, end).split('\n')) {
    const head = /^\[Source (\d{1,9})\](.*)$/.exec(line);
    const current = blocks.at(-1);
    if (head !== null) blocks.push({ number: Number(head[1]), heading: (head[2] ?? '').trim(), text: '' });
    else if (current !== undefined) current.text += current.text === '' ? line : `\n${line}`;
  }
  return blocks.map((block) => ({ ...block, text: block.text.trim() }));
};
