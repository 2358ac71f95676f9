import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../../../../schemas/app-error.js';
import { readAnimation } from '../ocr/animated-pictures.js';
import { imageSize } from '../ocr/image-size.js';
import { recognise } from '../ocr/recognise.js';
import { tiffPages } from '../ocr/tiff-pages.js';
import type { Nest, ParseSource } from '../parse-source.js';
import type { Section } from '../section.js';
import { cleanText } from '../../../text/clean-text.js';
import { beyondLimit } from './limit-error.js';
import { parseTiff } from './tiff-parser.js';

const UNTURNED =
  'The photo is stored on its side, upside down or mirrored, and was read by OCR as it is stored.';

/**
 * A picture by OCR: its text, which may be none; of a TIFF, that of each of its pages; of an animation, that of the
 * first picture. Where pictures are described, its place stands behind the text.
 * @param onPages told how many pages of a file of several were read, and how many it has
 * @throws AppError FILE_CORRUPT, FILE_TOO_COMPLEX, UNSUPPORTED_CONTENT when OCR is off
 */
export async function* parseImage(
  { path, limits, nest, pictures }: ParseSource & { nest: Nest },
  onPages: (pages: { done: number; total: number }) => void,
): AsyncGenerator<Section> {
  const { notes } = nest;
  if (limits.ocrLanguages.length === 0)
    throw new AppError('UNSUPPORTED_CONTENT', 'Pictures are not read: OCR is off on this server.');
  if (nest.depth > 0 && notes.ocrPages >= limits.maxOcrPages)
    throw new AppError(
      'UNSUPPORTED_CONTENT',
      `At most ${limits.maxOcrPages} pictures of one document are read by OCR.`,
    );
  const tooLarge = (limit: PictureLimit, found?: number): AppError =>
    beyondPictureLimit(limit, limits[limit], found, nest.depth);
  const bytes = await readBounded(path, limits.maxImageBytes, nest.depth);
  const tiff = tiffPages(bytes, limits.maxPages + 1);
  if (tiff !== null) {
    yield* parseTiff(bytes, tiff, { path, limits, notes, pictures, tooLarge, onPages });
    return;
  }
  const size = imageSize(bytes);
  if (size === null) throw new AppError('FILE_CORRUPT', 'The picture is damaged and cannot be read.');
  const pixels = size.width * size.height;
  if (pixels > limits.maxPixels) throw tooLarge('maxPixels', pixels);
  const animation = readAnimation(bytes);
  if (animation !== null)
    notes.degrade(`Of the ${animation.frames} pictures of an animation, the first is read.`);
  const shown = animation?.first ?? bytes;
  const { text, confidence, unturned } = await recognise(shown, {
    languages: limits.ocrLanguages,
    scratch: dirname(path),
  });
  notes.recognise(confidence);
  if (unturned === true) notes.degrade(UNTURNED);
  if (text !== '') yield { headingPath: [], page: null, kind: 'text', text: cleanText(text) };
  const picture = (await pictures?.take(shown)) ?? null;
  if (picture !== null) yield { headingPath: [], page: null, kind: 'text', text: '', picture };
}

type PictureLimit = 'maxPixels' | 'maxImageBytes' | 'maxPages';

async function readBounded(path: string, most: number, depth: number): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > most) throw beyondPictureLimit('maxImageBytes', most, size, depth);
  return readFile(path);
}

/** A picture within another file is left out with its reason; it does not end the whole. */
function beyondPictureLimit(
  limit: PictureLimit,
  max: number,
  found: number | undefined,
  depth: number,
): AppError {
  const error = beyondLimit(limit, max, found);
  return depth === 0 ? error : new AppError('UNSUPPORTED_CONTENT', error.message);
}
