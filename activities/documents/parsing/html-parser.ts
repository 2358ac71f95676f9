import rehypeParse from 'rehype-parse';
import rehypeRemark from 'rehype-remark';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';
import { createTableBound } from './bound-table.js';
import { createHeadingPath } from './heading-path.js';
import { parseFlatHtml } from './flat-html-parser.js';
import { isHiddenElement, isHiddenText, plainSurroundings, surroundingsIn } from './hidden-styles.js';
import type { Looks, Surroundings } from './hidden-styles.js';
import { INLINE_TAGS, nestsDeeperThan } from './html-tags.js';
import { takeLayoutApart } from './layout-table.js';
import type { ParseNotes } from './parse-notes.js';
import type { PictureMarks } from './pictures/picture-marks.js';
import { isShortenedUri, withMarksAsText } from './shorten-data-uris.js';
import type { Section } from './section.js';

/** The parts of a syntax tree node that are used here, of HTML and of Markdown trees alike. */
interface TreeNode {
  type: string;
  tagName?: string;
  properties?: Looks;
  depth?: number;
  value?: string;
  alt?: string;
  url?: string;
  children?: TreeNode[] | undefined;
}

/** Furniture of a web page, not its content. */
const DROPPED = new Set(
  'script style noscript template nav aside iframe object embed svg canvas head'.split(' '),
);
/** Furniture of the page at its edges; within a part of the content, that part's title and its notes. */
const EDGES = new Set(['header', 'footer']);
const CONTENT_PARTS = new Set(['main', 'article', 'section']);
const VERBATIM = new Set(['pre', 'textarea']);
/** Kept without a content too, so that a row keeps its columns. */
const CELLS = new Set(['td', 'th']);
/** A tree of this many characters of HTML takes about 1 GB. */
const MAX_TREE = 16 * 1024 * 1024;

const reader = unified().use(rehypeParse);
const toMarkdownTree = unified().use(rehypeRemark);
/** Written to be searched and read by models, not to be rendered again: no escapes but where a table needs them. */
const writer = unified()
  .use(remarkGfm, { tablePipeAlign: false })
  .use(remarkStringify, {
    bullet: '-',
    rule: '-',
    fences: true,
    handlers: {
      break: (_node: unknown, _parent: unknown, state: { stack: string[] }) =>
        state.stack.includes('tableCell') ? ' ' : '\n',
      text: (node: { value: string }, _parent: unknown, state: { stack: string[] }) =>
        state.stack.includes('tableCell')
          ? node.value.replace(/\|/g, '\\|').replace(/\s+/g, (blank) => (blank.includes('\n') ? ' ' : blank))
          : node.value,
    },
  });
/** Writing blocks one by one costs more than the blocks. */
const BLOCKS_AT_ONCE = 100;

/**
 * HTML as Markdown sections, cut at its headings. What nests too deep or is too large for a tree is read as a
 * flat stream of tags: all its text, with less structure.
 * @param known.marks where the source of an image is one of these, it is left in the text
 */
