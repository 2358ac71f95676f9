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

/** Of elements within one line; more of them stand before it. */
const MAX_ATTRIBUTES = 1000;

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

interface XmlText {
  open(name: string): void;
  close(): void;
  /** @param joins that it may go on from an element before it */
  take(said: string, joins: boolean): void;
  attribute(name: string, value: string): void;
  /** The lines that are complete; at the end all. */
  given(atEnd?: boolean): string[];
}

/** A sign that goes on in the line of the element before: `<b>Note</b> that`, `<b>Note</b>: that`. */
const GOES_ON = /^(?:[^\S\n]+\S|[^\s\p{L}\p{N}])/u;

function below(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}

/**
 * Text of elements as lines. An element that has text beside elements is one line with them, as a sentence with marked
 * words is; what it holds that has elements alone, such as a list, stands in lines of its own.
 */
function createXmlText({ paths, maxNesting }: XmlOptions, notes: ParseNotes | undefined): XmlText {
  /** Of each open element its path below the root, and whether it has text of its own. */
  const path: { name: string; hasText: boolean }[] = [];
  /** The number of open elements down to the one whose line goes on over its elements; 0 for none. */
  let mixed = 0;
  let held = '';
  /** The last line, of an element that ended `depth` elements deep: the text behind may go on from it. */
  let last: { said: string; lines: string[]; depth: number } | null = null;
  let isBehindElement = false;
  /** Attributes of elements within a line. */
  let attributes: string[] = [];
  let lines: string[] = [];
  const oneLine = (value: string): string => withoutPackedData(value, notes).replace(/\s+/g, ' ').trim();
  const give = (): void => {
    for (const line of last?.lines ?? []) lines.push(line);
    last = null;
  };
  const flush = (): void => {
    const said = oneLine(held);
    held = '';
    if (said === '') return;
    give();
    const place = paths ? (path[(mixed || path.length) - 1]?.name ?? '') : '';
    const line = place === '' ? `${said}\n` : `${place}: ${said}\n`;
    last = { said, lines: [line, ...attributes], depth: path.length };
    attributes = [];
  };
  return {
    open(name) {
      const parent = path.at(-1);
      if (parent?.hasText === true) {
        mixed ||= path.length;
        if (isBehindElement && !held.endsWith(' ')) held += ' ';
      } else {
        flush();
        give();
        mixed = 0;
      }
      isBehindElement = false;
      path.push({
        name: parent === undefined ? '' : shortPath(below(parent.name, name)),
        hasText: false,
      });
      if (path.length > maxNesting) throw beyondLimit('maxNesting', maxNesting);
    },
    close() {
      if (mixed === 0 || mixed === path.length) {
        flush();
        mixed = 0;
      }
      path.pop();
      isBehindElement = true;
    },
    take(said, joins) {
      const element = path.at(-1);
      if (paths && element !== undefined && /\S/.test(said)) {
        if (!element.hasText && last?.depth === path.length + 1 && joins && GOES_ON.test(said)) {
          held = last.said + held;
          attributes = last.lines.slice(1);
          last = null;
        }
        element.hasText = true;
      }
      // Words of an address and the like, whose elements stand close together.
      if (/\p{Ll}$/u.test(held.slice(-1)) && /^\p{Lu}/u.test(said)) held += ' ';
      held += said;
      isBehindElement = false;
      if (held.length > MAX_TEXT) flush();
    },
    attribute(name, value) {
      const line = `${shortPath(below(path.at(-1)!.name, `@${name}`))}: ${oneLine(value)}\n`;
      if (mixed === 0 || attributes.length >= MAX_ATTRIBUTES) lines.push(line);
      else attributes.push(line);
    },
    given(atEnd = false) {
      if (atEnd) {
        flush();
        give();
        lines.push(...attributes);
      }
      const complete = lines;
      lines = [];
      return complete;
    },
  };
}

async function* xmlLines(
  text: DecodedText,
  options: XmlOptions,
  notes: ParseNotes | undefined,
): AsyncGenerator<string> {
  const { paths, dropped } = options;
  const parser = new SaxesParser({ xmlns: false, position: false, fragment: false });
  const read = createXmlText(options, notes);
  let skipped = 0;
  let elements = 0;
  // What is not well formed is read as far as it can be.
  parser.on('error', ({ message }) => noteFault(message, notes));
  parser.on('text', (said) => {
    if (skipped === 0) read.take(said, true);
  });
  parser.on('cdata', (said) => {
    if (skipped === 0) read.take(said, false);
  });
  parser.on('opentag', ({ name, attributes }) => {
    elements++;
    read.open(name);
    if (dropped?.has(localName(name))) skipped++;
    if (!paths || skipped > 0) return;
    for (const [attribute, value] of Object.entries(attributes)) {
      if (value.trim() === '' || attribute.startsWith('xmlns') || attribute === 'xsi:schemaLocation')
        continue;
      read.attribute(attribute, value);
    }
  });
  parser.on('closetag', ({ name }) => {
    read.close();
    if (dropped?.has(localName(name))) skipped--;
  });
  const mender = createReferenceMender();
  for await (const fragment of text.fragments()) {
    parser.write(mender.write(fragment));
    yield* read.given();
  }
  parser.write(mender.end()).close();
  if (elements === 0) throw new AppError('FILE_CORRUPT', 'The file has no XML element.');
  yield* read.given(true);
}
