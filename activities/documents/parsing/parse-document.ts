import type { FileKind } from './file-types.js';
import type { Nest } from './nest.js';
import type { ParseLimits } from './parse-limits.js';
import { createParseNotes } from './parse-notes.js';
import type { ParseNotes } from './parse-notes.js';
import type { MailIds } from './parser-messages.js';
import { createPictureMarks } from './pictures/picture-marks.js';
import type { PictureCollector } from './pictures/picture-collector.js';
import type { Section } from './section.js';

export interface ParseSource {
  /** Local file with the bytes. */
  path: string;
  kind: FileKind;
  limits: ParseLimits;
  /** Takes the document's pictures, whose places are then among its sections. */
  pictures?: PictureCollector | undefined;
  /** Of a file within a file. */
  nest?: Nest;
}

/** Sections of a document as they are read, and what is known about the whole at the end. */
export interface ParsedSections {
  sections: AsyncIterable<Section> | Iterable<Section>;
  /** Pages read so far and in all; null where the format has none. */
  pages(): { done: number; total: number } | null;
  /** How the text was encoded, for text formats. */
  encoding?: string;
  /** What the parser noted by the end of the sections. */
  notes?: ParseNotes;
  /** What reads it: the name in the report, and the package whose version that is. */
  parser?: { name: string; package?: string };
  /** Of a mail, once its first section was read. */
  mail?: () => MailIds | null;
}

const TEXT_PARSER = { name: 'text' };
const HTML_PARSER = { name: 'rehype', package: 'rehype-parse' };

/** Chooses the parser of a kind. Each is loaded at its first use: a process that reads text needs no PDF engine. */
export async function parseDocument(source: ParseSource): Promise<ParsedSections> {
  const { path, kind, limits, pictures } = source;
  const noPages = { pages: () => null };
  switch (kind) {
    case 'txt': {
      const { openText } = await import('./text-encoding.js');
      const { parseText } = await import('./text-parser.js');
      const text = await openText(path);
      return { sections: parseText(text), encoding: text.encoding, parser: TEXT_PARSER, ...noPages };
    }
    case 'md': {
      const { openText } = await import('./text-encoding.js');
      const { parseMarkdown } = await import('./markdown-parser.js');
      const text = await openText(path);
      if (pictures === undefined)
        return { sections: parseMarkdown(text), encoding: text.encoding, parser: TEXT_PARSER, ...noPages };
      const { parseIllustratedMarkdown } = await import('./pictures/illustrated-markdown.js');
      const sections = await parseIllustratedMarkdown(text, path, pictures);
      return { sections, encoding: text.encoding, parser: TEXT_PARSER, ...noPages };
    }
    case 'html': {
      const { openText } = await import('./text-encoding.js');
      const { parseHtml } = await import('./html-parser.js');
      const text = await openText(
        path,
        (head) => /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1],
      );
      const { shortenDataUris } = await import('./shorten-data-uris.js');
      let html = '';
      const notes = createParseNotes();
      const facts = { encoding: text.encoding, parser: HTML_PARSER, notes, ...noPages };
      if (pictures === undefined) {
        for await (const fragment of shortenDataUris(text.fragments())) html += fragment;
        return { sections: parseHtml(html, limits.maxNesting, { notes }), ...facts };
      }
      const { takeDataUris } = await import('./pictures/take-data-uris.js');
      const { placePictures } = await import('./pictures/place-pictures.js');
      const marks = createPictureMarks();
      const taken = takeDataUris(text.fragments(), pictures, marks);
      for await (const fragment of shortenDataUris(taken)) html += fragment;
      const sections = placePictures(parseHtml(html, limits.maxNesting, { marks, notes }), marks);
      return { sections, ...facts };
    }
    case 'pdf': {
      const { parsePdf } = await import('./pdf-parser.js');
      const notes = createParseNotes();
      let progress = { done: 0, total: 0 };
      const onPages = (done: number, total: number): void => void (progress = { done, total });
      return {
        sections: parsePdf(path, { maxPages: limits.maxPages, onPages, notes, pictures }),
        pages: () => progress,
        ...{ notes, parser: { name: 'liteparse', package: '@llamaindex/liteparse' } },
      };
    }
    case 'docx': {
      const { parseDocx } = await import('./docx-parser.js');
      const notes = createParseNotes();
      const sections = parseDocx(path, limits, { notes, pictures });
      return { sections, notes, parser: { name: 'mammoth', package: 'mammoth' }, ...noPages };
    }
    default: {
      const { parseFormat } = await import('./formats/parse-format.js');
      return parseFormat({ ...source, kind });
    }
  }
}
