import { readFile } from 'node:fs/promises';
import { AppError } from '../../../../schemas/app-error.js';
import type { ParseNotes } from '../parse-notes.js';
import type { Section } from '../section.js';
import { checkPackage, isOle, requireNotOle } from './check-package.js';
import type { PackageLimits } from './check-package.js';
import { tableSections } from './table-sections.js';
import type { TableLimits } from './table-sections.js';
import { readWorkbookTraits } from './workbook-traits.js';

type Limits = TableLimits & PackageLimits;

type Cell = string | number | boolean | Date | null | undefined;

const DAY = 24 * 60 * 60 * 1000;
/** Excel counts 29 February 1900, a day that was none: only from March on are serial numbers days since this one. */
const ORIGIN = Date.UTC(1899, 11, 30);
/** The day before 1 January 1900, which is day 1. */
const FIRST_ORIGIN = Date.UTC(1899, 11, 31);
const FALSE_LEAP_DAY = 60;

interface Sheet {
  name: string;
  hidden?: boolean;
  rows: () => Iterable<string[]>;
}

/**
 * The sheets of a workbook, their names as headings, their cells as Markdown tables with the header repeated; values
 * and not formulas, dates as ISO 8601, times and durations as hours and minutes.
 * @throws AppError FILE_ENCRYPTED, FILE_CORRUPT, FILE_TOO_COMPLEX, UNSUPPORTED_CONTENT
 */
export async function* parseSpreadsheet(
  path: string,
  kind: 'xlsx' | 'xls' | 'ods',
  limits: Limits,
  notes: ParseNotes,
): AsyncGenerator<Section> {
  const sheets = kind === 'xlsx' ? await readXlsx(path, limits) : await readOther(path, kind, limits);
  const traits = kind === 'xls' ? null : await readWorkbookTraits(path, kind).catch(() => null);
  if (traits?.lacksResults)
    notes.degrade('Formulas without a stored result were left out; open the workbook and save it.');
  if (traits?.hides || sheets.some(({ hidden }) => hidden))
    notes.warn('Hidden sheets, rows or columns were read like the others.');
  for (const { name, rows } of sheets) {
    const headingPath = name.trim() === '' ? [] : [name.trim()];
    let named = headingPath.length === 0;
    for await (const section of tableSections(rows(), { headingPath, page: null }, limits)) {
      // A sheet without a cell has nothing to be found by.
      if (!named) yield { headingPath, page: null, kind: 'text', text: `# ${name.trim()}`, opens: true };
      named = true;
      yield section;
    }
  }
}

async function readXlsx(path: string, limits: Limits): Promise<Sheet[]> {
  await requireNotOle(path);
  await checkPackage(path, limits);
  // By the archive's directory: its reader for Node goes from part to part and waits without end in a damaged archive.
  const { default: readXlsxFile } = await import('read-excel-file/universal');
  const bytes = await readFile(path);
  try {
    const sheets = await readXlsxFile(new Uint8Array(bytes).buffer, { trim: true });
    return sheets.map(({ sheet, data }) => ({
      name: sheet,
      rows: () => textRows(data as unknown as Cell[][], ORIGIN),
    }));
  } catch (error) {
    // It falls over what the format may leave out, such as the places of cells. Of damage it tells; the other reader,
    // which is slower, passes that over.
    if (!(error instanceof TypeError)) return damaged(error);
    return readBook(bytes, 'xlsx').catch(() => damaged(error));
  }
}

async function readOther(path: string, kind: 'xls' | 'ods', limits: Limits): Promise<Sheet[]> {
  if (kind === 'ods') await checkPackage(path, limits);
  // The reader takes any bytes for a table of one cell.
  else if (!(await isOle(path)))
    throw new AppError('UNSUPPORTED_CONTENT', 'The file is no Excel workbook; save it as .xlsx or .csv.');
  return readBook(await readFile(path), kind).catch(damaged);
}

async function readBook(bytes: Buffer, kind: 'xlsx' | 'xls' | 'ods'): Promise<Sheet[]> {
  const { read, utils, set_cptable: setCodePages, ...others } = await import('@e965/xlsx');
  // Before Excel 97 texts were written in the code page of the machine. As a module the reader knows none by itself.
  if (kind === 'xls') setCodePages(await import('@e965/xlsx/dist/cpexcel.full.mjs'));
  const book = read(kind === 'ods' ? withStyles(bytes, others.CFB as Archives) : bytes, {
    cellDates: true,
    dense: true,
    UTC: true,
    cellFormula: false,
    cellHTML: false,
  });
  return book.SheetNames.map((name, i) => ({
    name,
    hidden: Boolean(book.Workbook?.Sheets?.[i]?.Hidden),
    *rows() {
      const options = {
        header: 1,
        raw: true,
        defval: null,
        blankrows: false,
        UTC: true,
      } as const;
      yield* textRows(utils.sheet_to_json<Cell[]>(book.Sheets[name]!, options), FIRST_ORIGIN);
    },
  }));
}

/** As much of the reader's own way with archives as is used here; it has no types. */
interface Archives {
  read(bytes: Buffer, options: { type: 'buffer' }): object;
  find(archive: object, path: string): object | null;
  write(archive: object, options: { fileType: 'zip'; type: 'buffer' }): Buffer;
  utils: { cfb_add(archive: object, path: string, content: Buffer): void };
}

/** The reader wants this part, which an OpenDocument may do without. */
const STYLES = '/styles.xml';

function withStyles(bytes: Buffer, archives: Archives): Buffer {
  const zip = archives.read(bytes, { type: 'buffer' });
  if (archives.find(zip, STYLES) !== null) return bytes;
  archives.utils.cfb_add(zip, STYLES, Buffer.from('<office:document-styles/>'));
  return archives.write(zip, { fileType: 'zip', type: 'buffer' });
}

/** @param origin the date that the reader gives for a serial number of 0 */
function* textRows(rows: Iterable<readonly Cell[]>, origin: number): Generator<string[]> {
  for (const row of rows) {
    const cells = row.map((cell) => cellText(cell, origin));
    while (cells.length > 0 && cells.at(-1) === '') cells.pop();
    yield cells;
  }
}

function cellText(value: Cell, origin: number): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : dateText(value, origin);
  // Sums have digits that no program shows: they are what is left of binary fractions.
  if (typeof value === 'number' && !Number.isInteger(value)) return String(Number(value.toPrecision(15)));
  return String(value);
}

/** A day without a time is what most cells hold; one with a time before March 1900 is a time or a duration. */
function dateText(date: Date, origin: number): string {
  // Serial numbers of days are fractions: whole seconds are what was meant.
  const time = Math.round(date.getTime() / 1000) * 1000;
  const days = (time - origin) / DAY;
  const isEarly = days >= 0 && days < FALSE_LEAP_DAY;
  if (isEarly && (days < 1 || !Number.isInteger(days))) return clockText((time - origin) / 1000);
  const text = new Date(isEarly ? FIRST_ORIGIN + days * DAY : time).toISOString();
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19);
}

function clockText(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (parts[2] === 0) parts.pop();
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

function damaged(error: unknown): never {
  if (error instanceof AppError || error instanceof RangeError) throw error;
  const said = error instanceof Error ? error.message : '';
  if (/password|encrypt/i.test(said)) throw new AppError('FILE_ENCRYPTED');
  throw new AppError('FILE_CORRUPT', 'The workbook is damaged and cannot be read.', { cause: error });
}
