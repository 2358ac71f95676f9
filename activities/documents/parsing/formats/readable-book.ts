import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import type { ParseNotes } from '../parse-notes.js';
import { unescapeXml } from '../word-package.js';
import { openPackage } from './writable-package.js';
import type { WritablePackage } from './writable-package.js';

const CONTAINER = 'META-INF/container.xml';

/**
 * A book (EPUB) whose chapters the reader finds and reads whole: it takes the addresses of chapters as they are
 * written, with signs in percent, and knows few of HTML's character references.
 */
export async function toReadableBook(bytes: Buffer, notes: ParseNotes): Promise<Buffer> {
  const parts = await openPackage(bytes);
  const list = parts.exists(CONTAINER) ? fullPathIn(await parts.read(CONTAINER, 'utf-8')) : undefined;
  if (list === undefined || !parts.exists(list)) return bytes;
  const opf = await parts.read(list, 'utf-8');
  const folder = list.slice(0, list.lastIndexOf('/') + 1);
  const chapters = new Set<string>();
  const readable = opf.replace(/<(?:opf:)?item\s[^<>]*>/g, (item) => {
    const href = /\shref\s*=\s*["']([^"'<>]*)["']/.exec(item)?.[1];
    if (href === undefined || !/\.x?html?$/i.test(href)) return item;
    const plain = unescapeXml(href);
    const found = [plain, decoded(plain)].find((address) => parts.exists(pathOf(folder, address)));
    if (found === undefined)
      notes.degrade('Chapters that the package of the book does not hold were left out.');
    else chapters.add(pathOf(folder, found));
    return found === undefined || found === plain ? item : item.replace(href, () => escaped(found));
  });
  let changed = readable !== opf;
  if (changed) parts.write(list, readable);
  for (const chapter of chapters) changed = (await decodeChapter(chapter, parts)) || changed;
  return changed ? Buffer.from(await parts.toArrayBuffer()) : bytes;
}

async function decodeChapter(name: string, parts: WritablePackage): Promise<boolean> {
  const html = await parts.read(name, 'utf-8');
  const readable = html.replace(/&(?:#x?[0-9a-f]{1,8}|[a-z][a-z0-9]{1,31});/gi, characterOf);
  if (readable === html) return false;
  parts.write(name, readable);
  return true;
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
