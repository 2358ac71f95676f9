/** A top-level block of a Markdown source, or a run of paragraphs. */
export interface MarkdownBlock {
  kind: 'text' | 'table' | 'code' | 'heading';
  text: string;
  charStart: number;
  /** Of a heading, 1 to 6. */
  level?: number;
  /** The text goes on in the middle of the last block's paragraph. */
  continues?: boolean;
}

const MAX_BLOCK_LENGTH = 64 * 1024;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const ATX_HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const SETEXT_LINE = /^ {0,3}(?:(=+)|-+)[ \t]*$/;
const NO_PARAGRAPH = /^(?: {4}|\t| {0,3}(?:>|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)))/;
/** Starts that end a paragraph: what follows belongs to a list or quote, or is a rule. */
const INTERRUPTION = /^ {0,3}(?:>|[-*+][ \t]|1[.)][ \t])/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const DELIMITER_ROW = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;
const RAW_HTML = /^ {0,3}(?:<!--|<(pre|script|style|textarea)(?=[\s>]))/i;

/** A block that runs until its end is seen. */
interface OpenBlock {
  kind: 'code' | 'table' | 'text';
  text: string;
  start: number;
  /** What each part begins with when the block is too long to be given at once. */
  head: string;
  ends(line: string): 'here' | 'before' | null;
}

/**
 * Finds headings (CommonMark's two kinds), GFM tables and fenced code line by line, in linear time and constant
 * memory. Everything else is text. A full Markdown parser is not used for this: remark took 18 s for a table of
 * 1 MB, 22 s for 60 kB of `>`, and did not end on 50,000 empty list items; its reading of the blocks is what the
 * tests compare with.
 */
// eslint-disable-next-line complexity -- a scanner: one branch for each kind of line
export async function* readMarkdownBlocks(lines: AsyncIterable<string>): AsyncGenerator<MarkdownBlock> {
  let offset = 0;
  /** Text not given yet, and within it the lines of the paragraph that is open. */
  let text = '';
  let paragraph: string[] = [];
  let continues = false;
  let open = null as OpenBlock | null;

  function* flushText(without = 0): Generator<MarkdownBlock> {
    const given = text.slice(0, text.length - without);
    if (given.trim() !== '') yield { kind: 'text', text: given, charStart: offset - text.length, continues };
    text = '';
    paragraph = [];
    continues = false;
  }

  for await (const line of lines) {
    const bare = line.trimEnd();
    const end: 'here' | 'before' | null = open === null ? null : open.ends(bare);
    if (open && end !== 'before') {
      open.text += line;
      offset += line.length;
      if (end === 'here' || open.text.length > MAX_BLOCK_LENGTH) {
        yield { kind: open.kind, text: open.text, charStart: open.start };
        open = end === 'here' ? null : { ...open, text: open.head, start: offset };
      }
      continue;
    }
    if (open) {
      yield { kind: open.kind, text: open.text, charStart: open.start };
      open = null;
    }

    const atx = ATX_HEADING.exec(bare);
    const fence = FENCE.exec(bare)?.[1];
    const raw = RAW_HTML.exec(bare);
    const setext = paragraph.length > 0 && !NO_PARAGRAPH.test(paragraph[0]!) ? SETEXT_LINE.exec(bare) : null;
    const header = paragraph.at(-1);
    if (atx) {
      yield* flushText();
      yield { kind: 'heading', level: atx[1]!.length, text: line, charStart: offset };
    } else if (offset === 0 && bare === '---') {
      // Front matter; if it is none, it costs the headings up to the next rule.
      open = {
        kind: 'text',
        text: line,
        head: '',
        start: 0,
        ends: (l) => (/^(?:---|\.\.\.)$/.test(l) ? 'here' : null),
      };
    } else if (fence) {
      yield* flushText();
      const ends = (l: string): 'here' | null => (closesFence(l, fence) ? 'here' : null);
      open = { kind: 'code', text: line, head: line, start: offset, ends };
    } else if (raw && paragraph.length === 0 && !closesRaw(bare.slice(raw[0].length), raw[1])) {
      yield* flushText();
      const ends = (l: string): 'here' | null => (closesRaw(l, raw[1]) ? 'here' : null);
      open = { kind: 'text', text: line, head: '', start: offset, ends };
    } else if (header?.includes('|') && DELIMITER_ROW.test(bare) && cells(header) === cells(bare)) {
      yield* flushText(header.length);
      const head = header + line;
      open = { kind: 'table', text: head, head, start: offset - header.length, ends: endsTable };
    } else if (setext) {
      const title = paragraph.join('');
      yield* flushText(title.length);
      yield {
        kind: 'heading',
        level: setext[1] ? 1 : 2,
        text: title + line,
        charStart: offset - title.length,
      };
    } else {
      if (text.length > MAX_BLOCK_LENGTH) {
        // The line end stays with the rest, so that the two joined give the text.
        const held = paragraph.length > 0 && text.endsWith('\n') ? '\n' : '';
        yield* flushText(held.length);
        text = held;
        continues = held !== '';
      }
      text += line;
      if (bare === '' || RULE.test(bare)) paragraph = [];
      else if (INTERRUPTION.test(line)) paragraph = [line];
      else paragraph.push(line);
    }
    offset += line.length;
  }
  if (open) yield { kind: open.kind, text: open.text, charStart: open.start };
  yield* flushText();
}

function closesFence(line: string, fence: string): boolean {
  const mark = /^ {0,3}([`~]+)$/.exec(line)?.[1];
  return mark !== undefined && mark.startsWith(fence);
}

function closesRaw(line: string, tag: string | undefined): boolean {
  return tag ? line.toLowerCase().includes(`</${tag.toLowerCase()}>`) : line.includes('-->');
}

function endsTable(line: string): 'before' | null {
  const other = line === '' || FENCE.test(line) || ATX_HEADING.test(line) || NO_PARAGRAPH.test(line);
  return other ? 'before' : null;
}

function cells(row: string): number {
  return row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/).length;
}
