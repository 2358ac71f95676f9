import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Reads single pages with pdf.js: slower than the main reader, right where that one goes wrong. */
export interface PageReader {
  /** Text of a page (from 1) in its own order, a line each; null when pdf.js cannot read it either. */
  readPage(page: number): Promise<string | null>;
  close(): Promise<void>;
}

/** @param data the whole file; pdf.js takes the buffer over */
export async function openPageReader(data: Uint8Array): Promise<PageReader> {
  // Only the legacy build runs in Node, and without these folders CJK and unembedded fonts give no text.
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const root = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const task = pdfjs.getDocument({
    data,
    cMapUrl: join(root, 'cmaps/'),
    cMapPacked: true,
    standardFontDataUrl: join(root, 'standard_fonts/'),
    isEvalSupported: false,
    disableFontFace: true,
    verbosity: 0,
  });
  const document = await task.promise;
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
    close: () => task.destroy(),
  };
}
