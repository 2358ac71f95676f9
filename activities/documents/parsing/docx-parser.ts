import { readFile } from 'node:fs/promises';
import mammoth from 'mammoth';
// @ts-expect-error -- the package has no types for it
import { openArrayBuffer } from 'mammoth/lib/zipfile.js';
import { AppError } from '../../../schemas/app-error.js';
import { parseHtml } from './html-parser.js';
import { isOleHead } from './ole-directory.js';
import type { ParseNotes } from './parse-notes.js';
import type { PictureCollector } from './pictures/picture-collector.js';
import { createPictureMarks } from './pictures/picture-marks.js';
import type { PictureMarks } from './pictures/picture-marks.js';
import { placePictures } from './pictures/place-pictures.js';
import { openFileBytes } from './random-access-bytes.js';
import type { Section } from './section.js';
import { withHeadingStyles } from './word-headings.js';
import { withNumbers } from './word-numbering.js';
import { readBesideBody, readMain, toReadable } from './word-package.js';
import type { PackageParts } from './word-package.js';
import { ownerOfRelationships, withLostRelationships, withoutLostNotes } from './word-relationships.js';
import { hidingStyles, readStyles } from './word-styles.js';
import { checkZipLimits, isMarkup, unpacksAsDeclared } from './zip-limits.js';
import type { ZipLimits } from './zip-limits.js';

/** One embedded file is held in memory as a whole, several times over. */
const MAX_MEDIA_BYTES = 64 * 1024 * 1024;

/**
 * Word documents by way of HTML: headings, lists, tables, footnotes. Pages are not known.
 * @param known.pictures takes the embedded pictures; without it none are unpacked
 * @throws AppError FILE_ENCRYPTED, FILE_CORRUPT, FILE_TOO_COMPLEX (the package unpacks to more than the limits)
 */