export function* parseHtml(
  html: string,
  maxNesting: number,
  { marks = null, notes }: { marks?: PictureMarks | null; notes?: ParseNotes } = {},
): Generator<Section> {
  const tooLarge = html.length > MAX_TREE;
  const readFlat = (): Generator<Section> => {
    const why = tooLarge ? 'is too large' : 'nests too deep';
    notes?.warn(`The HTML ${why} for its structure to be read whole.`);
    notes?.warn('Text that only its colour hides was not looked for.');
    return parseFlatHtml(withoutMarkedTags(html, marks), notes);
  };
  if (tooLarge || nestsDeeperThan(html, maxNesting)) {
    yield* readFlat();
    return;
  }
  let blocks: TreeNode[];
  try {
    blocks = toBlocks(html, marks, notes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // the stack: the depth was underestimated
    yield* readFlat();
    return;
  }
  const headings = createHeadingPath();
  for (const group of groupBlocks(blocks)) {
    const first = group[0]!;
    const opens = first.type === 'heading';
    if (opens) headings.open(first.depth ?? 1, plainText(first));
    const text = writer.stringify({ type: 'root', children: group } as never).trimEnd();
    if (text === '') continue;
    const kind = first.type === 'table' ? 'table' : first.type === 'code' ? 'code' : 'text';
    yield { headingPath: headings.current(), page: null, text, kind, opens };
  }
}

/** Headings, tables and code stand alone; what is between them is written together. */
function* groupBlocks(blocks: TreeNode[]): Generator<TreeNode[]> {
  let group: TreeNode[] = [];
  for (const block of blocks) {
    const alone = block.type === 'heading' || block.type === 'table' || block.type === 'code';
    if (group.length > 0 && (alone || group.length >= BLOCKS_AT_ONCE)) {
      yield group;
      group = [];
    }
    if (alone) yield [block];
    else group.push(block);
  }
  if (group.length > 0) yield group;
}

function toBlocks(html: string, marks: PictureMarks | null, notes: ParseNotes | undefined): TreeNode[] {
  const tree = reader.parse(html) as TreeNode;
  prune(tree, {
    boundTable: createTableBound(),
    inContent: false,
    // What a style sheet says of backgrounds is not looked up.
    around: plainSurroundings(/<style[\s>]|stylesheet/i.test(html) ? 'unknown' : 'white'),
    verbatim: false,
    drop: (node) => notes?.drop(textLength(node)),
    hide: (node) => notes?.hide(textLength(node)),
  });
  const markdown = toMarkdownTree.runSync(tree as never) as TreeNode;
  keepOnlyText(markdown, marks);
  return markdown.children ?? [];
}

interface Pruning {
  boundTable(table: TreeNode): void;
  /** Told of what is left out. */
  drop(node: TreeNode): void;
  /** Told of what a reader of the page does not see. */
  hide(node: TreeNode): void;
  around: Surroundings;
  /** White space counts. */
  verbatim: boolean;
  /** Within `main`, `article` or `section`. */
  inContent: boolean;
}

/**
 * Drops furniture, and the white space between blocks: rehype-remark takes each such text out of a list by itself,
 * which took 20 s for 100,000 paragraphs.
 */
function prune(node: TreeNode, pruning: Pruning): void {
  if (!node.children) return;
  const { boundTable, inContent, around } = pruning;
  const verbatim = pruning.verbatim || VERBATIM.has(node.tagName ?? '');
  const kept = withoutUnseen(node.children, pruning).flatMap((child) =>
    child.tagName === 'table' && !takeLayoutApart(child) ? [...takeCaptions(child), child] : [child],
  );
  const isInline = (child: TreeNode | undefined): boolean =>
    child !== undefined && (child.type === 'text' || INLINE_TAGS.has(child.tagName ?? ''));
  node.children = kept.filter((child, i) => {
    const blank = child.type === 'text' && child.value!.trim() === '';
    return verbatim || !blank || isInline(kept[i - 1]) || isInline(kept[i + 1]);
  });
  if (node.tagName === 'table') {
    headFirstRow(node);
    boundTable(node);
  }
  node.children = node.children.filter((child) => {
    const { properties, tagName = '', children: before } = child;
    prune(child, {
      ...pruning,
      verbatim,
      inContent: inContent || CONTENT_PARTS.has(tagName),
      around: properties === undefined ? around : surroundingsIn(around, properties, tagName),
    });
    const emptied = before !== undefined && before.length > 0 && child.children!.length === 0;
    return !emptied || CELLS.has(tagName);
  });
}

/** Without furniture and what a reader of the page does not see; both are told of. */
function withoutUnseen(nodes: readonly TreeNode[], pruning: Pruning): TreeNode[] {
  const { drop, hide, inContent, around } = pruning;
  return nodes.filter((node) => {
    const { type, tagName = '', properties, value } = node;
    if (type === 'text') {
      if (value!.trim() === '' || !isHiddenText(around)) return true;
      hide(node);
      return false;
    }
    const furniture = DROPPED.has(tagName) || (EDGES.has(tagName) && !inContent);
    if (furniture) drop(node);
    else if (properties !== undefined && isHiddenElement(properties)) hide(node);
    else return type !== 'comment';
    return false;
  });
}

/** What a person could have read of it. */
function textLength(node: TreeNode): number {
  if (['script', 'style', 'template', 'head'].includes(node.tagName ?? '')) return 0;
  if (node.type === 'text') return node.value!.trim().length;
  return (node.children ?? []).reduce((sum, child) => sum + textLength(child), 0);
}

/** rehype-remark leaves captions out: each becomes the paragraph above its table, with the looks of that. */
function takeCaptions(table: TreeNode): TreeNode[] {
  const isCaption = ({ tagName }: TreeNode): boolean => tagName === 'caption';
  const captions = (table.children ?? []).filter(isCaption);
  if (captions.length > 0) table.children = table.children!.filter((child) => !isCaption(child));
  return captions.map((caption) => ({
    ...table,
    tagName: 'div',
    children: [{ ...caption, tagName: 'p' }],
  }));
}

/** A Markdown table has a header: where none is marked (Word's never are), the first row is it. */
function headFirstRow(table: TreeNode): void {
  const rows = (table.children ?? []).flatMap((part) =>
    part.tagName === 'tr' ? [part] : (part.children ?? []),
  );
  const cells = rows.flatMap((row) => row.children ?? []);
  if (cells.some((cell) => cell.tagName === 'th')) return;
  for (const cell of rows.find((row) => row.tagName === 'tr')?.children ?? []) {
    if (cell.tagName === 'td') cell.tagName = 'th';
  }
}

/** A link's text is content; its address, often longer than the text, is not. Pictures leave their description. */
function keepOnlyText(node: TreeNode, marks: PictureMarks | null): void {
  // A node that has no children must not get the property: whatever walks the tree goes by it.
  if (node.children === undefined) return;
  const children = node.children.flatMap((child) => {
    keepOnlyText(child, marks);
    if (child.type === 'link') return child.children ?? [];
    if (child.type !== 'image') return [child];
    return [{ type: 'text', value: pictureText(child, marks) }];
  });
  node.children = node.type === 'heading' || node.type === 'tableCell' ? inOneLine(children) : children;
}

/** What Markdown has within a line. */
const PHRASING = new Set('text emphasis strong delete inlineCode html'.split(' '));

/** Headings and cells are one line: paragraphs and lists in them are set off by a space. */
function inOneLine(nodes: readonly TreeNode[]): TreeNode[] {
  const line: TreeNode[] = [];
  let apart = false;
  for (const node of nodes) {
    const inLine = PHRASING.has(node.type);
    const shown = inLine
      ? [node]
      : node.value === undefined
        ? inOneLine(node.children ?? [])
        : [textOf(node)];
    apart ||= !inLine;
    if (shown.length === 0) continue;
    if (apart && line.length > 0) line.push({ type: 'text', value: ' ' });
    line.push(...shown);
    apart = !inLine;
  }
  return line;
}

function textOf({ value = '' }: TreeNode): TreeNode {
  return {
    type: 'text',
    value: value.replace(/\s+/g, ' '),
  };
}

/** What is left of a picture: its description, and the mark where it was taken out, or where it stood as a data URI. */
function pictureText({ alt, url = '' }: TreeNode, marks: PictureMarks | null): string {
  if (isShortenedUri(url)) return `![${alt ?? ''}](${url})`;
  return (alt ?? '') + (marks !== null && url.startsWith(marks.name) ? url : '');
}

/** The flat reader sees no attributes: marks are put in the place of their tags. */
function withoutMarkedTags(html: string, marks: PictureMarks | null): string {
  const shortened = withMarksAsText(html);
  if (marks === null || !html.includes(marks.name)) return shortened;
  const tag = new RegExp(String.raw`<img\b[^>]{0,2000}?(${marks.name}:\d+:)[^>]{0,2000}>`, 'gi');
  return shortened.replace(tag, ' $1 ');
}

function plainText(node: TreeNode): string {
  if (node.value !== undefined) return node.value;
  if (node.type === 'break') return ' ';
  return (node.children ?? []).map(plainText).join('');
}
