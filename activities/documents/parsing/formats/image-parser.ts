import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../../../../schemas/app-error.js';
import { imagePages, imageSize } from '../ocr/image-size.js';
import { recognise } from '../ocr/recognise.js';
import type { Nest, ParseSource } from '../parse-source.js';
import type { Section } from '../section.js';
import { cleanText } from '../text-encoding.js';
import { beyondLimit } from './limit-error.js';

/**
 * A picture by OCR: its text, which may be none. Of a file with several pictures, the first. Where pictures are
 * described, its place stands behind the text.
 * @throws AppError FILE_CORRUPT, FILE_TOO_COMPLEX, UNSUPPORTED_CONTENT when OCR is off
 */
export async function* parseImage({
  path,
  limits,
  nest,
  pictures,
}: ParseSource & { nest: Nest }): AsyncGenerator<Section> {
  const { notes } = nest;
  if (limits.ocrLanguages.length === 0)
    throw new AppError('UNSUPPORTED_CONTENT', 'Pictures are not read: OCR is off on this server.');
  if (nest.depth > 0 && notes.ocrPages >= limits.maxOcrPages)
    throw new AppError(
      'UNSUPPORTED_CONTENT',
      `At most ${limits.maxOcrPages} pictures of one document are read by OCR.`,
    );
  const bytes = await readBounded(path, limits.maxImageBytes, nest.depth);
  const size = imageSize(bytes);
  if (size === null) throw new AppError('FILE_CORRUPT', 'The picture is damaged and cannot be read.');
  const pixels = size.width * size.height;
  if (pixels > limits.maxPixels) throw tooLarge('maxPixels', limits.maxPixels, pixels, nest.depth);
  const { text, confidence } = await recognise(bytes, {
    languages: limits.ocrLanguages,
    scratch: dirname(path),
  });
  notes.recognise(confidence);
  const pages = imagePages(bytes);
  if (pages > 1) notes.degrade(`Only the first of the file's ${pages} pictures was read.`);
  if (text !== '') yield { headingPath: [], page: null, kind: 'text', text: cleanText(text) };
  const picture = (await pictures?.take(bytes)) ?? null;
  if (picture !== null) yield { headingPath: [], page: null, kind: 'text', text: '', picture };
}

async function readBounded(path: string, most: number, depth: number): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > most) throw tooLarge('maxImageBytes', most, size, depth);
  return readFile(path);
}

/** A picture within another file is left out with its reason; it does not end the whole. */
function tooLarge(limit: 'maxPixels' | 'maxImageBytes', max: number, found: number, depth: number): AppError {
  const error = beyondLimit(limit, max, found);
  return depth === 0 ? error : new AppError('UNSUPPORTED_CONTENT', error.message);
}
