import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { AppError } from '../../../../schemas/app-error.js';
import type { Section } from '../section.js';
import type { DecodedText } from '../text-encoding.js';
import { beyondLimit } from './limit-error.js';
import { tableSections } from './table-sections.js';
import type { TableLimits } from './table-sections.js';

/** The comma last: between digits it may be a decimal one. */
const DELIMITERS = [';', '\t', '|', ','] as const;
const SAMPLE_LENGTH = 64 * 1024;
const SAMPLE_LINES = 50;
/** Characters; a quote that is never closed takes the rest of the file for one cell. */
const MAX_RECORD = 4 * 1024 * 1024;

/**
 * Tables in text: their rows as Markdown tables with the header repeated, in constant memory. The delimiter is found
 * by the first lines unless it is given.
 * @throws AppError FILE_TOO_COMPLEX for too many rows or columns; FILE_CORRUPT for quotes that do not close
 */
export async function* parseDelimited(
  text: DecodedText,
  limits: TableLimits,
  given?: string,
): AsyncGenerator<Section> {
  const fragments = text.fragments();
  const first = await readSample(fragments);
  // Excel's own word for it, on a line of its own.
  const said = /^sep=(.)\n/i.exec(first);
  const head = said ? first.slice(said[0].length) : first;
  const delimiter = said?.[1] ?? given ?? findDelimiter(head);
  async function* all(): AsyncGenerator<string> {
    yield head;
    yield* fragments;
  }
  const parser = parse({
    delimiter,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD,
    record_delimiter: '\n',
  });
  const source = Readable.from(all(), { objectMode: true });
  source.on('error', (error) => parser.destroy(error));
  const rows = source.pipe(parser) as AsyncIterable<string[]>;
  try {
    yield* tableSections(rows, { headingPath: [], page: null }, limits);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (error.code === 'CSV_MAX_RECORD_SIZE') throw beyondLimit('maxRecord', MAX_RECORD);
    const line = (error as unknown as { lines?: number }).lines;
    throw new AppError(
      'FILE_CORRUPT',
      `The table cannot be read from line ${line ?? '?'} on: ${error.message}`,
      {
        cause: error,
      },
    );
  } finally {
    source.destroy();
  }
}

async function readSample(fragments: AsyncGenerator<string>): Promise<string> {
  let sample = '';
  while (sample.length < SAMPLE_LENGTH) {
    const next = await fragments.next();
    if (next.done === true) break;
    sample += next.value;
  }
  return sample;
}

/** The sign that cuts the most of the first lines into the same number of cells. */
function findDelimiter(head: string): string {
  const lines = head.slice(0, SAMPLE_LENGTH).split('\n').slice(0, SAMPLE_LINES);
  if (lines.length > 1) lines.pop(); // may be cut off
  const filled = lines.filter((line) => line.trim() !== '');
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    // Where another sign cuts all lines alike, a comma between digits is a decimal one.
    const isDecimal = delimiter === ',' && best.score >= 100;
    const counts = filled.map((line) =>
      countOutsideQuotes(isDecimal ? line.replace(/(?<=\d),(?=\d)/g, '') : line, delimiter),
    );
    const usual = mostFrequent(counts.filter((count) => count > 0));
    if (usual === 0) continue;
    const agreeing = counts.filter((count) => count === usual).length / counts.length;
    const score = agreeing * 100 + Math.min(usual, 50) / 10;
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

function countOutsideQuotes(line: string, sign: string): number {
  let quoted = false;
  let count = 0;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === sign && !quoted) count++;
  }
  return count;
}

function mostFrequent(numbers: readonly number[]): number {
  const times = new Map<number, number>();
  for (const number of numbers) times.set(number, (times.get(number) ?? 0) + 1);
  let found = 0;
  for (const [number, count] of times) if (count > (times.get(found) ?? 0)) found = number;
  return found;
}
