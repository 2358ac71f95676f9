import { writeFile } from 'node:fs/promises';
import type { ParsedPage } from '@llamaindex/liteparse';
import { AppError } from '../../../schemas/app-error.js';
import { markPassage } from './mark-passage.js';
import type { ReadDocument } from './parser-messages.js';
import { pdfInput } from './pdf-parser.js';

/** A4 as a screen shows it; larger pages are drawn with fewer dots. */
const DPI = 150;
const POINTS_PER_INCH = 72;

function dpiOf({ width, height }: ParsedPage, maxPixels: number): number {
  const inches = (width * height) / POINTS_PER_INCH ** 2;
  return Math.max(1, Math.floor(Math.min(DPI, Math.sqrt(maxPixels / inches))));
}

/**
 * Draws one page of a PDF into a PNG file, and finds where a passage stands on it. Runs native code: call it only in a
 * parser process.
 * @throws AppError FILE_ENCRYPTED and FILE_CORRUPT as `parsePdf`, NOT_FOUND for a page that is not there
 */
export async function drawPage(job: {
  path: string;
  outputPath: string;
  limits: { maxPixels: number };
  output: { page: number; passage: string };
}): Promise<ReadDocument> {
  const { page: number, passage } = job.output;
  const { input } = await pdfInput(job.path);
  const { LiteParse } = await import('@llamaindex/liteparse');
  const common = { ocrEnabled: false, quiet: true } as const;
  const read = await new LiteParse({
    ...common,
    targetPages: String(number),
    imageMode: 'off',
    extractLinks: false,
    emitWordBoxes: true,
  })
    .parse(input)
    .catch((error: unknown) => {
      throw new AppError('FILE_CORRUPT', 'The page of the PDF cannot be read.', { cause: error });
    });
  const page = read.pages.find(({ pageNum }) => pageNum === number);
  if (page === undefined) throw new AppError('NOT_FOUND', `There is no page ${number}`, { plain: true });
  const dpi = dpiOf(page, job.limits.maxPixels);
  const [shot] = await new LiteParse({ ...common, dpi }).screenshot(input, [number]);
  if (shot === undefined) throw new AppError('FILE_CORRUPT', 'The page of the PDF cannot be drawn.');
  await writeFile(job.outputPath, shot.imageBuffer);
  return {
    chunkCount: 0,
    tokens: 0,
    characters: 0,
    pages: read.totalPages,
    outputPath: job.outputPath,
    picture: { width: shot.width, height: shot.height, marks: markPassage(page, passage) },
    report: NOTHING_READ,
  };
}

const NOTHING_READ: ReadDocument['report'] = {
  parser: 'liteparse',
  parser_version: null,
  pages: null,
  pages_without_text: null,
  pages_by_ocr: 0,
  ocr_confidence: null,
  pictures: null,
  encoding: null,
  tables: 0,
  characters: 0,
  characters_dropped: 0,
  degraded: false,
  reasons: [],
  warnings: [],
};
