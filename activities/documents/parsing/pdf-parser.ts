import { readFile } from 'node:fs/promises';
import type { ParsedPage } from '@llamaindex/liteparse';
import { AppError } from '../../../schemas/app-error.js';
import { createHeadingPath } from './heading-path.js';
import { isReadWrongly, toPageBlocks } from './pdf-page.js';
import type { PageBlock } from './pdf-page.js';
import { openPageReader } from './pdfjs-page-reader.js';
import type { PageReader } from './pdfjs-page-reader.js';
import { openPagePictures } from './pictures/pdf-pictures.js';
import type { PagePicture, PagePictures } from './pictures/pdf-pictures.js';
import type { PictureCollector } from './pictures/picture-collector.js';
import { openFileBytes } from './random-access-bytes.js';
import { createRepeatedLines } from './repeated-lines.js';
import type { EdgeLine } from './repeated-lines.js';
import type { Section } from './section.js';
import { cleanText } from './text-encoding.js';

/** Pages read at once: 4,000 pages took 229 MB so, and 2.1 GB in one go. */
const BATCH = 50;
/** The outer parts of a page, where running headers and footers stand. */
const EDGE = 0.08;

interface PdfOptions {
  maxPages: number;
  onPages(done: number, total: number): void;
  /** Takes the raster pictures; without it none are looked for. */
  pictures?: PictureCollector | undefined;
}

/**
 * Reads a PDF page by page. Runs native code that may hang, crash or eat memory on hostile input: call it only in a
 * parser process that is watched.
 * @throws AppError FILE_ENCRYPTED, FILE_CORRUPT, FILE_TOO_COMPLEX (more than `maxPages`)
 */
export async function* parsePdf(path: string, options: PdfOptions): AsyncGenerator<Section> {
  const input = await pdfInput(path);
  const headings = createHeadingPath();
  const repeated = createRepeatedLines();
  let fallback: PageReader | null = null;
  let pictures: PagePictures | null = null;
  const picturesOf = async (page: ParsedPage): Promise<PagePicture[]> => {
    if (options.pictures === undefined || !showsPictures(page)) return [];
    if (options.pictures.full) {
      options.pictures.leaveOut();
      return [];
    }
    pictures ??= await openPagePictures(new Uint8Array(await readFile(path)), options.pictures);
    return pictures.ofPage(page.pageNum);
  };
  try {
    for await (const batch of readBatches(input, options.maxPages)) {
      const pages = batch.pages.map((page) => ({ page, blocks: toPageBlocks(page) }));
      repeated.learn(
        pages.flatMap(({ page, blocks }) => blocks.flatMap((block) => edgeLine(page.pageNum, block))),
      );
      for (const { page, blocks } of pages) {
        const waiting = await picturesOf(page);
        /** Those that stand above a place on the page. */
        const picturesAbove = function* (height: number): Generator<Section> {
          while (waiting.length > 0 && waiting[0]!.height <= height)
            yield {
              ...{ headingPath: headings.current(), page: page.pageNum, kind: 'text', text: '' },
              picture: waiting.shift()!.picture,
            };
        };
        if (isReadWrongly(page, blocks)) {
          fallback ??= await openPageReader(new Uint8Array(await readFile(path)));
          const text = (await fallback.readPage(page.pageNum)) ?? page.text;
          yield { headingPath: headings.current(), page: page.pageNum, text: cleanText(text), kind: 'text' };
          yield* picturesAbove(Infinity);
          continue;
        }
        for (const block of blocks) {
          if (edgeLine(page.pageNum, block).some((line) => repeated.repeats(line))) continue;
          if (block.height !== null) yield* picturesAbove(block.height);
          const opens = block.kind === 'heading';
          const text = cleanText(block.text);
          if (opens) headings.open(block.level, text);
          yield {
            headingPath: headings.current(),
            page: page.pageNum,
            text: opens ? `${'#'.repeat(Math.min(6, block.level))} ${text}` : text,
            kind: block.kind === 'heading' ? 'text' : block.kind,
            opens,
          };
        }
        yield* picturesAbove(Infinity);
      }
      options.onPages(batch.endPage, batch.totalPages);
    }
  } finally {
    await fallback?.close();
    await (pictures as PagePictures | null)?.close();
  }
}

/** Whether the page has any raster picture: asking pdf.js costs more than reading the page. */
function showsPictures({ complexity }: ParsedPage): boolean {
  return complexity === undefined || complexity.imageBlockCount > 0 || complexity.fullPageImage;
}

function edgeLine(page: number, block: PageBlock): EdgeLine[] {
  const { height } = block;
  if (height === null || (height > EDGE && height < 1 - EDGE)) return [];
  if (block.kind !== 'text' && block.kind !== 'heading') return [];
  return [{ page, text: block.text, height, heading: block.kind === 'heading' }];
}

async function* readBatches(
  input: string | Buffer,
  maxPages: number,
): AsyncGenerator<{ pages: ParsedPage[]; endPage: number; totalPages: number }> {
  const { LiteParse } = await import('@llamaindex/liteparse');
  const reader = new LiteParse({
    // Its own removal drops body text; ours is in repeated-lines.ts.
    keepHeadersFooters: true,
    // On by default, and it would try to download its models.
    ocrEnabled: false,
    maxPages: 1e6,
    imageMode: 'off',
    extractLinks: false,
    quiet: true,
    continueOnPageError: true,
    includeComplexity: true,
    extractBlocks: true,
    outputFormat: 'markdown',
  });
  let failed = 0;
  let totalPages = 0;
  try {
    for await (const { result, endPage, totalPages: total } of reader.parseBatches(input, {
      batchSize: BATCH,
    })) {
      totalPages = total;
      if (total > maxPages) {
        const message = `The document has ${total} pages; at most ${maxPages} are read.`;
        throw new AppError('FILE_TOO_COMPLEX', message, {
          details: { limit: 'pages', max: maxPages, found: total },
        });
      }
      failed += result.pageErrors.length;
      yield { pages: result.pages, endPage, totalPages };
    }
  } catch (error) {
    throw namedError(error);
  }
  if (totalPages === 0 || failed === totalPages)
    throw new AppError('FILE_CORRUPT', 'No page of the PDF can be read.');
}

function namedError(error: unknown): unknown {
  const message = error instanceof Error ? error.message : String(error);
  if (/password/i.test(message)) return new AppError('FILE_ENCRYPTED', undefined, { cause: error });
  if (/^PDF error|invalid PDF/i.test(message))
    return new AppError('FILE_CORRUPT', undefined, { cause: error });
  return error;
}

/**
 * What liteparse may be given: it hands bytes without a signature to converters, and does not look beyond the first
 * 1024 bytes for one. A file that ends before its end mark is cut off, and would be indexed in part.
 */
async function pdfInput(path: string): Promise<string | Buffer> {
  const file = await openFileBytes(path);
  try {
    const head = await file.read(0, Math.min(file.size, 8192));
    const start = head.indexOf('%PDF-');
    if (start < 0) throw new AppError('FILE_CORRUPT', 'The file has no PDF signature.');
    const tail = await file.read(Math.max(0, file.size - 65_536), file.size);
    const linearized = /\/Linearized[^>]{0,200}?\/L\s+(\d+)/.exec(head.toString('latin1'))?.[1];
    const cutOff = !tail.includes('%%EOF') && !tail.includes('startxref');
    if (cutOff || (linearized && file.size - start < Number(linearized)))
      throw new AppError('FILE_CORRUPT', 'The PDF is cut off before its end.');
    return start <= 1000 ? path : (await readFile(path)).subarray(start);
  } finally {
    await file.close();
  }
}
