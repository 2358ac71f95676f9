import type { Entry, ZipFile } from 'yauzl';
import type { OfficeContentNode } from 'officeparser';
import { mainPartOf, readRelationships } from '../word-package.js';
import type { Relationship } from '../word-package.js';
import { readZipText, walkZipEntries, withZipFile } from '../zip-directory.js';
import { saidBeside, saidInAlternatives } from './slide-extras.js';

export type SlideNode = OfficeContentNode & { type: 'slide' };

/** What a presentation says of its slides, by the number in the name of the slide's part. */
export interface SlideOrder {
  /** The slides of the show in their order; null for one whose name has no number. */
  slides: readonly (number | null)[];
  hidden: ReadonlySet<number>;
  /** Whether shapes on slides are hidden. */
  hidesShapes: boolean;
  /** Of the number of a part of speaker notes the number of its slide. */
  slideOfNotes: ReadonlyMap<number, number>;
  /** What a slide's diagrams (SmartArt), charts, comments and shapes with an alternative say. */
  extras: ReadonlyMap<number, readonly string[]>;
}

/** Of one part that is read as a whole here. */
const MAX_PART_BYTES = 16 * 1024 * 1024;

type Parts = (name: string) => Promise<string>;

/**
 * The order of the slides, and which notes are whose: the names of the parts say neither, since slides are moved,
 * deleted and put in without a change of names. Null where the package has no list of its slides.
 */
export function readSlideOrder(path: string): Promise<SlideOrder | null> {
  return withZipFile(path, async (zip) => readOrder(await openParts(zip)));
}

/** A part that is not there, or is longer than any of these should be, is empty. */
async function openParts(zip: ZipFile): Promise<Parts> {
  const entries = new Map<string, Entry>();
  await walkZipEntries(zip, (entry) => {
    if (/\.(?:xml|rels)$/i.test(entry.fileName)) entries.set(entry.fileName, entry);
    return true;
  });
  return async (name) => {
    const entry = entries.get(name);
    if (entry === undefined || entry.uncompressedSize > MAX_PART_BYTES) return '';
    return readZipText(zip, entry, MAX_PART_BYTES);
  };
}

async function readOrder(parts: Parts): Promise<SlideOrder | null> {
  const main = mainPartOf(await parts('_rels/.rels'), 'ppt/presentation.xml');
  const related = new Map((await relationshipsOf(main, parts)).map(({ id, target }) => [id, target]));
  const listed = slideIds(await parts(main)).flatMap((id) => related.get(id) ?? []);
  if (listed.length === 0) return null;
  const hidden = new Set<number>();
  let hidesShapes = false;
  const slideOfNotes = new Map<number, number>();
  const extras = new Map<number, string[]>();
  for (const slide of listed) {
    const number = numberIn(slide);
    if (number === null) continue;
    const xml = await parts(slide);
    if (isHidden(xml)) hidden.add(number);
    hidesShapes ||= HIDDEN_SHAPE.test(xml);
    const said = saidInAlternatives(xml);
    for (const { type, target } of await relationshipsOf(slide, parts)) {
      const notes = numberIn(target);
      if (type === 'notesSlide' && notes !== null) slideOfNotes.set(notes, number);
      for (const text of await saidBeside(type, () => parts(target))) said.push(text);
    }
    if (said.length > 0) extras.set(number, said);
  }
  return { slides: listed.map(numberIn), hidden, hidesShapes, slideOfNotes, extras };
}

async function relationshipsOf(part: string, parts: Parts): Promise<Relationship[]> {
  const cut = part.lastIndexOf('/') + 1;
  const folder = part.slice(0, cut);
  return readRelationships(await parts(`${folder}_rels/${part.slice(cut)}.rels`), folder);
}

/** The sections of a presentation list slides again, without a relationship. */
function slideIds(presentation: string): string[] {
  return (presentation.match(/<(?:\w+:)?sldId\s[^<>]*>/g) ?? []).flatMap(
    (tag) => /\s\w+:id\s*=\s*["']([^"']*)/.exec(tag)?.[1] ?? [],
  );
}

/** As the reader of presentations numbers its slides and notes. */
function numberIn(part: string): number | null {
  const number = /\/(?:s|notesS)lide(\d{1,9})\.xml$/.exec(part)?.[1];
  return number === undefined ? null : Number(number);
}

const HIDDEN_SHAPE = /<(?:\w+:)?cNvPr\s[^<>]*hidden\s?=\s?["'](?:1|true)["']/;

function isHidden(slide: string): boolean {
  const root = /<(?:\w+:)?sld\s[^<>]*>/.exec(slide)?.[0] ?? '';
  return /\sshow\s*=\s*["'](?:0|false)["']/.test(root);
}

/** The slides of the show as it runs, each with its own notes; those that were left behind in the package are not. */
export function inOrder(nodes: readonly SlideNode[], order: SlideOrder): SlideNode[] {
  const slides = new Map(nodes.map((node) => [node.metadata?.slideNumber, node]));
  const notes = new Map<number, OfficeContentNode[]>();
  for (const note of nodes.flatMap((node) => node.notes ?? [])) {
    const slide = order.slideOfNotes.get(noteNumber(note) ?? -1);
    if (slide === undefined) continue;
    notes.set(slide, [...(notes.get(slide) ?? []), note]);
  }
  return order.slides.flatMap((number, index): SlideNode[] => {
    if (number === null) return [];
    const slide = slides.get(number);
    const spoken = notes.get(number) ?? [];
    const drawn = (order.extras.get(number) ?? []).map((text): OfficeContentNode => ({
      type: 'paragraph',
      text,
      children: [],
    }));
    if (slide === undefined && spoken.length + drawn.length === 0) return [];
    const children = [...(slide?.children ?? []), ...drawn];
    const metadata = { ...slide?.metadata, slideNumber: index + 1 };
    return [{ ...slide, type: 'slide', children, notes: spoken, metadata }];
  });
}

function noteNumber({ metadata }: OfficeContentNode): number | undefined {
  return metadata !== undefined && 'slideNumber' in metadata ? metadata.slideNumber : undefined;
}
