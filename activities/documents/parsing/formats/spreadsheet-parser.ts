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
  const { buffer } = new Uint8Array(await readFile(path));
  const sheets = await readXlsxFile(buffer, { trim: true }).catch(damaged);
  return sheets.map(({ sheet, data }) => ({
    name: sheet,
    rows: () => textRows(data as unknown as Cell[][]),
  }));
}

async function readOther(path: string, kind: 'xls' | 'ods', limits: Limits): Promise<Sheet[]> {
  if (kind === 'ods') await checkPackage(path, limits);
  // The reader takes any bytes for a table of one cell.
  else if (!(await isOle(path)))
    throw new AppError('UNSUPPORTED_CONTENT', 'The file is no Excel workbook; save it as .xlsx or .csv.');
  const { read, utils, set_cptable: setCodePages } = await import('@e965/xlsx');
  // Before Excel 97 texts were written in the code page of the machine. As a module the reader knows none by itself.
  if (kind === 'xls') setCodePages(await import('@e965/xlsx/dist/cpexcel.full.mjs'));
  const bytes = await readFile(path);
  const book = await Promise.resolve()
    .then(() =>
      read(bytes, {
        cellDates: true,
        dense: true,
        UTC: true,
        cellFormula: false,
        cellHTML: false,
      }),
    )
    .catch(damaged);
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
