import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PDFDocumentProxy } from 'pdfjs-dist';

/** Reads single pages with pdf.js: slower than the main reader, right where that one goes wrong. */
export interface PageReader {
  /** Text of a page (from 1) in its own order, a line each; null when pdf.js cannot read it either. */
  readPage(page: number): Promise<string | null>;
  close(): Promise<void>;
}

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
  const { document, close } = await openWithPdfjs(data);
  return {
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
    close,
  };
}
