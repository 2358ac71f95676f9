import { outerElements, replaceOuter } from '../outer-elements.js';
import type { ParseNotes } from '../parse-notes.js';
import { replaceElements } from '../word-package.js';
import { readOdfStyles, withoutHiddenText } from './hidden-odf-text.js';
import { withoutTrackedChanges } from './tracked-changes.js';
import { openPackage } from './writable-package.js';

/** Body, and headers and footers. */
const COMMON_STYLES = 'styles.xml';
const PARTS = ['content.xml', COMMON_STYLES];
/** What the reader gives for a note that is a comment. */
export const COMMENT_CLASS = 'comment';

/** A document of OpenDocument in a form of which the reader passes over nothing that is shown. */
export async function toReadableDocument(
  bytes: Buffer,
  kind: 'odt' | 'odp',
  notes: ParseNotes,
): Promise<Buffer> {
  const parts = await openPackage(bytes);
  let changed = false;
  const common = parts.exists(COMMON_STYLES) ? await parts.read(COMMON_STYLES, 'utf-8') : '';
  for (const name of PARTS) {
    if (!parts.exists(name)) continue;
    const xml = await parts.read(name, 'utf-8');
    const styles = new Map([...readOdfStyles(common), ...readOdfStyles(xml)]);
    const readable = toReadableXml(withoutHiddenText(withoutTrackedChanges(xml, notes), styles, notes), kind);
    if (readable === xml) continue;
    changed = true;
    parts.write(name, readable);
  }
  return changed ? Buffer.from(await parts.toArrayBuffer()) : bytes;
}

function toReadableXml(xml: string, kind: 'odt' | 'odp'): string {
  let readable = xml.includes('<draw:') ? replaceOuter(xml, PARAGRAPHS, putShapesBehind) : xml;
  readable = replaceElements(readable, 'office:annotation', (comment) => commentOf(comment, kind));
  for (const field of SETTING_FIELDS)
    readable = replaceElements(readable, field, (element) => (IS_NOT_SHOWN.test(element) ? '' : element));
  readable = readable
    .replace(FIELDS, '')
    .replace(/<text:ruby-text(?:\s[^<>]*)?>/g, '(')
    .replace(/<\/text:ruby-text\s*>/g, ')')
    .replace(/<\/?table:table-(?:header-rows|rows|row-group)(?=[\s/>])[^<>]*>/g, '')
    // Text of a list without a number of its own belongs to the item before it.
    .replace(/<text:list-header(?:\s[^<>]*)?\/>/g, '')
    .replace(/<\/text:list-(?:item|header)>\s*<text:list-header(?:\s[^<>]*)?>/g, '')
    .replace(/<(\/?)text:list-header(?=[\s>])/g, '<$1text:list-item');
  return withoutListsInCells(readable);
}

const PARAGRAPHS = /<(\/?)text:[ph](?=[\s/>])[^<>]*>/g;
const SHAPES =
  /<(\/?)draw:(?:custom-shape|rect|ellipse|circle|line|polyline|polygon|path|regular-polygon|connector|measure|caption|g)(?=[\s/>])[^<>]*>/g;
const SHAPE_BLOCKS = /<(\/?)(?:text:p|text:h|text:list|draw:frame)(?=[\s/>])[^<>]*>/g;

/** Shapes stand in the paragraph that they are anchored to, where the reader passes them over. */
function putShapesBehind(paragraph: string): string {
  const shapes = outerElements(paragraph, SHAPES).flatMap((shape) => outerElements(shape, SHAPE_BLOCKS));
  return shapes.length === 0 ? paragraph : replaceOuter(paragraph, SHAPES, () => '') + shapes.join('');
}

/** Fields that may set a value without showing it. */
const SETTING_FIELDS = ['text:variable-set', 'text:variable-input', 'text:user-field-get', 'text:expression'];
const IS_NOT_SHOWN = /^<[^<>]*\btext:display="none"/;

/** Elements within a paragraph that show the text that they hold. */
const FIELDS = new RegExp(
  `</?text:(?:${[
    'date|time|page-number|page-continuation|page-count|chapter|file-name|template-name|sheet-name',
    'sender-[a-z-]{4,24}|author-name|author-initials|initial-creator|creator|printed-by',
    'creation-date|creation-time|print-date|print-time|modification-date|modification-time',
    'editing-cycles|editing-duration|description|title|subject|keywords|user-defined',
    'paragraph-count|word-count|character-count|table-count|image-count|object-count',
    'variable-set|variable-get|variable-input|user-field-get|user-field-input|sequence|expression|text-input',
    'database-display|database-name|database-row-number|dde-connection|table-formula|measure|execute-macro',
    'bookmark-ref|reference-ref|note-ref|sequence-ref|conditional-text|placeholder|meta|meta-field',
    'ruby|ruby-base',
  ].join('|')})(?=[\\s/>])[^<>]*>`,
  'g',
);

/** As a note, which leaves the sentence whole; on a slide, where a comment stands beside the text, as a paragraph. */
function commentOf(annotation: string, kind: 'odt' | 'odp'): string {
  let text = annotation;
  let author = '';
  text = replaceElements(text, 'dc:creator', (creator) => {
    author = plain(creator);
    return '';
  });
  for (const about of ['dc:date', 'meta:date-string', 'meta:creator-initials', 'loext:sender-initials'])
    text = replaceElements(text, about, () => '');
  const said = plain(text);
  if (said === '') return '';
  const paragraph = `<text:p>Comment${author === '' ? '' : ` by ${author}`}: ${said}</text:p>`;
  if (kind === 'odp') return paragraph;
  return `<text:note text:note-class="${COMMENT_CLASS}"><text:note-body>${paragraph}</text:note-body></text:note>`;
}

function plain(xml: string): string {
  return xml
    .replace(/<\/text:[ph]\s*>/g, ' ')
    .replace(/<[^<>]*>/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The reader takes the paragraphs alone of a cell: those in lists and sections are made such. */
function withoutListsInCells(xml: string): string {
  let depth = 0;
  return xml.replace(
    /<(\/?)(table:table-cell|text:list|text:list-item|text:section)(?=[\s/>])[^<>]*>/g,
    (tag, closing: string, name: string) => {
      if (name !== 'table:table-cell') return depth > 0 ? '' : tag;
      if (!tag.endsWith('/>')) depth += closing === '' ? 1 : -1;
      return tag;
    },
  );
}
