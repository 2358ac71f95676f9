import { SaxesParser } from 'saxes';
import { AppError } from '../../../../schemas/app-error.js';
import type { Section } from '../section.js';
import type { DecodedText } from '../text-encoding.js';
import { beyondLimit } from './limit-error.js';
import { lineSections } from './json-parser.js';
import { shortPath } from './short-path.js';

export interface XmlOptions {
  maxNesting: number;
  /** Lines begin with the names of the elements that they stand in, and attributes are lines too. */
  paths: boolean;
  /** What stands in these elements is not read. */
  dropped?: ReadonlySet<string>;
}

/** What an SVG picture shows is in its text elements; the rest says how it looks. */
const SVG_DROPPED: ReadonlySet<string> = new Set(['style', 'script', 'metadata', 'defs']);

export function svgOptions(maxNesting: number): XmlOptions {
  return {
    maxNesting,
    paths: false,
    dropped: SVG_DROPPED,
  };
}

/** Characters of one text; a longer one becomes several lines. */
const MAX_TEXT = 64 * 1024;

/** XML says its encoding in its first line. */
export function declaredXmlEncoding(head: string): string | undefined {
  return /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w-]+)/i.exec(head)?.[1];
}

/**
 * The text of an XML document with the path of its elements, in constant memory. No document type is read, so that
 * entities expand to nothing and no other file is asked for; one that is not known stands as it is written.
 * @throws AppError FILE_TOO_COMPLEX for what nests too deep; FILE_CORRUPT for what has no element
 */
export async function* parseXml(text: DecodedText, options: XmlOptions): AsyncGenerator<Section> {
  yield* lineSections(xmlLines(text, options), 'text');
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}

async function* xmlLines(
  text: DecodedText,
  { maxNesting, paths, dropped }: XmlOptions,
): AsyncGenerator<string> {
  const parser = new SaxesParser({ xmlns: false, position: false, fragment: false });
  /** Of each open element its path below the root. */
  const path: string[] = [];
  let skipped = 0;
  let elements = 0;
  let held = '';
  let lines: string[] = [];
  const flush = (): void => {
    const said = held.replace(/\s+/g, ' ').trim();
    held = '';
    if (said !== '') lines.push(paths && path.length > 1 ? `${path.at(-1)!}: ${said}\n` : `${said}\n`);
  };
  const takeText = (said: string): void => {
    if (skipped > 0) return;
    held += said;
    if (held.length > MAX_TEXT) flush();
  };
  // What is not well formed is read as far as it can be.
  parser.on('error', () => undefined);
  parser.on('text', takeText);
  parser.on('cdata', takeText);
  parser.on('opentag', ({ name, attributes }) => {
    flush();
    elements++;
    path.push(path.length === 0 ? '' : shortPath(below(path.at(-1)!, name)));
    if (path.length > maxNesting) throw beyondLimit('maxNesting', maxNesting);
    if (dropped?.has(name)) skipped++;
    if (!paths || skipped > 0) return;
    for (const [attribute, value] of Object.entries(attributes)) {
      if (value.trim() === '' || attribute.startsWith('xmlns') || attribute === 'xsi:schemaLocation')
        continue;
      const place = shortPath(below(path.at(-1)!, `@${attribute}`));
      lines.push(`${place}: ${value.replace(/\s+/g, ' ').trim()}\n`);
    }
  });
  parser.on('closetag', ({ name }) => {
    flush();
    if (dropped?.has(name)) skipped--;
    path.pop();
  });
  for await (const fragment of text.fragments()) {
    parser.write(fragment);
    const given = lines;
    lines = [];
    yield* given;
  }
  try {
    parser.close();
  } catch {
    // It ends in the middle of something: what came before is read.
  }
  flush();
  if (elements === 0) throw new AppError('FILE_CORRUPT', 'The file has no XML element.');
  yield* lines;
}
