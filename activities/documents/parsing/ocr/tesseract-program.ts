import { spawn, spawnSync } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { dieWithParent } from '../die-with-parent.js';
import { findOnPath } from '../find-on-path.js';
import type { Recognised } from './recognised.js';

/** `--list-langs` reads one directory. */
const LIST_TIMEOUT_MS = 5000;
/** So long what a program said of its languages is taken for true: one may be installed meanwhile. */
const KEPT_MS = 60_000;
/** In the program's table, a word. */
const WORD = '5';
/** Columns of that table. */
const [LEVEL, BLOCK, PARAGRAPH, LINE, CONFIDENCE, TEXT] = [0, 2, 3, 4, 10, 11] as const;

const known = new Map<string, { languages: ReadonlySet<string>; until: number }>();

/** The program `tesseract` on PATH, if it has the data of all these languages; null otherwise. */
export function tesseractFor(languages: readonly string[]): string | null {
  const program = findOnPath('tesseract');
  if (program === null) return null;
  const installed = languagesOf(program);
  return languages.every((language) => installed.has(language)) ? program : null;
}

function languagesOf(program: string): ReadonlySet<string> {
  const before = known.get(program);
  if (before !== undefined && before.until > Date.now()) return before.languages;
  const { stdout, status } = spawnSync(program, ['--list-langs'], {
    encoding: 'utf8',
    timeout: LIST_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // The first line says where they are.
  const lines = status === 0 ? stdout.split('\n').slice(1) : [];
  const languages = new Set(lines.map((line) => line.trim()).filter((line) => line !== ''));
  known.set(program, { languages, until: Date.now() + KEPT_MS });
  return languages;
}

/**
 * Reads the text of a picture with the program, which ends with this process: a cancel and the limits of the parser
 * process hold for it as well. Null for what it cannot read.
 */
export async function recogniseByProgram(
  program: string,
  image: Buffer,
  languages: readonly string[],
): Promise<Recognised | null> {
  const options = ['stdin', 'stdout', '-l', languages.join('+'), '-c', 'tessedit_page_number=0', 'tsv'];
  const [command, ...args] = [...dieWithParent(), program, ...options];
  const child = spawn(command!, args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    // A parser process has one core.
    // eslint-disable-next-line no-restricted-properties -- handed on, not read for a setting
    env: { ...process.env, OMP_THREAD_LIMIT: '1' },
  });
  // It may end before it has read all; its exit code says what came of it.
  child.stdin.on('error', () => undefined).end(image);
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null));
    child.on('close', (code) => resolve(code));
  });
  const [table, code] = await Promise.all([buffer(child.stdout), ended]);
  return code === 0 ? readTable(table.toString('utf8')) : null;
}

/** What stands between two words. */
function between(before: readonly string[], after: readonly string[]): string {
  const isSame = (column: number): boolean => before[column] === after[column];
  if (!isSame(BLOCK) || !isSame(PARAGRAPH)) return '\n\n';
  return isSame(LINE) ? ' ' : '\n';
}

/** The words of the program's table as text: a line each, paragraphs apart. */
function readTable(table: string): Recognised {
  const rows = table
    .split('\n')
    .map((row) => row.split('\t'))
    .filter((cells) => cells[LEVEL] === WORD && (cells[TEXT] ?? '').trim() !== '');
  let text = '';
  let sum = 0;
  let before: string[] | null = null;
  for (const cells of rows) {
    if (before !== null) text += between(before, cells);
    text += cells[TEXT]!.trim();
    sum += Number(cells[CONFIDENCE]) || 0;
    before = cells;
  }
  return { text, confidence: rows.length === 0 ? 0 : sum / rows.length / 100 };
}
