import { readFile } from 'node:fs/promises';
import mammoth from 'mammoth';
import { AppError } from '../../schemas/app-error.js';
import { parseHtml } from './html-parser.js';
import { openFileBytes } from './random-access-bytes.js';
import type { Section } from './section.js';
import { checkZipLimits } from './zip-limits.js';
import type { ZipLimits } from './zip-limits.js';

const OLE_SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/**
 * Word documents by way of HTML: headings, lists, tables, footnotes. Pages are not known.
 * @throws AppError FILE_ENCRYPTED, FILE_CORRUPT, FILE_TOO_COMPLEX (the package unpacks to more than the limits)
 */
export async function* parseDocx(
  path: string,
  limits: ZipLimits & { maxNesting: number },
): AsyncGenerator<Section> {
  const file = await openFileBytes(path);
  try {
    const head = await file.read(0, Math.min(8, file.size));
    // Word keeps a package that has a password inside an OLE container.
    if (head.equals(OLE_SIGNATURE)) throw new AppError('FILE_ENCRYPTED');
    await checkZipLimits(file, limits);
  } finally {
    await file.close();
  }
  const html = await toHtml(path);
  yield* parseHtml(html, limits.maxNesting);
}

async function toHtml(path: string): Promise<string> {
  try {
    const noImages = mammoth.images.imgElement(() => Promise.resolve({ src: '' }));
    const { value } = await mammoth.convertToHtml(
      { buffer: await readFile(path) },
      { convertImage: noImages, includeDefaultStyleMap: true, ignoreEmptyParagraphs: true },
    );
    return value;
  } catch (error) {
    throw new AppError('FILE_CORRUPT', 'The Word document is damaged and cannot be read.', { cause: error });
  }
}
