import type { PDFPageProxy } from 'pdfjs-dist';
import { times, toMatrix } from '../pdf-matrix.js';
import type { Matrix } from '../pdf-matrix.js';
import { openWithPdfjs } from '../pdfjs-page-reader.js';
import type { PictureCollector } from './picture-collector.js';
import { writePng } from './write-png.js';
import type { Bitmap } from './write-png.js';

/** A picture of a page. */
export interface PagePicture {
  picture: number;
  /** Its middle from the top, as a part of the page's height. */
  height: number;
}

/** Takes the raster pictures out of single pages of a PDF. */
export interface PagePictures {
  /** Those of a page (from 1), from top to bottom. A page that cannot be read has none, which is counted. */
  ofPage(page: number): Promise<PagePicture[]>;
  close(): Promise<void>;
}

/** What pdf.js says of a picture: its pixels, in one of three kinds. */
interface DecodedImage {
  width: number;
  height: number;
  kind?: number;
  data?: Uint8Array | null;
}

interface Painted {
  image: string | DecodedImage;
  matrix: Matrix;
}

/** Names of pictures that pdf.js keeps for several pages. */
const SHARED = 'g_';
/** A picture that has not come by then will not come. */
const MAX_DECODING_MS = 60_000;
/** pdf.js tells `ImageKind` in numbers. */
const CHANNELS: Readonly<Record<number, Bitmap['channels']>> = { 1: 1, 2: 3, 3: 4 };

/**
 * pdf.js decodes the pictures, and leaves those alone that declare more pixels than the limit. Drawings of lines and
 * stencils of one colour are no pictures here.
 * @param data the whole file; pdf.js takes the buffer over
 */
export async function openPagePictures(data: Uint8Array, pictures: PictureCollector): Promise<PagePictures> {
  const { OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const { document, close } = await openWithPdfjs(data, { maxImageSize: pictures.limits.maxPixels });

  /** What the page paints, each with the matrix that puts the unit square on the page. */
  const painted = async (page: PDFPageProxy): Promise<Painted[]> => {
    const { fnArray, argsArray } = await page.getOperatorList();
    const found: Painted[] = [];
    const stack: Matrix[] = [];
    let matrix: Matrix = [1, 0, 0, 1, 0, 0];
    fnArray.forEach((operator, index) => {
      const operands = argsArray[index] as unknown[] | null;
      if (operator === OPS.save) stack.push(matrix);
      else if (operator === OPS.restore || operator === OPS.paintFormXObjectEnd)
        matrix = stack.pop() ?? matrix;
      else if (operator === OPS.transform) matrix = times(matrix, toMatrix(operands));
      else if (operator === OPS.paintFormXObjectBegin) {
        stack.push(matrix);
        const form = operands?.[0];
        if (form) matrix = times(matrix, toMatrix(form));
      } else if (operator === OPS.paintImageXObject || operator === OPS.paintInlineImageXObject)
        found.push({ image: operands![0] as string | DecodedImage, matrix });
    });
    return found;
  };

  const decoded = (page: PDFPageProxy, image: string | DecodedImage): Promise<DecodedImage | null> => {
    if (typeof image !== 'string') return Promise.resolve(image);
    const objects = image.startsWith(SHARED) ? page.commonObjs : page.objs;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, MAX_DECODING_MS, null);
      objects.get(image, (found: DecodedImage | null) => {
        clearTimeout(timer);
        resolve(found);
      });
    });
  };

  const keep = async (image: DecodedImage | null): Promise<number | null> => {
    const channels = CHANNELS[image?.kind ?? 0];
    if (image?.data == null || channels === undefined) {
      pictures.leaveOut();
      return null;
    }
    const { width, height, data: pixels } = image;
    if (Math.min(width, height) < pictures.limits.minSide) return null;
    return pictures.take(writePng({ width, height, channels, data: pixels }));
  };

  return {
    async ofPage(number) {
      const found: PagePicture[] = [];
      try {
        const page = await document.getPage(number);
        const viewport = page.getViewport({ scale: 1 });
        const done = new Set<string | DecodedImage>();
        const images = await painted(page);
        // It shows some: pdf.js left all of them alone.
        if (images.length === 0) pictures.leaveOut();
        for (const { image, matrix } of images) {
          if (done.has(image)) continue;
          done.add(image);
          const picture = await keep(await decoded(page, image));
          if (picture === null) continue;
          const middle = times(matrix, [1, 0, 0, 1, 0.5, 0.5]);
          const [, y] = viewport.convertToViewportPoint(middle[4], middle[5]) as [number, number];
          found.push({ picture, height: y / viewport.height });
        }
        page.cleanup();
      } catch {
        pictures.leaveOut();
      }
      return found.sort((a, b) => a.height - b.height);
    },
    close,
  };
}
