import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { createHeadingPath } from './heading-path.js';
import { readMarkdownBlocks } from './markdown-blocks.js';
import { shortenDataUris } from './shorten-data-uris.js';
import type { Section } from './section.js';
import type { DecodedText } from './text-encoding.js';
import { toLines } from './text-lines.js';

const titleReader = unified().use(remarkParse).use(remarkGfm);
const MAX_TITLE_LENGTH = 1000;
/** Most titles hold no markup, and parsing each took a hundred times as long as reading the rest. */
const PLAIN_TITLE =
  /^(?: {0,3}#{1,6}[ \t]+(?![ \t])([^*_`[\]<>&\\~!:#@\n]*)|([^*_`[\]<>&\\~!:#@\n]*)\n *[=-]+[ \t]*)\n?$/;

/**
 * Markdown as sections of its own source text, cut at its headings; tables and code apart. Pictures and other files
 * that stand in it as data URIs leave a mark. Constant memory.
 */
export async function* parseMarkdown(text: DecodedText): AsyncGenerator<Section> {
  const headings = createHeadingPath();
  let knownUntil = Infinity;
  const fragments = shortenDataUris(text.fragments(), (position) => void (knownUntil = position));
  for await (const block of readMarkdownBlocks(toLines(fragments))) {
    const opens = block.kind === 'heading';
    if (opens) headings.open(block.level ?? 1, titleOf(block.text));
    const kind = block.kind === 'heading' ? 'text' : block.kind;
    yield {
      headingPath: headings.current(),
      page: null,
      text: block.text,
      kind,
      opens,
      continues: block.continues === true,
      // Behind a mark the places in the source are other ones.
      ...(block.charStart + block.text.length <= knownUntil && { charStart: block.charStart }),
    };
  }
}

/** The title without its Markdown: "## The *mesh* of `x`" → "The mesh of x". */
function titleOf(source: string): string {
  if (source.length > MAX_TITLE_LENGTH) return source.slice(0, MAX_TITLE_LENGTH);
  const plain = PLAIN_TITLE.exec(source);
  if (plain) return plain[1] ?? plain[2] ?? '';
  return plainText(titleReader.parse(source));
}

interface TextNode {
  value?: string;
  alt?: string | null;
  children?: unknown[];
}

function plainText(node: TextNode): string {
  return (
    node.value ?? node.alt ?? (node.children ?? []).map((child) => plainText(child as TextNode)).join('')
  );
}
