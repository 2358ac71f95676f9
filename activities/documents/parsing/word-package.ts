import { attribute } from './word-attributes.js';
import { withoutHiddenRuns } from './hidden-runs.js';
import { lineUpEquation } from './word-equation.js';
import { withOldTextBoxes } from './word-text-boxes.js';

/** A part that another part of a package refers to. */
export interface Relationship {
  id: string;
  /** The last word of its type: `officeDocument`, `header`, `comments`. */
  type: string;
  target: string;
}

/** The parts of its own package that a relationships part names; none that lies outside. */
export function readRelationships(xml: string, folder: string): Relationship[] {
  return (xml.match(/<(?:\w+:)?Relationship\s[^<>]*>/g) ?? []).flatMap((tag) => {
    const type = attribute(tag, 'Type')?.split('/').at(-1);
    const target = attribute(tag, 'Target');
    if (type === undefined || target === undefined || attribute(tag, 'TargetMode') === 'External') return [];
    return [{ id: attribute(tag, 'Id') ?? '', type, target: resolvePart(folder, unescapeXml(target)) }];
  });
}

function resolvePart(folder: string, target: string): string {
  const path = target.startsWith('/') ? [] : folder.split('/').filter((step) => step !== '');
  for (const step of target.split('/')) {
    if (step === '..') path.pop();
    else if (step !== '' && step !== '.') path.push(step);
  }
  return path.join('/');
}

/** The part of a package that holds the document, by the package's relationships: it has not always the same name. */
export function mainPartOf(packageRelationships: string, usual = 'word/document.xml'): string {
  const main = readRelationships(packageRelationships, '').find(({ type }) => type === 'officeDocument');
  return main?.target ?? usual;
}

export interface PackageParts {
  exists(name: string): boolean;
  /** The part as text. */
  read(name: string): Promise<string>;
}

/** Text that stands outside of a document's body: once each, as paragraphs. */
export interface BesideBody {
  kind: 'header' | 'footer' | 'comment';
  text: string;
}

/** The part that holds the document, and those that it refers to. */
export async function readMain(parts: PackageParts): Promise<{ main: string; related: Relationship[] }> {
  const main = mainPartOf(parts.exists('_rels/.rels') ? await parts.read('_rels/.rels') : '');
  const folder = main.includes('/') ? main.slice(0, main.lastIndexOf('/')) : '';
  const relationships = `${folder === '' ? '' : `${folder}/`}_rels/${main.slice(main.lastIndexOf('/') + 1)}.rels`;
  if (!parts.exists(relationships)) return { main, related: [] };
  return { main, related: readRelationships(await parts.read(relationships), folder) };
}

/** What the headers, footers and comments of a Word document say. */
export async function readBesideBody(parts: PackageParts): Promise<BesideBody[]> {
  const found: BesideBody[] = [];
  const seen = new Set<string>();
  const add = (kind: BesideBody['kind'], text: string, lead = ''): void => {
    const whole = lead + text;
    if (text === '' || seen.has(kind + whole)) return;
    seen.add(kind + whole);
    found.push({ kind, text: whole });
  };
  for (const { type, target } of (await readMain(parts)).related) {
    const isRead = ['header', 'footer', 'comments'].includes(type) && /\.xml$/i.test(target);
    if (!isRead || !parts.exists(target)) continue;
    // What is there twice, for programs that know a text box and for those that do not.
    const xml = replaceElements(toReadable(await parts.read(target)), 'mc:Fallback', () => '');
    if (type !== 'comments') add(type as 'header' | 'footer', paragraphsOf(xml).filter(hasLetter).join('\n'));
    else
      for (const comment of xml.split(/(?=<w:comment\s)/).slice(1)) {
        const author = unescapeXml(attribute(comment.slice(0, comment.indexOf('>') + 1), 'w:author') ?? '');
        add(
          'comment',
          paragraphsOf(comment).join('\n'),
          author === '' ? 'Comment: ' : `Comment by ${author}: `,
        );
      }
  }
  return found;
}

/** A page's number alone says nothing. */
function hasLetter(text: string): boolean {
  return /\p{L}/u.test(text);
}

function paragraphsOf(xml: string): string[] {
  return xml.split('</w:p>').flatMap((paragraph) => {
    const text = [...paragraph.matchAll(/<w:t(?:\s[^<>]*)?>([^<]*)<\/w:t>|<w:(?:tab|br|cr)(?:\s[^<>]*)?\/>/g)]
      .map(([, words]) => (words === undefined ? ' ' : unescapeXml(words)))
      .join('')
      .trim();
    return text === '' ? [] : [text];
  });
}

/**
 * The XML of a part with what mammoth does not know in a form that it does: fields are their result, text of a given
 * direction is text, a word with its reading above it has the reading in brackets behind it, equations are a line. What
 * readers do not see is left out.
 *
 * @param hide told how many characters of that there were
 * @param hiding the names of styles that hide their text
 */
export function toReadable(
  xml: string,
  hide?: (characters: number) => void,
  hiding?: ReadonlySet<string>,
): string {
  let readable = withOldTextBoxes(withoutHiddenRuns(xml, hide, hiding));
  readable = readable.replace(/<\/?w:(?:fldSimple|dir|bdo)(?:\s[^<>]*)?>/g, '');
  if (readable.includes('<w:ruby')) readable = replaceElements(readable, 'w:ruby', flattenRuby);
  if (readable.includes('<m:oMath')) {
    readable = replaceElements(readable, 'm:oMathParaPr', () => '');
    readable = readable.replace(/<\/?m:oMathPara(?:\s[^<>]*)?>/g, '');
    readable = replaceElements(
      readable,
      'm:oMath',
      (equation) => `<w:r><w:t xml:space="preserve">${lineUpEquation(equation)}</w:t></w:r>`,
    );
  }
  return readable;
}

function flattenRuby(ruby: string): string {
  const start = ruby.indexOf('<w:rubyBase');
  const words = (xml: string): string =>
    [...xml.matchAll(/<w:t(?:\s[^<>]*)?>([^<]*)<\/w:t>/g)].map(([, text]) => text).join('');
  const reading = words(start < 0 ? '' : ruby.slice(0, start));
  const base = words(start < 0 ? ruby : ruby.slice(start));
  return `<w:t xml:space="preserve">${base}${reading === '' ? '' : `(${reading})`}</w:t>`;
}

/** In linear time; one within another of its kind goes with the outer one's first end. */
export function replaceElements(xml: string, name: string, replace: (element: string) => string): string {
  const close = `</${name}>`;
  const open = new RegExp(`<${name}(?=[\\s/>])[^<>]*>`, 'g');
  let out = '';
  let at = 0;
  for (let found = open.exec(xml); found !== null; found = open.exec(xml)) {
    out += xml.slice(at, found.index);
    at = found.index + found[0].length;
    if (!found[0].endsWith('/>')) {
      const end = xml.indexOf(close, at);
      if (end < 0) return out + xml.slice(found.index);
      at = end + close.length;
      out += replace(xml.slice(found.index, at));
    }
    open.lastIndex = at;
  }
  return out + xml.slice(at);
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

export function unescapeXml(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi,
    (all, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? all;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
}
