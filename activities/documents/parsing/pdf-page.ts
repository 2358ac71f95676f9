import type { LayoutBlock, ParsedPage } from '@llamaindex/liteparse';
import type { SectionKind } from './section.js';

/** A block of a page with what its reader found out about it. */
export interface PageBlock {
  kind: SectionKind | 'heading';
  text: string;
  /** 1 to 6, of a heading. */
  level: number;
  /** Middle of the block from the top, as a part of the page's height; null when it has no box. */
  height: number | null;
}

/** The blocks of a page as Markdown, in reading order. */
export function toPageBlocks(page: ParsedPage): PageBlock[] {
  return (page.blocks ?? []).flatMap((block) => {
    const shown = show(block);
    if (shown.text.trim() === '') return [];
    const height = block.bbox ? (block.bbox.y + block.bbox.height / 2) / page.height : null;
    return [{ level: block.level ?? 1, height, ...shown }];
  });
}

function show(block: LayoutBlock): { kind: PageBlock['kind']; text: string } {
  const text = block.text ?? '';
  const lines = block.lines?.join('\n') ?? text;
  switch (block.kind) {
    case 'heading':
      return { kind: 'heading', text };
    case 'list_item':
      return {
        kind: 'text',
        text: `${'  '.repeat(Math.max(0, (block.level ?? 1) - 1))}${block.marker ?? '-'} ${text}`,
      };
    case 'code':
      return { kind: 'code', text: `\`\`\`${block.lang ?? ''}\n${lines}\n\`\`\`` };
    case 'table':
      return { kind: 'table', text: showTable(block) };
    default:
      return { kind: 'text', text: lines };
  }
}

function showTable(block: LayoutBlock): string {
  const row = (cells: { text: string }[]): string =>
    `| ${cells.map((cell) => cell.text.replace(/\s+/g, ' ').replace(/\|/g, '\\|')).join(' | ')} |`;
  const rows = (block.rows ?? []).map(row);
  if (!block.header) return rows.join('\n');
  return [row(block.header), `|${' --- |'.repeat(block.header.length)}`, ...rows].join('\n');
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/gu;

/**
 * Whether liteparse is known to read such a page wrongly: right-to-left words come reversed, digits go wrong beside
 * East Asian fonts that are not embedded, and turned text appears in the page's text but in no block.
 */
export function isReadWrongly(page: ParsedPage, blocks: PageBlock[]): boolean {
  const letters = count(page.text, LETTER_OR_DIGIT);
  if (letters === 0) return false;
  const rightToLeft = count(page.text, RIGHT_TO_LEFT) > letters * 0.05;
  const eastAsian = count(page.text, EAST_ASIAN) > letters * 0.1;
  const covered = blocks.reduce((sum, block) => sum + count(block.text, LETTER_OR_DIGIT), 0);
  return rightToLeft || eastAsian || covered < letters * 0.8;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
