import { readFile } from 'node:fs/promises';
import type { OfficeContentNode, OfficeParserAST } from 'officeparser';
import { AppError } from '../../../../schemas/app-error.js';
import type { ParseNotes } from '../parse-notes.js';
import type { PictureCollector } from '../pictures/picture-collector.js';
import { openFileBytes } from '../random-access-bytes.js';
import { unpacksAsDeclared } from '../zip-limits.js';
import { createHeadingPath } from '../heading-path.js';
import type { HeadingPath } from '../heading-path.js';
import type { Section } from '../section.js';
import { checkPackage, requireNotOle } from './check-package.js';
import type { PackageLimits } from './check-package.js';
import { COMMENT_CLASS, toReadableDocument } from './open-document.js';
import { toReadableBook } from './readable-book.js';
import { inOrder, readSlideOrder } from './slide-order.js';
import type { SlideNode } from './slide-order.js';
import { tableSections } from './table-sections.js';
import type { TableLimits } from './table-sections.js';

type Limits = TableLimits & PackageLimits;

export type OfficeKind = 'pptx' | 'odt' | 'odp' | 'epub';

/** A section of so many blocks is long enough. */
const HELD_BLOCKS = 400;
/** Of one picture, as a package declares it. */
const MAX_PICTURE_BYTES = 64 * 1024 * 1024;
const PICTURE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;

/** Answers the number of a picture of the document; null where it is not to be described. */
type TakePicture = (image: ImageNode) => Promise<number | null>;
type ImageNode = OfficeContentNode & { type: 'image' };

interface Place {
  headings: HeadingPath;
  page: number | null;
  limits: Limits;
  take: TakePicture;
}

interface Known {
  notes: ParseNotes;
  /** Takes the embedded pictures; without it none are unpacked. */
  pictures?: PictureCollector | undefined;
}

/**
 * Presentations, texts of OpenDocument and books: headings, lists, tables, notes and comments. A slide is a page, its
 * title a heading, what the speaker says told apart.
 * @throws AppError FILE_ENCRYPTED, FILE_CORRUPT, FILE_TOO_COMPLEX
 */
export async function* parseOffice(
  path: string,
  kind: OfficeKind,
  limits: Limits,
  known: Known,
): AsyncGenerator<Section> {
  await requireNotOle(path);
  await checkPackage(path, limits);
  const unpacked = await picturesOf(path, known.pictures);
  const tree = await readTree(path, kind, unpacked !== undefined, known.notes);
  const { content, auxiliary } = tree;
  const take = takePictures(tree, { ...known, pictures: unpacked });
  const slides = content.filter((node): node is SlideNode => node.type === 'slide');
  const shown = kind === 'pptx' ? await slidesOfShow(path, slides, known.notes) : slides;
  for (const slide of shown) yield* slideSections(slide, limits, take);
  const blocks = content.filter(({ type }) => type !== 'slide');
  yield* blockSections(blocks, { headings: createHeadingPath(), page: null, limits, take });
  for (const [name, nodes] of [
    ['Header', auxiliary?.headers],
    ['Footer', auxiliary?.footers],
  ] as const) {
    const said = (nodes ?? []).map(plainText).join('\n').trim();
    if (said !== '') yield { headingPath: [], page: null, kind: 'text', text: `${name}: ${said}` };
  }
}

async function slidesOfShow(path: string, slides: SlideNode[], notes: ParseNotes): Promise<SlideNode[]> {
  const order = await readSlideOrder(path);
  if (order === null) return slides;
  if (order.hidden.size > 0) notes.warn('Hidden slides were read like the others.');
  if (order.hidesShapes) notes.warn('Hidden shapes on slides were read like the others.');
  if (order.slides.includes(null)) notes.degrade('Slides whose parts have unusual names were not read.');
  for (const slide of slides)
    if (!order.slides.includes(slide.metadata?.slideNumber ?? null)) notes.drop(plainText(slide).length);
  return inOrder(slides, order);
}

/** Undefined also where they would unpack to more than the package says. */
async function picturesOf(
  path: string,
  pictures: PictureCollector | undefined,
): Promise<PictureCollector | undefined> {
  if (pictures === undefined) return undefined;
  const file = await openFileBytes(path);
  try {
    if (await unpacksAsDeclared(file, PICTURE_NAME, MAX_PICTURE_BYTES)) return pictures;
  } finally {
    await file.close();
  }
  pictures.leaveOut('Pictures unpack to more than they declare.');
  return undefined;
}

