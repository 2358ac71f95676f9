import { AppError } from '../../../../schemas/app-error.js';
import type { FileKind, MediaKind } from '../file-types.js';
import type { Nest, ParsedSections, ParseSource } from '../parse-source.js';
import type { OfficeKind } from './office-parser.js';
import type { MailIds } from '../parser-messages.js';
import type { Section } from '../section.js';
import type { DecodedText } from '../text-encoding.js';

/** The kinds whose parsers stand in this directory. */
export type FormatKind = Exclude<FileKind, 'txt' | 'md' | 'html' | 'pdf' | 'docx' | MediaKind>;

type Source = ParseSource & { nest: Nest };
type Reader = (source: Source) => Promise<ParsedSections>;
type Sections = ParsedSections['sections'];

/** Each parser is loaded at its first use. */
const READERS: Record<FormatKind, Reader> = {
  csv: (source) => readDelimited(source),
  tsv: (source) => readDelimited(source, '\t'),
  json: (source) =>
    readText(source, async (text) =>
      (await import('./json-parser.js')).parseJson(text, source.limits.maxNesting, source.nest.notes),
    ),
  jsonl: (source) =>
    readText(source, async (text) =>
      (await import('./json-parser.js')).parseJsonLines(text, source.limits.maxNesting, source.nest.notes),
    ),
  xml: (source) => readXml(source),
  svg: (source) => readXml(source),
  code: (source) => readText(source, async (text) => (await import('./code-parser.js')).parseCode(text)),
  xlsx: (source) => readSpreadsheet(source, 'xlsx'),
  xls: (source) => readSpreadsheet(source, 'xls'),
  ods: (source) => readSpreadsheet(source, 'ods'),
  pptx: async (source) => withSlides(await readOffice(source, 'pptx')),
  odp: async (source) => withSlides(await readOffice(source, 'odp')),
  odt: async (source) => withoutPages(await readOffice(source, 'odt')),
  epub: async (source) => withoutPages(await readOffice(source, 'epub')),
  eml: async (source) => {
    const { parseEml } = await import('./eml-parser.js');
    return withIds((onIds) => parseEml(source, onIds));
  },
  msg: async (source) => {
    const { parseMsg } = await import('./msg-parser.js');
    return withIds((onIds) => parseMsg(source, onIds));
  },
  doc: async (source) => {
    const { path, limits, pictures, nest } = source;
    const { isRtf, isZip } = await import('./check-package.js');
    // Word has always opened these under its own extension, so there are many.
    if (await isRtf(path)) return READERS.rtf(source);
    if (await isZip(path))
      return withoutPages(
        (await import('../docx-parser.js')).parseDocx(path, limits, { notes: nest.notes, pictures }),
      );
    return withoutPages((await import('./doc-parser.js')).parseDoc(path));
  },
  rtf: async ({ path, limits, pictures, nest }) => {
    const { readConverted } = await import('./libreoffice.js');
    const { parseDocx } = await import('../docx-parser.js');
    return withoutPages(
      readConverted(path, 'rtf', (docx) => parseDocx(docx, limits, { notes: nest.notes, pictures })),
    );
  },
  ppt: async ({ path, limits, pictures, nest }) => {
    const { hasPassword, readConverted } = await import('./libreoffice.js');
    const { parseOffice } = await import('./office-parser.js');
    const known = { notes: nest.notes, pictures };
    if (await hasPassword(path)) throw new AppError('FILE_ENCRYPTED');
    return withSlides(readConverted(path, 'ppt', (pptx) => parseOffice(pptx, 'pptx', limits, known)));
  },
  png: readImage,
  jpeg: readImage,
  gif: readImage,
  webp: readImage,
  bmp: readImage,
  tiff: readImage,
  zip: async (source) => withoutPages((await import('./zip-parser.js')).parseZip(source)),
};

