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

export function sourceMarker(number: number): string {
  return `[Source ${number}]`;
}

export const SOURCES_END = '[End of sources]';

/** Letters that look like these, Cyrillic, Greek, Armenian and full-width ones; a model reads them alike. */
const LIKE: Readonly<Record<string, string>> = {
  a: 'aаαａ',
  c: 'cсϲｃ',
  d: 'dԁｄ',
  e: 'eеεｅ',
  h: 'hһｈ',
  i: 'iіιｉ',
  l: 'lӏｌ',
  m: 'mмｍ',
  n: 'nոｎ',
  o: 'oоοօｏ0',
  p: 'pрρｐ',
  r: 'rгｒ',
  s: 'sѕｓ',
  t: 'tтτｔ',
  u: 'uυսｕ',
  v: 'vνｖ',
  y: 'yуγｙ',
};

/** A word in whatever letters it is written, with invisible characters and accents between them. */
function like(word: string): string {
  return [...word].map((letter) => `[${LIKE[letter] ?? letter}]`).join(String.raw`[\p{Cf}\p{M}]*`);
}

const OPENING = '[［【〔〖〘〚❲⟦⟬⁅﹝';
const CLOSING = '\\]］】〕〗〙〛❳⟧⟭⁆﹞';
const SOURCE = String.raw`(?:${like('end')}\s+${like('of')}\s+)?${like('source')}`;

/** A bracketed marker in the text of a document, in any brackets. */
const MARKER = new RegExp(
  String.raw`[${OPENING}][\s\p{Cf}]*(${SOURCE}[^${OPENING}${CLOSING}\n]{0,600})[${CLOSING}]`,
  'giu',
);
/** What is left of one that is split over lines or never closed. */
const MARKER_START = new RegExp(String.raw`[${OPENING}](?=[\s\p{Cf}]*${SOURCE})`, 'giu');

/** How chat templates mark turns and thoughts: a server that finds one may take what follows for another voice. */
const TURN_MARK =
  /<([|｜][^<>\n]{0,64}[|｜])>|<(\/?(?:start_of_turn|end_of_turn|bos|eos|s|think|thinking|scratchpad|tool_calls?|tool_response|function_calls?|invoke))>|<{1,2}(\/?SYS)>{1,2}|\[(\/?INST)\]/gi;
const ROLES = ['system', 'assistant', 'developer', 'human'].map(like).join('|');
/** A line that poses as the beginning of a message. */
const ROLE_LINE = new RegExp(
  String.raw`^([ \t]*(?:#{1,6}[ \t]*)?(?:\*\*|__)?(?:${ROLES})(?:[ \t]+(?:prompt|message|instructions?))?(?:\*\*|__)?)[ \t]*[:\uff1a]`,
  'gimu',
);

/** For the tests, which hold every expression over foreign text to linear time. */
export const MARK_EXPRESSIONS: readonly RegExp[] = [MARKER, MARKER_START, ROLE_LINE];

/**
 * Turns the brackets of every `[Source 2]`, `[Sources: none]` or `[End of sources]` in a document's text into
 * parentheses, and likewise those of the marks of chat templates; the colon of a line such as `System:` becomes a dash.
 * A person still reads the same; no parser and no model takes it for ours.
 */
export function neutralizeMarkers(text: string): string {
  return text
    .replace(MARKER, '($1)')
    .replace(MARKER_START, '(')
    .replace(TURN_MARK, (_mark, ...inside: (string | undefined)[]) => `(${inside.slice(0, 4).find(Boolean)})`)
    .replace(ROLE_LINE, '$1 –');
}

/** One source as a system message holds it. */
export function writeSourceBlock({ number, heading, text }: SourceBlock): string {
  const line = neutralizeMarkers(heading.replace(/\s+/g, ' ').trim());
  return `${sourceMarker(number)} ${line}\n${neutralizeMarkers(text).trim()}\n`;
}

/** What `writeSourceBlock` wrote, as the end of a system message. */
export function listSourceBlocks(written: readonly string[]): string {
  return [...written, SOURCES_END].join('\n');
}

/** The sources in a system message that `listSourceBlocks` had a part in; null when it holds no list at all. */
export function readSourceBlocks(message: string): SourceBlock[] | null {
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
}
