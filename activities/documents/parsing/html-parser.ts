import rehypeParse from 'rehype-parse';
import rehypeRemark from 'rehype-remark';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';
import { createTableBound } from './bound-table.js';
import { createHeadingPath } from './heading-path.js';
import { parseFlatHtml } from './flat-html-parser.js';
import { INLINE_TAGS, nestsDeeperThan } from './html-tags.js';
import type { PictureMarks } from './pictures/picture-marks.js';
import { isShortenedUri, withMarksAsText } from './shorten-data-uris.js';
import type { Section } from './section.js';

/** The parts of a syntax tree node that are used here, of HTML and of Markdown trees alike. */
interface TreeNode {
  type: string;
  tagName?: string;
  depth?: number;
  value?: string;
  alt?: string;
  url?: string;
  children?: TreeNode[] | undefined;
}

/** Furniture of a web page, not its content. */
const DROPPED = new Set(
  'script style noscript template nav header footer aside form iframe object embed svg canvas head'.split(
    ' ',
  ),
);
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
      break: () => '\n',
      text: (node: { value: string }, _parent: unknown, state: { stack: string[] }) =>
        state.stack.includes('tableCell') ? node.value.replace(/\|/g, '\\|') : node.value,
    },
  });
/** Writing blocks one by one costs more than the blocks. */
const BLOCKS_AT_ONCE = 100;

/**
 * HTML as Markdown sections, cut at its headings. What nests too deep or is too large for a tree is read as a
 * flat stream of tags: all its text, with less structure.
 * @param marks where the source of an image is one of these, it is left in the text
 */
export function* parseHtml(
  html: string,
  maxNesting: number,
  marks: PictureMarks | null = null,
): Generator<Section> {
  if (html.length > MAX_TREE || nestsDeeperThan(html, maxNesting)) {
    yield* parseFlatHtml(withoutMarkedTags(html, marks));
    return;
  }
  let blocks: TreeNode[];
  try {
    blocks = toBlocks(html, marks);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // the stack: the depth was underestimated
    yield* parseFlatHtml(withoutMarkedTags(html, marks));
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

function toBlocks(html: string, marks: PictureMarks | null): TreeNode[] {
  const tree = reader.parse(html) as TreeNode;
  prune(tree, createTableBound());
  const markdown = toMarkdownTree.runSync(tree as never) as TreeNode;
  keepOnlyText(markdown, marks);
  return markdown.children ?? [];
}

/**
 * Drops furniture, and the white space between blocks: rehype-remark takes each such text out of a list by itself,
 * which took 20 s for 100,000 paragraphs.
 */
function prune(node: TreeNode, boundTable: (table: TreeNode) => void): void {
  if (!node.children || node.tagName === 'pre' || node.tagName === 'textarea') return;
  const kept = node.children.filter((child) => !DROPPED.has(child.tagName ?? '') && child.type !== 'comment');
  const isInline = (child: TreeNode | undefined): boolean =>
    child !== undefined && (child.type === 'text' || INLINE_TAGS.has(child.tagName ?? ''));
  node.children = kept.filter((child, i) => {
    const blank = child.type === 'text' && child.value!.trim() === '';
    return !blank || isInline(kept[i - 1]) || isInline(kept[i + 1]);
  });
  if (node.tagName === 'table') {
    headFirstRow(node);
    boundTable(node);
  }
  for (const child of node.children) prune(child, boundTable);
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
  node.children = node.children?.flatMap((child) => {
    keepOnlyText(child, marks);
    if (child.type === 'link') return child.children ?? [];
    if (child.type !== 'image') return [child];
    return [{ type: 'text', value: pictureText(child, marks) }];
  });
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
  return (node.children ?? []).map(plainText).join('');
}
