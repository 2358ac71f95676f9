import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import type { VisibleText } from './pdf-visible-text.js';

/** In points, of a word's box, which is higher than its letters. */
const TINY = 1.3;

/**
 * Whether a page is worth a look at what it hides: one of a file that may (`mayHideText`), or with letters that are too
 * small to be read. A picture of the whole page lies under the text layer of a scan.
 */
export function mayHide({ complexity, textItems }: ParsedPage, suspect: boolean): boolean {
  if (complexity?.fullPageImage === true) return false;
  return suspect || textItems.some(hasTinyLetters);
}

function hasTinyLetters({ height, words = [] }: TextItem): boolean {
  return height < TINY || words.some((word) => word.height < TINY);
}

/**
 * What can be seen where pdf.js finds no text at all on a page that has some: viewers differ on it, by a stream that
 * says that it is a picture and is drawn by some all the same, say. What annotations show is not asked of pdf.js.
 */
export function seenByBoth({ textItems, annotations = [] }: ParsedPage, visible: VisibleText): VisibleText {
  if (visible.items.length > 0 || visible.hidden > 0) return visible;
  const isAnnotation = ({ x, y, width, height }: TextItem): boolean => {
    const [across, down] = [x + width / 2, y + height / 2];
    return annotations.some(
      ({ rect }) =>
        rect !== undefined &&
        across >= rect.x &&
        across <= rect.x + rect.width &&
        down >= rect.y &&
        down <= rect.y + rect.height,
    );
  };
  const items = textItems.filter(isAnnotation);
  const lengthOf = (some: readonly TextItem[]): number =>
    some.reduce((sum, { text }) => sum + text.length, 0);
  return { ...visible, items, hidden: lengthOf(textItems) - lengthOf(items) };
}

/** A page of what can be seen alone, laid out anew. Its drawings are not known: tables may be read as lines. */
export async function layOutVisible(
  page: ParsedPage,
  { items, width, height }: VisibleText,
): Promise<ParsedPage> {
  const { LiteParse } = await import('@llamaindex/liteparse');
  const layout = new LiteParse({
    quiet: true,
    keepHeadersFooters: true,
    extractBlocks: true,
    outputFormat: 'markdown',
  });
  const input = { pageNumber: page.pageNum, pageWidth: width, pageHeight: height, textItems: items };
  const [laidOut] = layout.parsePages([input]).pages;
  const text = inDrawnOrder(items);
  return { ...page, textItems: items, blocks: laidOut?.blocks ?? [], text };
}

/** Right-to-left and East Asian text is read so, and not by its layout. */
function inDrawnOrder(items: readonly TextItem[]): string {
  let text = '';
  let last: TextItem | null = null;
  for (const item of items) {
    const sameLine = last !== null && Math.abs(last.y - item.y) < Math.max(last.height, item.height) / 2;
    if (last !== null) text += sameLine ? ' ' : '\n';
    text += item.text;
    last = item;
  }
  return text;
}
