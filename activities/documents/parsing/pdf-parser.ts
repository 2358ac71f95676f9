import { readFile } from 'node:fs/promises';
import type { ParsedPage } from '@llamaindex/liteparse';
import { AppError } from '../../../schemas/app-error.js';
import { createHeadingPath } from './heading-path.js';
import { createWordJoiner } from './kerned-words.js';
import { createScannedPages } from './ocr/scanned-pages.js';
import type { OcrLimits } from './ocr/scanned-pages.js';
import type { ParseLimits } from './parse-limits.js';
import type { ParseNotes } from './parse-notes.js';
import { mapsBeyondBmp } from './pdf-astral.js';
import { mayHideText } from './pdf-hidden-scan.js';
import { isReadWrongly, toPageBlocks } from './pdf-page.js';
import type { PageBlock, PageNote } from './pdf-page.js';
import { repairCutOff } from './pdf-repair.js';
import { layOutVisible, mayHide, seenByBoth } from './pdf-visible-page.js';
import { openPageReader } from './pdfjs-page-reader.js';
import type { PageReader } from './pdfjs-page-reader.js';
import { openPagePictures } from './pictures/pdf-pictures.js';
import type { PagePicture, PagePictures } from './pictures/pdf-pictures.js';
import type { PictureCollector } from './pictures/picture-collector.js';
import { openFileBytes } from './random-access-bytes.js';
import { createRepeatedLines } from './repeated-lines.js';
import type { EdgeLine, RepeatedLines } from './repeated-lines.js';
import type { Section } from './section.js';
import { cleanText } from '../../text/clean-text.js';

/** Pages read at once: 4,000 pages took 229 MB so, and 2.1 GB in one go. */
const BATCH = 50;
/** The outer parts of a page, where running headers and footers stand. */
const EDGE = 0.08;

interface PdfOptions {
  limits: OcrLimits & Pick<ParseLimits, 'maxPages'>;
  onPages(done: number, total: number): void;
  notes: ParseNotes;
  /** Takes the raster pictures; without it none are looked for. */
  pictures?: PictureCollector | undefined;
}

/**
 * Reads a PDF page by page. Runs native code that may hang, crash or eat memory on hostile input: call it only in a
 * parser process that is watched.
 * @throws AppError FILE_ENCRYPTED, FILE_CORRUPT, FILE_TOO_COMPLEX (too many pages)
 */