export async function* parseDocx(
  path: string,
  limits: ZipLimits & { maxNesting: number },
  { notes, pictures }: { notes: ParseNotes; pictures?: PictureCollector | undefined },
): AsyncGenerator<Section> {
  let unpacked = pictures;
  const file = await openFileBytes(path);
  try {
    const head = await file.read(0, Math.min(8, file.size));
    // Word keeps a package that has a password inside an OLE container.
    if (isOleHead(head)) throw new AppError('FILE_ENCRYPTED');
    await checkZipLimits(file, limits);
    if (pictures && !(await unpacksAsDeclared(file, /^word\/media\//i, MAX_MEDIA_BYTES))) {
      pictures.leaveOut('Pictures unpack to more than they declare.');
      unpacked = undefined;
    }
  } finally {
    await file.close();
  }
  const marks = createPictureMarks();
  const parts = await openParts(path, notes).catch(refuse);
  if (parts.exists('word/diagrams/data1.xml')) notes.degrade('Diagrams (SmartArt) were not read.');
  const html = await toHtml(parts, notes, unpacked && { pictures: unpacked, marks });
  yield* placePictures(
    bodyThenNotes(html, (part) => parseHtml(part, limits.maxNesting, { marks, notes })),
    marks,
  );
  yield* besideBody(parts);
}

/** Footnotes and endnotes stand behind the text and belong to any of its headings: they are a part of their own. */
function* bodyThenNotes(html: string, read: (html: string) => Generator<Section>): Generator<Section> {
  const start = html.lastIndexOf('<ol><li id="');
  if (start < 0 || !/^<ol><li id="[^"]*note-\d+">/.test(html.slice(start, start + 200))) {
    yield* read(html);
    return;
  }
  yield* read(html.slice(0, start));
  const notes = html.slice(start).replace(/ ?<a href="#[^"]*">↑<\/a>/g, '');
  let opens = true;
  for (const section of read(`<p>Notes:</p>${notes}`)) {
    yield { ...section, headingPath: [], opens };
    opens = false;
  }
}

/** Headers, footers and comments, which mammoth leaves out, behind the text: each a part of its own. */
async function* besideBody(parts: Parts): AsyncGenerator<Section> {
  const found = await readBesideBody(asText(parts));
  const section = (text: string, opens: boolean): Section => ({
    headingPath: [],
    page: null,
    kind: 'text',
    text,
    opens,
  });
  const edges = found.filter(({ kind }) => kind !== 'comment').map(({ text }) => text);
  if (edges.length > 0) yield section([...new Set(edges)].join('\n\n'), true);
  const comments = found.filter(({ kind }) => kind === 'comment');
  for (const [i, { text }] of comments.entries()) yield section(text, i === 0);
}

interface Parts {
  exists(name: string): boolean;
  read(name: string, encoding?: string): Promise<unknown>;
}

function asText(parts: Parts): PackageParts {
  return {
    exists: (name) => parts.exists(name),
    read: async (name) => String(await parts.read(name, 'utf-8')),
  };
}

/**
 * The parts of a package as mammoth asks for them. Relationships may say that a part of any name is the document, and
 * what is read as text was checked by its name: no other part is read so. Styles that the document brings for mammoth
 * itself are none of Word's.
 */
async function openParts(path: string, notes: ParseNotes): Promise<Parts> {
  const open = openArrayBuffer as (bytes: Buffer) => Promise<Parts>;
  const parts = await open(await readFile(path));
  const { main, hiding, addStyling } = await readStyling(asText(parts));
  const ownerOf = (name: string): string | null => {
    const owner = ownerOfRelationships(name);
    return owner !== null && isMarkup(owner) && parts.exists(owner) ? owner : null;
  };
  const readRelated = async (name: string, owner: string): Promise<string> => {
    const own = parts.exists(name) ? await asText(parts).read(name) : '';
    return withLostRelationships(own, await asText(parts).read(owner));
  };
  return {
    ...parts,
    exists: (name) => name !== 'mammoth/style-map' && (parts.exists(name) || ownerOf(name) !== null),
    read(name, encoding) {
      const owner = ownerOf(name);
      if (owner !== null) return readRelated(name, owner);
      if (!parts.exists(name)) return Promise.reject(new Error(`there is no part ${name}`));
      if (encoding !== undefined && encoding !== 'base64' && !isMarkup(name))
        return Promise.reject(new Error(`a part that is read as text is named ${name}`));
      const part = parts.read(name, encoding);
      if (encoding === undefined || encoding === 'base64' || !isMarkup(name)) return part;
      return part.then((text) => {
        if (typeof text !== 'string') return text;
        if (/<w:altChunk[\s/>]/.test(text))
          notes.degrade('A part of the document that is kept in another format was not read.');
        const readable = toReadable(text, notes.hide, hiding);
        return name === main ? addStyling(readable) : readable;
      });
    },
  };
}

/** How the document's own part gets its headings, and the numbers of its paragraphs: mammoth knows few of both. */
async function readStyling(
  parts: PackageParts,
): Promise<{ main: string; hiding: ReadonlySet<string>; addStyling(xml: string): string }> {
  const { main, related } = await readMain(parts);
  const partOf = async (type: string): Promise<string> => {
    const name = related.find((part) => part.type === type)?.target;
    return name !== undefined && isMarkup(name) && parts.exists(name) ? parts.read(name) : '';
  };
  const numbering = await partOf('numbering');
  const styles = readStyles(await partOf('styles'));
  return {
    main,
    hiding: hidingStyles(styles),
    addStyling: (xml) => withHeadingStyles(withNumbers(xml, numbering, styles), styles),
  };
}

async function toHtml(
  parts: Parts,
  notes: ParseNotes,
  taken: { pictures: PictureCollector; marks: PictureMarks } | undefined,
): Promise<string> {
  const source = async (image: { readAsBuffer(): Promise<Buffer> }): Promise<{ src: string }> => {
    if (taken === undefined) notes.passPictures(1);
    const picture = taken && (await takePicture(image, taken.pictures));
    return { src: picture == null ? '' : taken!.marks.of(picture) };
  };
  try {
    const { value } = await mammoth.convertToHtml({ file: parts } as never, {
      convertImage: mammoth.images.imgElement(source),
      includeDefaultStyleMap: true,
      ignoreEmptyParagraphs: true,
      transformDocument: withoutLostNotes,
    });
    return value;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  if (isProgramFault(error)) throw error;
  throw new AppError('FILE_CORRUPT', 'The Word document is damaged and cannot be read.', { cause: error });
}

/** What mammoth finds wrong with a document it says by a plain error; the engine's own kinds are faults of programs. */
function isProgramFault(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}

/** A picture that is missing, or linked and so somewhere else, cannot be read. */
async function takePicture(
  image: { readAsBuffer(): Promise<Buffer> },
  pictures: PictureCollector,
): Promise<number | null> {
  const bytes = pictures.full ? null : await image.readAsBuffer().catch(() => null);
  if (bytes !== null) return pictures.take(Buffer.from(bytes));
  pictures.leaveOut(pictures.full ? undefined : 'A picture is missing in the file or linked from elsewhere.');
  return null;
}
