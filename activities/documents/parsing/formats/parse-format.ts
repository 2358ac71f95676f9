import type { FileKind } from '../file-types.js';
import type { ParsedSections, ParseSource } from '../parse-document.js';
import type { DecodedText } from '../text-encoding.js';

/** The kinds whose parsers stand in this directory. */
export type FormatKind = Exclude<FileKind, 'txt' | 'md' | 'html' | 'pdf' | 'docx'>;

const noPages = { pages: () => null };

/** Chooses the parser of a kind; each is loaded at its first use. */
export async function parseFormat(source: ParseSource & { kind: FormatKind }): Promise<ParsedSections> {
  const { path, kind, limits } = source;
  switch (kind) {
    case 'csv':
    case 'tsv': {
      const { parseDelimited } = await import('./delimited-parser.js');
      const text = await openDecoded(path);
      const sections = parseDelimited(text, limits, kind === 'tsv' ? '\t' : undefined);
      return { sections, encoding: text.encoding, ...noPages };
    }
    case 'json':
    case 'jsonl': {
      const { parseJson, parseJsonLines } = await import('./json-parser.js');
      const text = await openDecoded(path);
      const parse = kind === 'json' ? parseJson : parseJsonLines;
      return { sections: parse(text, limits.maxNesting), encoding: text.encoding, ...noPages };
    }
    case 'xml':
    case 'svg': {
      const { declaredXmlEncoding, parseXml, svgOptions } = await import('./xml-parser.js');
      const text = await openDecoded(path, declaredXmlEncoding);
      const { maxNesting } = limits;
      const options = kind === 'svg' ? svgOptions(maxNesting) : { maxNesting, paths: true };
      return { sections: parseXml(text, options), encoding: text.encoding, ...noPages };
    }
    case 'code': {
      const { parseCode } = await import('./code-parser.js');
      const text = await openDecoded(path);
      return { sections: parseCode(text), encoding: text.encoding, ...noPages };
    }
  }
}

async function openDecoded(
  path: string,
  declared?: (head: string) => string | undefined,
): Promise<DecodedText> {
  const { openText } = await import('../text-encoding.js');
  return openText(path, declared);
}