export async function* parsePdf(path: string, options: PdfOptions): AsyncGenerator<Section> {
  const { input, cutOff } = await pdfInput(path);
  const scanned = createScannedPages(input, { path, limits: options.limits, notes: options.notes });
  if (cutOff)
    options.notes.degrade('The PDF is cut off before its end: only what stands before that was read.');
  const headings = createHeadingPath();
  const repeated = createRepeatedLines();
  const cutRunning = createRunningCut(repeated);
  const joiner = createWordJoiner();
  const beyondBmp = await mapsBeyondBmp(path);
  const suspect = await mayHideText(path);
  let fallback: PageReader | null = null;
  let pictures: PagePictures | null = null;
  const bytes = async (): Promise<Uint8Array> =>
    new Uint8Array(typeof input === 'string' ? await readFile(input) : input);
  /** pdf.js cannot open the file, which the main reader could. */
  let isUnknown = false;
  const pdfjs = async (): Promise<PageReader | null> => {
    if (isUnknown) return null;
    fallback ??= await openPageReader(await bytes()).catch(() => null);
    isUnknown = fallback === null;
    return fallback;
  };
  const picturesOf = async (page: ParsedPage): Promise<PagePicture[]> => {
    const passOver = (): PagePicture[] => {
      options.notes.passPictures(page.complexity?.imageBlockCount ?? 0);
      return [];
    };
    if (options.pictures === undefined) return passOver();
    if (!showsPictures(page)) return [];
    if (options.pictures.full) {
      options.pictures.leaveOut();
      return [];
    }
    if (isUnknown) return passOver();
    pictures ??= await openPagePictures(await bytes(), options.pictures).catch(() => null);
    isUnknown = pictures === null;
    return (await pictures?.ofPage(page.pageNum)) ?? passOver();
  };
  /** A page without what its readers do not see, and how many characters that is. */
  const seen = async (page: ParsedPage): Promise<{ page: ParsedPage; hidden: number }> => {
    if (!mayHide(page, suspect)) return { page, hidden: 0 };
    const read = (await (await pdfjs())?.readVisible(page.pageNum, showsPictures(page))) ?? null;
    const visible = read && seenByBoth(page, read);
    const hidden = visible?.hidden ?? 0;
    options.notes.hide(hidden);
    return { page: visible === null || hidden === 0 ? page : await layOutVisible(page, visible), hidden };
  };
  /** The blocks of a page, or its plain text where liteparse reads it wrongly. */
  const readPage = async (
    read: ParsedPage,
  ): Promise<{ page: ParsedPage; blocks: PageBlock[]; plain?: string }> => {
    const recognised = await scanned.read(read);
    if (recognised !== null) return { page: read, blocks: [], plain: recognised };
    const { page, hidden } = await seen(read);
    const notes = await notesOf(
      page,
      async (number) => (await (await pdfjs())?.readAppearances(number)) ?? [],
    );
    const blocks = isReadWrongly(page) ? null : toPageBlocks(page, notes);
    if (blocks !== null && (!beyondBmp || hidden > 0)) return { page, blocks };
    const plain = hidden > 0 ? page.text : ((await (await pdfjs())?.readPage(page.pageNum)) ?? null);
    if (blocks !== null && (plain === null || !BEYOND_BMP.test(plain))) return { page, blocks };
    const written = notes.map(({ text }) => `\n\n${text}`);
    return { page, blocks: [], plain: (plain ?? page.text) + written.join('') };
  };
  try {
    for await (const batch of readBatches(input, options)) {
      const pages: Awaited<ReturnType<typeof readPage>>[] = [];
      for (const page of batch.pages) pages.push(await readPage(page));
      const join = joiner.learn(batch.pages.flatMap(({ textItems }) => textItems));
      repeated.learn(
        pages.flatMap(({ page, blocks }) => blocks.flatMap((block) => edgeLine(page.pageNum, block))),
      );
      for (const { page, blocks, plain } of pages) {
        options.onPages(page.pageNum, batch.totalPages);
        const waiting = await picturesOf(page);
        /** Those that stand above a place on the page. */
        const picturesAbove = function* (height: number): Generator<Section> {
          while (waiting.length > 0 && waiting[0]!.height <= height)
            yield {
              headingPath: headings.current(),
              page: page.pageNum,
              kind: 'text',
              text: '',
              picture: waiting.shift()!.picture,
            };
        };
        if (plain !== undefined) {
          yield { headingPath: headings.current(), page: page.pageNum, text: cleanText(plain), kind: 'text' };
          yield* picturesAbove(Infinity);
          continue;
        }
        const { kept, running, dropped } = cutRunning(page.pageNum, blocks);
        options.notes.drop(dropped);
        if (running !== '')
          yield { headingPath: headings.current(), page: page.pageNum, text: join(running), kind: 'text' };
        for (const block of kept) {
          if (block.height !== null) yield* picturesAbove(block.height);
          const opens = block.kind === 'heading';
          const text = cleanText(block.kind === 'code' ? block.text : join(block.text));
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
    await (fallback as PageReader | null)?.close();
    await (pictures as PagePictures | null)?.close();
  }
}

const BEYOND_BMP = /[\u{10000}-\u{10FFFF}]/u;

/** What was written onto a page with a reader's tools and belongs to what it shows. */
const WRITTEN_ON = new Set(['freetext', 'stamp']);

function oneLine(text: string | undefined): string {
  return text?.replace(/\s+/g, ' ').trim() ?? '';
}

/** @param appearances reads what the page's annotations show, for those that do not say it themselves */
async function notesOf(
  { annotations = [], text, pageNum, height }: ParsedPage,
  appearances: (page: number) => ReturnType<PageReader['readAppearances']>,
): Promise<PageNote[]> {
  const written = annotations.filter(({ subtype }) => WRITTEN_ON.has(subtype.toLowerCase()));
  if (written.length === 0) return [];
  const isSilent = written.some(({ contents }) => oneLine(contents) === '');
  const shown = isSilent ? await appearances(pageNum) : [];
  const known = oneLine(text);
  return written.flatMap(({ contents, rect }) => {
    const box = rect ?? { x: 0, y: 0, width: 0, height: 0 };
    const drawn = shown.find(
      ({ rect: [x, , , top] }) => Math.abs(x - box.x) < 2 && Math.abs(height - top - box.y) < 2,
    );
    const words = oneLine(contents) || (drawn?.text ?? '');
    return words === '' || known.includes(words) ? [] : [{ text: words, box }];
  });
}

/** Whether the page has any raster picture: asking pdf.js costs more than reading the page. */
function showsPictures({ complexity }: ParsedPage): boolean {
  return complexity === undefined || complexity.imageBlockCount > 0 || complexity.fullPageImage;
}

/**
 * Parts what stands on a page by itself from running headers and footers; of these remains what no page before has
 * shown, such as names and numbers of contracts. That goes in front of the page, where it parts no sentence. The title
 * of pages that follow each other stands on the first of them.
 */
function createRunningCut(
  repeated: RepeatedLines,
): (page: number, blocks: readonly PageBlock[]) => { kept: PageBlock[]; running: string; dropped: number } {
  /** The last heading at the edge of a page. */
  let title = '';
  return (page, blocks) => {
    const kept: PageBlock[] = [];
    const running: string[] = [];
    let dropped = 0;
    for (const block of blocks) {
      const line = edgeLine(page, block)[0];
      const repeats = line !== undefined && repeated.repeats(line);
      const isTitle = line?.heading === true && (!repeats || repeated.isTitle(line));
      if (!repeats || (isTitle && title !== block.text)) kept.push(block);
      else if (!isTitle && repeated.takeFirst(line)) running.push(cleanText(block.text));
      else dropped += block.text.length;
      if (isTitle) title = block.text;
    }
    return { kept, running: running.join('\n'), dropped };
  };
}

function edgeLine(page: number, block: PageBlock): EdgeLine[] {
  const { height } = block;
  if (height === null || (height > EDGE && height < 1 - EDGE)) return [];
  if (block.kind !== 'text' && block.kind !== 'heading') return [];
  return [{ page, text: block.text, height, heading: block.kind === 'heading' }];
}

async function* readBatches(
  input: string | Buffer,
  { limits: { maxPages }, notes }: Pick<PdfOptions, 'limits' | 'notes'>,
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
    extractAnnotations: true,
    emitWordBoxes: true,
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
        const message = `The document has ${total} pages; at most ${maxPages} are read. Split it into several files.`;
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
  if (failed > 0 && failed < totalPages)
    notes.degrade(`${failed} of ${totalPages} pages are damaged and were not read.`);
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

/** The length of the whole file that the first object of a linearized one names (ISO 32000-1, annex F.3.3); else 0. */
function linearizedLength(head: string): number {
  const from = head.indexOf('/Linearized');
  if (from < 0) return 0;
  const dictionary = head.slice(from, from + 256).split('>', 1)[0]!;
  return Number(/\/L\s{1,16}(\d{1,15})/.exec(dictionary)?.[1] ?? 0);
}

/**
 * What liteparse may be given: it hands bytes without a signature to converters, and does not look beyond the first
 * 1024 bytes for one. A file that ends before its end mark is cut off; it is read as far as it goes.
 */
export async function pdfInput(path: string): Promise<{ input: string | Buffer; cutOff: boolean }> {
  const file = await openFileBytes(path);
  try {
    const head = await file.read(0, Math.min(file.size, 8192));
    const start = head.indexOf('%PDF-');
    if (start < 0) throw new AppError('FILE_CORRUPT', 'The file has no PDF signature.');
    const tail = await file.read(Math.max(0, file.size - 65_536), file.size);
    const cutOff =
      (!tail.includes('%%EOF') && !tail.includes('startxref')) ||
      file.size - start < linearizedLength(head.toString('latin1'));
    if (!cutOff && start <= 1000) return { input: path, cutOff };
    const bytes = (await readFile(path)).subarray(start);
    return { input: cutOff ? repairCutOff(bytes) : bytes, cutOff };
  } finally {
    await file.close();
  }
}