/** The package that reads a kind, where one does. */
const PACKAGES: Partial<Record<FormatKind, string>> = {
  csv: 'csv-parse',
  tsv: 'csv-parse',
  xml: 'saxes',
  svg: 'saxes',
  xlsx: 'read-excel-file',
  xls: '@e965/xlsx',
  ods: '@e965/xlsx',
  pptx: 'officeparser',
  odp: 'officeparser',
  odt: 'officeparser',
  epub: 'officeparser',
  png: 'tesseract.js',
  jpeg: 'tesseract.js',
  gif: 'tesseract.js',
  webp: 'tesseract.js',
  bmp: 'tesseract.js',
  tiff: 'tesseract.js',
  eml: 'postal-mime',
  msg: '@kenjiuno/msgreader',
  doc: 'word-extractor',
  zip: 'yauzl',
};

/** The program on PATH that does. */
const PROGRAMS: Partial<Record<FormatKind, string>> = { rtf: 'libreoffice', ppt: 'libreoffice' };

/** Chooses the parser of a kind. */
export async function parseFormat(source: Source & { kind: FormatKind }): Promise<ParsedSections> {
  const { nest } = source;
  const parsed = await READERS[source.kind](source);
  const name = PACKAGES[source.kind];
  const program = PROGRAMS[source.kind] ?? source.kind;
  return {
    notes: nest.notes,
    parser: name === undefined ? { name: program } : { name, package: name },
    ...parsed,
  };
}

async function readOffice(
  { path, limits, pictures, nest }: Source,
  kind: OfficeKind,
): Promise<AsyncIterable<Section>> {
  const { parseOffice } = await import('./office-parser.js');
  return parseOffice(path, kind, limits, { notes: nest.notes, pictures });
}

function withoutPages(sections: Sections): ParsedSections {
  return { sections, pages: () => null };
}

async function readText(
  { path }: Source,
  parse: (text: DecodedText) => Promise<Sections>,
  declared?: (head: string) => string | undefined,
): Promise<ParsedSections> {
  const { openText } = await import('../text-encoding.js');
  const text = await openText(path, declared);
  return { ...withoutPages(await parse(text)), encoding: text.encoding };
}

function readDelimited(source: Source, delimiter?: string): Promise<ParsedSections> {
  return readText(source, async (text) =>
    (await import('./delimited-parser.js')).parseDelimited(text, source.limits, delimiter),
  );
}

async function readXml(source: Source): Promise<ParsedSections> {
  const { declaredXmlEncoding, parseXml, svgOptions } = await import('./xml-parser.js');
  const { maxNesting } = source.limits;
  const options = source.kind === 'svg' ? svgOptions(maxNesting) : { maxNesting, paths: true };
  return readText(
    source,
    (text) => Promise.resolve(parseXml(text, options, source.nest.notes)),
    declaredXmlEncoding,
  );
}

async function readImage(source: Source): Promise<ParsedSections> {
  const { tesseractFor } = await import('../ocr/tesseract-program.js');
  const { parseImage } = await import('./image-parser.js');
  let read: ReturnType<ParsedSections['pages']> = null;
  const sections = parseImage(source, (pages) => void (read = pages));
  const parsed: ParsedSections = { sections, pages: () => read };
  return tesseractFor(source.limits.ocrLanguages) === null
    ? parsed
    : { ...parsed, parser: { name: 'tesseract' } };
}

async function readSpreadsheet(
  { path, limits, nest }: Source,
  kind: 'xlsx' | 'xls' | 'ods',
): Promise<ParsedSections> {
  const { parseSpreadsheet } = await import('./spreadsheet-parser.js');
  return withoutPages(parseSpreadsheet(path, kind, limits, nest.notes));
}

/** Slides are counted as they come. */
function withSlides(sections: AsyncIterable<Section>): ParsedSections {
  let slides = 0;
  async function* counted(): AsyncGenerator<Section> {
    for await (const section of sections) {
      slides = Math.max(slides, section.page ?? 0);
      yield section;
    }
  }
  return { sections: counted(), pages: () => ({ done: slides, total: slides }) };
}

function withIds(parse: (onIds: (ids: MailIds) => void) => Sections): ParsedSections {
  let ids: MailIds | null = null;
  return { ...withoutPages(parse((found) => void (ids = found))), mail: () => ids };
}
