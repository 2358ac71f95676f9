import type { ParsedPage } from '@llamaindex/liteparse';
import { AppError } from '../../../../schemas/app-error.js';
import type { ParseLimits } from '../parse-limits.js';
import type { ParseNotes } from '../parse-notes.js';
import { createPageRecogniser } from './page-recogniser.js';

/** Enough for letters of 6 points. */
const DPI = 200;
const POINTS_PER_INCH = 72;
/** A stamp or a page number over a scan is no text layer. */
const FEW_LETTERS = 24;
/** Of a page's height, at the top and at the bottom: where the marks of faxes, signatures and courts stand. */
const EDGE = 0.08;

export interface ScannedPages {
  /** The text of a page that is only a picture; null where it is not, or is not read. */
  read(page: ParsedPage): Promise<string | null>;
}

export type OcrLimits = Pick<ParseLimits, 'ocrLanguages' | 'maxOcrPages' | 'maxPixels' | 'timeoutMs'>;

/**
 * Reads pages of a PDF that hold a picture of the whole page and no text of their own.
 * @param path of the document: its directory takes what OCR needs at its start
 */
export function createScannedPages(
  input: string | Buffer,
  { path, limits, notes }: { path: string; limits: OcrLimits; notes: ParseNotes },
): ScannedPages {
  const recogniser = createPageRecogniser({ path, limits, notes });
  let failed = false;

  const mayRead = (page: ParsedPage): boolean => {
    if (failed) return false;
    if (limits.ocrLanguages.length === 0) {
      // One without any text is counted as such.
      if (letters(page.text) >= FEW_LETTERS)
        notes.degrade('Scanned pages with a line of text at their edge were not read: OCR is off.');
      return false;
    }
    if (notes.ocrPages >= limits.maxOcrPages) {
      notes.degrade(`At most ${limits.maxOcrPages} scanned pages are read by OCR; the others were left out.`);
      return false;
    }
    if (recogniser.hasTime()) return true;
    notes.degrade('Scanned pages were left out: there was no time to read all of them by OCR.');
    return false;
  };

  const readPage = async (page: ParsedPage): Promise<string | null> => {
    const { LiteParse } = await import('@llamaindex/liteparse');
    const inches = (page.width * page.height) / POINTS_PER_INCH ** 2;
    const dpi = Math.floor(Math.min(DPI, Math.sqrt(limits.maxPixels / inches)));
    if (dpi < 1) return null;
    const [shot] = await new LiteParse({ ocrEnabled: false, quiet: true, dpi }).screenshot(input, [
      page.pageNum,
    ]);
    if (shot === undefined) return null;
    const { text, confidence } = await recogniser.read(shot.imageBuffer, page.pageNum);
    notes.recognise(confidence);
    const whole = withMissingLines(text, page.text);
    return letters(whole) > letters(page.text) ? whole : null;
  };

  return {
    async read(page) {
      if (!isScanned(page) || !mayRead(page)) return null;
      try {
        return await readPage(page);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        // What is missing for one page is missing for all; a damaged one is one.
        failed = error.code === 'UNSUPPORTED_CONTENT';
        notes.degrade(failed ? error.message : `OCR could not read page ${page.pageNum}.`);
        return null;
      }
    },
  };
}

function isScanned({ complexity, textItems, height }: ParsedPage): boolean {
  if (complexity?.fullPageImage !== true) return false;
  const inside = textItems.filter((item) => {
    const middle = (item.y + item.height / 2) / height;
    return middle > EDGE && middle < 1 - EDGE;
  });
  return letters(inside.map(({ text }) => text).join(' ')) < FEW_LETTERS;
}

/** What OCR read, behind those lines of the page's own text that it did not read. */
function withMissingLines(recognised: string, own: string): string {
  const known = signsOf(recognised);
  const missing = own
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => letters(line) > 0 && !known.includes(signsOf(line)));
  return missing.length === 0 ? recognised : `${missing.join('\n')}\n\n${recognised}`;
}

function signsOf(text: string): string {
  return (text.match(/[\p{L}\p{N}]/gu) ?? []).join('').toLowerCase();
}

function letters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}
