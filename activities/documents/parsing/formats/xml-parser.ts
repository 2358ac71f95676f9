import { SaxesParser } from 'saxes';
import { AppError } from '../../../../schemas/app-error.js';
import { withoutPackedData } from '../packed-data.js';
import type { ParseNotes } from '../parse-notes.js';
import type { Section } from '../section.js';
import type { DecodedText } from '../text-encoding.js';
import { beyondLimit } from './limit-error.js';
import { lineSections } from './json-parser.js';
import { shortPath } from './short-path.js';
import { createReferenceMender } from './xml-references.js';

export interface XmlOptions {
  maxNesting: number;
  /** Lines begin with the names of the elements that they stand in, and attributes are lines too. */
  paths: boolean;
  /** What stands in these elements is not read, whatever the prefix of their name space. */
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
 * entities expand to nothing and no other file is asked for; one that is not known stands as it is written. Files in
 * base64 are left out.
 * @throws AppError FILE_TOO_COMPLEX for what nests too deep; FILE_CORRUPT for what has no element
 */
export async function* parseXml(
  text: DecodedText,
  options: XmlOptions,
  notes?: ParseNotes,
): AsyncGenerator<Section> {
  yield* lineSections(xmlLines(text, options, notes), 'text');
}

/** Faults of a tag, said by the reader: what stands in it may have been meant as text. */
const TAG_FAULT =
  /^(?:attribute without value|disallowed character in (?:attribute name|closing tag|tag name)\b)/;

function noteFault(message: string, notes: ParseNotes | undefined): void {
  if (message === 'unexpected end.')
    notes?.degrade('The XML ends within a tag, a comment or the like: text may be missing from there on.');
  else if (TAG_FAULT.test(message))
    notes?.warn('Tags of the XML are not well formed: words in them may be missing.');
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1);
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}

async function* xmlLines(
  text: DecodedText,
  { maxNesting, paths, dropped }: XmlOptions,
  notes: ParseNotes | undefined,
): AsyncGenerator<string> {
  const parser = new SaxesParser({ xmlns: false, position: false, fragment: false });
  /** Of each open element its path below the root. */
  const path: string[] = [];
  let skipped = 0;
  let elements = 0;
  let held = '';
  let lines: string[] = [];
  const flush = (): void => {
    const said = withoutPackedData(held, notes).replace(/\s+/g, ' ').trim();
    held = '';
    if (said !== '') lines.push(paths && path.length > 1 ? `${path.at(-1)!}: ${said}\n` : `${said}\n`);
  };
  const takeText = (said: string): void => {
    if (skipped > 0) return;
    held += said;
    if (held.length > MAX_TEXT) flush();
  };
  // What is not well formed is read as far as it can be.
  parser.on('error', ({ message }) => noteFault(message, notes));
  parser.on('text', takeText);
  parser.on('cdata', takeText);
  parser.on('opentag', ({ name, attributes }) => {
    flush();
    elements++;
    path.push(path.length === 0 ? '' : shortPath(below(path.at(-1)!, name)));
    if (path.length > maxNesting) throw beyondLimit('maxNesting', maxNesting);
    if (dropped?.has(localName(name))) skipped++;
    if (!paths || skipped > 0) return;
    for (const [attribute, value] of Object.entries(attributes)) {
      if (value.trim() === '' || attribute.startsWith('xmlns') || attribute === 'xsi:schemaLocation')
        continue;
      const place = shortPath(below(path.at(-1)!, `@${attribute}`));
      lines.push(`${place}: ${withoutPackedData(value, notes).replace(/\s+/g, ' ').trim()}\n`);
    }
  });
  parser.on('closetag', ({ name }) => {
    flush();
    if (dropped?.has(localName(name))) skipped--;
    path.pop();
  });
  const mender = createReferenceMender();
  for await (const fragment of text.fragments()) {
    parser.write(mender.write(fragment));
    const given = lines;
    lines = [];
    yield* given;
  }
  parser.write(mender.end()).close();
  flush();
  if (elements === 0) throw new AppError('FILE_CORRUPT', 'The file has no XML element.');
  yield* lines;
}
