import { open } from 'node:fs/promises';
import { parseMarkdown } from '../markdown-parser.js';
import type { Section } from '../section.js';
import type { DecodedText } from '../text-encoding.js';
import { openText } from '../text-encoding.js';
import { toLines } from '../text-lines.js';
import type { PictureCollector } from './picture-collector.js';
import { createPictureMarks } from './picture-marks.js';
import { placePictures, readPictureLabels } from './place-pictures.js';
import { takeDataUris } from './take-data-uris.js';

const BUFFERED = 1024 * 1024;

/**
 * Markdown whose pictures are data URIs. The text is first written anew beside the upload, without them: labels may be
 * defined behind their use, and it need not fit into memory.
 * @param path of the upload, in a directory that goes with it
 */
export async function parseIllustratedMarkdown(
  text: DecodedText,
  path: string,
  pictures: PictureCollector,
): Promise<AsyncIterable<Section>> {
  const marks = createPictureMarks();
  const labels = new Map<string, number>();
  const plainPath = `${path}.without-pictures`;
  const file = await open(plainPath, 'w');
  let held = '';
  try {
    for await (const line of toLines(takeDataUris(text.fragments(), pictures, marks))) {
      readPictureLabels(line, marks, labels);
      held += line;
      if (held.length < BUFFERED) continue;
      await file.writeFile(held); // goes on where the last write ended
      held = '';
    }
    await file.writeFile(held);
  } finally {
    await file.close();
  }
  if (pictures.count().kept === 0) return parseMarkdown(text);
  return placePictures(parseMarkdown(await openText(plainPath)), marks, labels);
}
