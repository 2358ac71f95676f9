import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PDFDocumentProxy } from 'pdfjs-dist';
import { readVisibleText, textOf } from './pdf-visible-text.js';
import type { Glyph, VisibleText } from './pdf-visible-text.js';

/** Reads single pages with pdf.js: slower than the main reader, right where that one goes wrong. */
export interface PageReader {
  /** Text of a page (from 1) in its own order, a line each; null when pdf.js cannot read it either. */
  readPage(page: number): Promise<string | null>;
  /** What the appearances of a page's annotations show, with the rectangle in points from the lower left corner. */
  readAppearances(page: number): Promise<{ text: string; rect: [number, number, number, number] }[]>;
  /**
   * What is drawn on a page so that it can be seen; null when pdf.js cannot read it.
   * @param pictured whether there are pictures on the page, which may be too large to be looked at
   */
  readVisible(page: number, pictured: boolean): Promise<VisibleText | null>;
  close(): Promise<void>;
}

/** Larger pictures are not decoded for a look at the text. */
const MAX_PIXELS = 4_000_000;

/**
 * Opens a PDF with pdf.js; the caller closes it.
 * @param data the whole file; pdf.js takes the buffer over
 * @param options.maxImageSize pixels beyond which a picture is not decoded; any number by default
 */
export async function openWithPdfjs(
  data: Uint8Array,
  options: { maxImageSize?: number } = {},
): Promise<{ document: PDFDocumentProxy; close(): Promise<void> }> {
  // Only the legacy build runs in Node, and without these folders CJK and unembedded fonts give no text.
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const root = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const task = pdfjs.getDocument({
    data,
    cMapUrl: join(root, 'cmaps/'),
    cMapPacked: true,
    standardFontDataUrl: join(root, 'standard_fonts/'),
    wasmUrl: join(root, 'wasm/'),
    isEvalSupported: false,
    disableFontFace: true,
    verbosity: 0,
    ...options,
  });
  return { document: await task.promise, close: () => task.destroy() };
}

/** @param data the whole file; pdf.js takes the buffer over */
export async function openPageReader(data: Uint8Array): Promise<PageReader> {
  const { document, close } = await openWithPdfjs(data, { maxImageSize: MAX_PIXELS });
  return {
    readVisible: (page, pictured) => readVisibleText(document, page, pictured).catch(() => null),
    async readPage(number) {
      try {
        const page = await document.getPage(number);
        const { items } = await page.getTextContent();
        page.cleanup();
        return items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
      } catch {
        return null;
      }
    },
    async readAppearances(number) {
      const { OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs');
      const found: { text: string; rect: [number, number, number, number] }[] = [];
      try {
        const page = await document.getPage(number);
        const { fnArray, argsArray } = await page.getOperatorList();
        let open: (typeof found)[number] | null = null;
        fnArray.forEach((operator, index) => {
          const operands = argsArray[index] as unknown[] | null;
          if (operator === OPS.beginAnnotation) open = { text: '', rect: operands![1] as never };
          else if (open === null) return;
          else if (operator === OPS.endAnnotation) {
            found.push({ ...open, text: open.text.replace(/\s+/g, ' ').trim() });
            open = null;
          } else if (operator === OPS.showText) open.text += textOf((operands?.[0] ?? []) as Glyph[]);
          else if (operator === OPS.beginText) open.text += ' ';
        });
        page.cleanup();
      } catch {
        // What cannot be drawn says nothing.
      }
      return found.filter(({ text }) => text !== '');
    },
    close,
  };
}
