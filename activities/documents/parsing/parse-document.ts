import { AppError } from '../../../schemas/app-error.js';
import { isMediaKind } from './file-types.js';
import { createParseNotes } from './parse-notes.js';
import type { Nest, ParsedSections, ParseSource } from './parse-source.js';
import { createPictureMarks } from './pictures/picture-marks.js';

const TEXT_PARSER = { name: 'text' };
const HTML_PARSER = { name: 'rehype', package: 'rehype-parse' };

/** A file that no other is packed around. */
function outermost(): Nest {
  return {
    depth: 0,
    spent: { members: 0, bytes: 0 },
    notes: createParseNotes(),
    parse: parseDocument,
  };
}

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
        sections: parsePdf(path, { limits, onPages, notes, pictures }),
        pages: () => progress,
        notes,
        parser: { name: 'liteparse', package: '@llamaindex/liteparse' },
      };
    }
    case 'docx': {
      const { parseDocx } = await import('./docx-parser.js');
      const notes = createParseNotes();
      const sections = parseDocx(path, limits, { notes, pictures });
      return { sections, notes, parser: { name: 'mammoth', package: 'mammoth' }, ...noPages };
    }
    default: {
      if (isMediaKind(kind))
        throw new AppError('UNSUPPORTED_CONTENT', 'Audio and video are transcribed by a model, not parsed.');
      const { parseFormat } = await import('./formats/parse-format.js');
      return parseFormat({ ...source, kind, nest: source.nest ?? outermost() });
    }
  }
}
