import { readFile } from 'node:fs/promises';
import { AppError } from '../../../../schemas/app-error.js';
import type { Section } from '../section.js';
import { checkPackage, isOle, requireNotOle } from './check-package.js';
import type { PackageLimits } from './check-package.js';
import { tableSections } from './table-sections.js';
import type { TableLimits } from './table-sections.js';

type Limits = TableLimits & PackageLimits;

type Cell = string | number | boolean | Date | null | undefined;

interface Sheet {
  name: string;
  rows: () => Iterable<string[]>;
}

/**
 * The sheets of a workbook, their names as headings, their cells as Markdown tables with the header repeated; values
 * and not formulas, dates as ISO 8601.
 * @throws AppError FILE_ENCRYPTED, FILE_CORRUPT, FILE_TOO_COMPLEX, UNSUPPORTED_CONTENT
 */
export async function* parseSpreadsheet(
  path: string,
  kind: 'xlsx' | 'xls' | 'ods',
  limits: Limits,
): AsyncGenerator<Section> {
  const sheets = kind === 'xlsx' ? await readXlsx(path, limits) : await readOther(path, kind, limits);
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
      rows: () => textRows(data as unknown as Cell[][]),
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
  return book.SheetNames.map((name) => ({
    name,
    *rows() {
      const options = {
        header: 1,
        raw: true,
        defval: null,
        blankrows: false,
        UTC: true,
      } as const;
      yield* textRows(utils.sheet_to_json<Cell[]>(book.Sheets[name]!, options));
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

function* textRows(rows: Iterable<readonly Cell[]>): Generator<string[]> {
  for (const row of rows) {
    const cells = row.map(cellText);
    while (cells.length > 0 && cells.at(-1) === '') cells.pop();
    yield cells;
  }
}

function cellText(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : dateText(value);
  return String(value);
}

/** A day without a time is what most cells hold. */
function dateText(date: Date): string {
  // Serial numbers of days are fractions: whole seconds are what was meant.
  const text = new Date(Math.round(date.getTime() / 1000) * 1000).toISOString();
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19);
}

function damaged(error: unknown): never {
  if (error instanceof AppError || error instanceof RangeError) throw error;
  const said = error instanceof Error ? error.message : '';
  if (/password|encrypt/i.test(said)) throw new AppError('FILE_ENCRYPTED');
  throw new AppError('FILE_CORRUPT', 'The workbook is damaged and cannot be read.', { cause: error });
}
