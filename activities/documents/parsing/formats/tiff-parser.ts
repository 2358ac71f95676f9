import { AppError } from '../../../../schemas/app-error.js';
import { createPageRecogniser } from '../ocr/page-recogniser.js';
import { putFirst } from '../ocr/tiff-pages.js';
import type { TiffPage, TiffPages } from '../ocr/tiff-pages.js';
import type { ParseLimits } from '../parse-limits.js';
import type { ParseNotes } from '../parse-notes.js';
import { NO_MODEL_TAKES_IT } from '../pictures/picture-collector.js';
import type { PictureCollector } from '../pictures/picture-collector.js';
import type { Section } from '../section.js';
import { cleanText } from '../../../text/clean-text.js';

export interface TiffSource {
  path: string;
  limits: ParseLimits;
  notes: ParseNotes;
  pictures?: PictureCollector | undefined;
  /** The error of a picture beyond a limit. */
  tooLarge(limit: 'maxPixels' | 'maxPages', found?: number): AppError;
  /** Told of a file of several pages. */
  onPages(pages: { done: number; total: number }): void;
}

/** Pages that are named in one sentence of the report. */
const MAX_NAMED = 20;

/**
 * The pages of a TIFF by OCR, one after the other. What is left out of a file of which something was read stands in
 * the report.
 * @param bytes are changed: the page that is read is made their first
 * @throws AppError FILE_CORRUPT, FILE_TOO_COMPLEX where no page can be read; UNSUPPORTED_CONTENT
 */
export async function* parseTiff(
  bytes: Buffer,
  { pages, isBroken }: TiffPages,
  { path, limits, notes, pictures, tooLarge, onPages }: TiffSource,
): AsyncGenerator<Section> {
  const total = pages.length;
  if (total > limits.maxPages) throw tooLarge('maxPages');
  if (total === 0) throw damaged();
  const recogniser = createPageRecogniser({ path, limits, notes });
  const failures = createFailures();
  let read = 0;
  const room = Math.max(1, limits.maxOcrPages - notes.ocrPages);
  const readPage = async (page: TiffPage, number: number): Promise<string | null> => {
    const pixels = page.width * page.height;
    if (pixels > limits.maxPixels) {
      failures.add('large', number, tooLarge('maxPixels', pixels));
      return null;
    }
    try {
      if (pixels === 0) throw damaged();
      putFirst(bytes, page);
      const { text, confidence } = await recogniser.read(bytes, number);
      notes.recognise(confidence);
      read += 1;
      return text;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'FILE_CORRUPT') throw error;
      failures.add('damaged', number, error);
      return null;
    }
  };
  const reasonToStop = (done: number): string | null => {
    const left = `${total - done} of ${total} pages were left out`;
    if (done >= room) return `${left}: at most ${limits.maxOcrPages} pages of a file are read by OCR.`;
    return done === 0 || recogniser.hasTime()
      ? null
      : `${left}: there was no time to read all of them by OCR.`;
  };
  const several = total > 1;
  if (several) onPages({ done: 0, total });
  for (const [index, page] of pages.entries()) {
    const stopped = reasonToStop(index);
    if (stopped !== null) {
      notes.degrade(stopped);
      break;
    }
    const text = await readPage(page, index + 1);
    if (several) onPages({ done: index + 1, total });
    if (text !== null && text !== '')
      yield { headingPath: [], page: several ? index + 1 : null, kind: 'text', text: cleanText(text) };
  }
  if (read === 0) throw failures.first();
  failures.report(notes, total);
  if (isBroken)
    notes.degrade(`The file's list of pages is damaged behind page ${total}; there may have been more.`);
  pages.forEach(() => pictures?.leaveOut(NO_MODEL_TAKES_IT));
}

function damaged(): AppError {
  return new AppError('FILE_CORRUPT', 'The picture is damaged and cannot be read.');
}

/** Pages that could not be read. */
function createFailures() {
  const numbers = { large: [] as number[], damaged: [] as number[] };
  let first: AppError | null = null;
  const say = (of: readonly number[], total: number, what: string): string => {
    const named = of.slice(0, MAX_NAMED).join(', ') + (of.length > MAX_NAMED ? ', …' : '');
    return `${of.length} of ${total} pages ${what}: ${named}.`;
  };
  return {
    add(why: keyof typeof numbers, page: number, error: AppError): void {
      numbers[why].push(page);
      first ??= error;
    },
    first: (): AppError => first ?? damaged(),
    report(notes: ParseNotes, total: number): void {
      if (numbers.large.length > 0)
        notes.degrade(say(numbers.large, total, 'have more pixels than are allowed and were left out'));
      if (numbers.damaged.length > 0)
        notes.degrade(say(numbers.damaged, total, 'are damaged and were left out'));
    },
  };
}