function takePictures({ attachments }: OfficeParserAST, { notes, pictures }: Known): TakePicture {
  const files = new Map(attachments.map(({ name, data }) => [name, data]));
  return async ({ metadata }) => {
    const data = files.get(metadata?.attachmentName ?? '');
    if (pictures === undefined) notes.passPictures(1);
    return pictures === undefined || data === undefined ? null : pictures.take(Buffer.from(data, 'base64'));
  };
}

function toReadable(bytes: Buffer, kind: OfficeKind, notes: ParseNotes): Promise<Buffer> | Buffer {
  if (kind === 'epub') return toReadableBook(bytes, notes);
  return kind === 'pptx' ? bytes : toReadableDocument(bytes, kind, notes);
}

async function readTree(
  path: string,
  kind: OfficeKind,
  withPictures: boolean,
  notes: ParseNotes,
): Promise<OfficeParserAST> {
  const { OfficeParser } = await import('officeparser');
  try {
    const bytes = await readFile(path);
    const readable = await toReadable(bytes, kind, notes);
    return await OfficeParser.parseOffice(readable, {
      fileType: kind,
      ocr: false,
      extractAttachments: withPictures,
      includeRawContent: false,
      ignoreSlideMasters: true,
      putNotesAtLast: false,
      outputErrorToConsole: false,
    });
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new AppError('FILE_CORRUPT', 'The document is damaged and cannot be read.', { cause: error });
  }
}

async function* slideSections(slide: SlideNode, limits: Limits, take: TakePicture): AsyncGenerator<Section> {
  const page = slide.metadata?.slideNumber ?? null;
  const headings = createHeadingPath();
  const children = slide.children ?? [];
  const shown = children.filter(({ type }) => type !== 'note');
  // The title of a slide is its first heading or, where no placeholder says so, its first line.
  const title =
    shown.find(({ type }) => type === 'heading') ?? shown.find((node) => plainText(node).trim() !== '');
  const titleText = title === undefined || title.type === 'table' ? '' : oneLine(plainText(title));
  const heading = titleText === '' ? `Slide ${page ?? ''}`.trim() : titleText;
  headings.open(1, heading);
  yield { headingPath: headings.current(), page, kind: 'text', text: `# ${heading}`, opens: true };
  const rest = titleText === '' ? shown : shown.filter((node) => node !== title);
  yield* blockSections(rest, { headings, page, limits, take });
  const notes = [...children.filter(({ type }) => type === 'note'), ...(slide.notes ?? [])];
  const spoken = notes.map((note) => plainText(note).trim()).filter((text) => text !== '');
  if (spoken.length === 0) return;
  headings.open(2, 'Speaker notes');
  const text = `## Speaker notes\n\n${spoken.join('\n\n')}`;
  yield { headingPath: headings.current(), page, kind: 'text', text, opens: true };
}

/** Paragraphs and items of lists between two headings or tables are one section. */
async function* blockSections(nodes: readonly OfficeContentNode[], place: Place): AsyncGenerator<Section> {
  const { headings, page, limits, take } = place;
  let held: string[] = [];
  let last: OfficeContentNode['type'] | null = null;
  function* flush(): Generator<Section> {
    const text = held.join('').trim();
    held = [];
    last = null;
    if (text !== '') yield { headingPath: headings.current(), page, kind: 'text', text };
  }
  const hold = (text: string, type: OfficeContentNode['type']): void => {
    if (text.trim() === '') return;
    held.push(last === null ? '' : last === 'list' && type === 'list' ? '\n' : '\n\n', text);
    last = type;
  };
  for (const node of nodes) {
    if (standsAlone(node)) {
      yield* flush();
      if (isHeading(node)) yield* headingSection(node, place);
      else if (node.type === 'table')
        yield* tableSections(tableRows(node), { headingPath: headings.current(), page }, limits);
      else yield* blockSections(node.children ?? [], place);
    } else hold(blockText(node), node.type);
    for (const remark of remarksOf(node)) hold(remark, 'note');
    for (const image of imagesOf(node)) {
      const picture = await take(image);
      if (picture === null) continue;
      yield* flush();
      yield { headingPath: headings.current(), page, kind: 'text', text: '', picture };
    }
    if (held.length >= HELD_BLOCKS) yield* flush();
  }
  yield* flush();
}

/** The pictures of a block; those of blocks that are gone through one by one come with these. */
function imagesOf(node: OfficeContentNode): ImageNode[] {
  if (node.type === 'image') return [node];
  return standsAlone(node) && node.type !== 'table' ? [] : (node.children ?? []).flatMap(imagesWithin);
}

