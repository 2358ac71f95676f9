import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import type { ParseNotes } from '../parse-notes.js';
import { unescapeXml } from '../word-package.js';
import { withoutHiddenElements } from './hidden-book-text.js';
import { openPackage } from './writable-package.js';
import type { WritablePackage } from './writable-package.js';

const CONTAINER = 'META-INF/container.xml';
/** The reader unpacks parts with such names alone. */
const HTML_NAME = /\.x?html?$/i;

/**
 * A book (EPUB) whose chapters the reader finds and reads whole: it takes the addresses of chapters as they are
 * written, with signs in percent, goes by their names, and knows few of HTML's character references.
 */
export async function toReadableBook(bytes: Buffer, notes: ParseNotes): Promise<Buffer> {
  const parts = await openPackage(bytes);
  const list = parts.exists(CONTAINER) ? fullPathIn(await parts.read(CONTAINER, 'utf-8')) : undefined;
  if (list === undefined || !parts.exists(list)) return bytes;
  const opf = await parts.read(list, 'utf-8');
  const folder = list.slice(0, list.lastIndexOf('/') + 1);
  /** By the names that the reader knows them by. */
  const chapters = new Map<string, string>();
  const readable = opf.replace(/<(?:opf:)?item\s[^<>]*>/g, (item) => {
    const href = /\shref\s*=\s*["']([^"'<>]*)["']/.exec(item)?.[1];
    if (href === undefined || !isChapter(item, href)) return item;
    const plain = unescapeXml(href);
    const found = [plain, decoded(plain)].find((address) => parts.exists(pathOf(folder, address)));
    if (found === undefined) {
      notes.degrade('Chapters that the package of the book does not hold were left out.');
      return item;
    }
    let known = found;
    while (!HTML_NAME.test(known) || (known !== found && parts.exists(pathOf(folder, known))))
      known += '.xhtml';
    chapters.set(pathOf(folder, known), pathOf(folder, found));
    return known === plain ? item : item.replace(href, () => escaped(known));
  });
  let changed = readable !== opf;
  if (changed) parts.write(list, readable);
  for (const [known, chapter] of chapters)
    changed = (await rewriteChapter(chapter, known, parts, notes)) || changed;
  return changed ? Buffer.from(await parts.toArrayBuffer()) : bytes;
}

/** Of those whose names say otherwise, the media type says that they are chapters. */
function isChapter(item: string, href: string): boolean {
  return HTML_NAME.test(href) || /\smedia-type\s*=\s*["'][^"'<>]*html/i.test(item);
}

async function rewriteChapter(
  name: string,
  known: string,
  parts: WritablePackage,
  notes: ParseNotes,
): Promise<boolean> {
  const html = await parts.read(name, 'utf-8');
  const decoded = withoutHiddenElements(html, notes).replace(
    /&(?:#x?[0-9a-f]{1,8}|[a-z][a-z0-9]{1,31});/gi,
    characterOf,
  );
  const readable = withCaptionsBefore(decoded);
  if (readable === html && name === known) return false;
  parts.write(known, readable);
  return true;
}

const CAPTION = /(<table(?:\s[^<>]*)?>)\s*<caption(?:\s[^<>]*)?>/gi;
const CAPTION_END = /<\/caption\s*>/gi;

/** The captions of tables, which the reader passes over, as text in front of them. */
function withCaptionsBefore(html: string): string {
  let out = '';
  let at = 0;
  for (const { index, 0: opening, 1: table } of html.matchAll(CAPTION)) {
    if (index < at) continue;
    const start = index + opening.length;
    CAPTION_END.lastIndex = start;
    const end = CAPTION_END.exec(html);
    if (end === null) break;
    out += `${html.slice(at, index)}<div>${html.slice(start, end.index)}</div>${table}`;
    at = end.index + end[0].length;
  }
  return out + html.slice(at);
}

const reader = unified().use(rehypeParse, { fragment: true });
const known = new Map<string, string>();
/** A document may make up as many names as it likes. */
const MAX_KNOWN = 10_000;

/** References that the reader knows, for signs that would be read as markup. */
const SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\u00a0': '&nbsp;',
};

/** What a reference stands for. */
function characterOf(reference: string): string {
  const before = known.get(reference);
  if (before !== undefined) return before;
  const [text] = reader.parse(reference).children;
  const value = text?.type === 'text' ? text.value : reference;
  const character = SIGNS[value] ?? (value.includes('&') ? reference : value);
  if (known.size < MAX_KNOWN) known.set(reference, character);
  return character;
}

function fullPathIn(container: string): string | undefined {
  const path = /\sfull-path\s*=\s*["']([^"'<>]*)["']/.exec(container)?.[1];
  return path === undefined ? undefined : unescapeXml(path);
}

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

function pathOf(folder: string, address: string): string {
  const path: string[] = [];
  for (const step of `${folder}${address}`.split('/'))
    if (step === '..') path.pop();
    else if (step !== '' && step !== '.') path.push(step);
  return path.join('/');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');
}