function imagesWithin(node: OfficeContentNode): ImageNode[] {
  return node.type === 'image' ? [node] : (node.children ?? []).flatMap(imagesWithin);
}

/** Blocks that hold blocks are gone through one by one. */
function standsAlone(node: OfficeContentNode): boolean {
  const { type, children } = node;
  if (isHeading(node) || type === 'table') return true;
  if (type === 'paragraph' || type === 'list' || type === 'note' || type === 'code') return false;
  return children?.some((child) => child.type !== 'text' && child.type !== 'break') === true;
}

type HeadingNode = OfficeContentNode & { type: 'heading' | 'list' };

/** Numbered headings of texts of OpenDocument are items of a list that have a level. */
function isHeading(node: OfficeContentNode): node is HeadingNode {
  return node.type === 'heading' || (node.type === 'list' && levelOf(node) !== undefined);
}

/** The reader counts each level by itself, so that only the number of the first one is whole. */
function numberOf({ metadata }: OfficeContentNode & { type: 'list' }): string {
  const { listType, indentation, itemIndex = 0 } = metadata ?? {};
  return listType === 'ordered' && indentation === 0 ? `${itemIndex + 1}. ` : '';
}

function levelOf({ metadata }: HeadingNode): number | undefined {
  return (metadata as { level?: number } | undefined)?.level;
}

function* headingSection(node: HeadingNode, { headings, page }: Place): Generator<Section> {
  const name = oneLine(plainText(node));
  if (name === '') return;
  const title = node.type === 'list' ? `${numberOf(node)}${name}` : name;
  const level = Math.min(6, Math.max(1, levelOf(node) ?? 1));
  headings.open(level, title);
  const text = `${'#'.repeat(level)} ${title}`;
  yield { headingPath: headings.current(), page, kind: 'text', text, opens: true };
}

function blockText(node: OfficeContentNode): string {
  const text = plainText(node).trim();
  if (node.type === 'image') return node.metadata?.altText ?? '';
  if (text === '') return '';
  if (node.type === 'note') return `Note: ${text}`;
  if (node.type !== 'list') return text;
  const { indentation = 0, listType = 'unordered', itemIndex = 0 } = node.metadata ?? {};
  const mark = listType === 'ordered' ? `${itemIndex + 1}.` : '-';
  return `${'  '.repeat(Math.min(indentation, 10))}${mark} ${text}`;
}

/** What notes and comments say of a block; those of blocks that are gone through one by one come with these. */
function remarksOf(node: OfficeContentNode): string[] {
  const isWhole = isHeading(node) || node.type === 'table' || !standsAlone(node);
  const gather = (of: RemarkList): OfficeContentNode[] =>
    isWhole ? remarksWithin(node, of) : (node[of] ?? []);
  const said = (name: string, nodes: readonly OfficeContentNode[]): string[] =>
    nodes.map((note) => plainText(note).trim()).flatMap((text) => (text === '' ? [] : [`${name}${text}`]));
  const notes = gather('notes').flatMap((note) => said(isComment(note) ? '' : 'Note: ', [note]));
  return [...notes, ...said('Comment: ', gather('comments'))];
}

type RemarkList = 'notes' | 'comments';

function remarksWithin(node: OfficeContentNode, of: RemarkList): OfficeContentNode[] {
  const own = node[of] ?? [];
  return [
    ...own.flatMap((note) => [note, ...remarksWithin(note, of)]),
    ...(node.children ?? []).flatMap((child) => remarksWithin(child, of)),
  ];
}

/** A comment of OpenDocument, which says itself that it is one. */
function isComment({ metadata }: OfficeContentNode): boolean {
  return (metadata as { noteType?: string } | undefined)?.noteType === COMMENT_CLASS;
}

function* tableRows(table: OfficeContentNode): Generator<string[]> {
  for (const row of table.children ?? []) {
    if (row.type === 'row') yield (row.children ?? []).map((cell) => plainText(cell));
  }
}

/** Blocks stand on lines of their own, so that the paragraphs of a cell are not glued together. */
function plainText(node: OfficeContentNode): string {
  const children = node.children ?? [];
  if (children.length === 0) return node.type === 'break' ? '\n' : (node.text ?? '');
  const inline = children.every(({ type }) => type === 'text' || type === 'break' || type === 'image');
  return children.map(plainText).join(inline ? '' : '\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
