import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

const FOLDER = new URL('./results/', import.meta.url);

/** A fixed amount of work, since the speed of a rented machine changes by the hour. */
function sha256Speed(): number {
  const megabyte = Buffer.alloc(2 ** 20);
  const from = performance.now();
  for (let count = 0; count < 256; count += 1) createHash('sha256').update(megabyte).digest();
  return Math.round(256_000 / (performance.now() - from));
}

/** Writes a table as Markdown and JSON, with the machine, the commit and its load, and prints it. */
export function reportBench(
  name: string,
  title: string,
  rows: readonly Record<string, string | number>[],
  notes: readonly string[] = [],
): void {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const changed = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }).trim() !== '';
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    // Of one core at this moment: figures of another hour compare by it.
    sha256_mb_a_second: sha256Speed(),
    load_1_min: Number(loadavg()[0]?.toFixed(2)),
    commit: changed ? `${commit} and uncommitted changes` : commit,
    date: new Date().toISOString(),
  };
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  const markdown = [
    `# ${title}`,
    '',
    ...Object.entries(machine).map(([key, value]) => `- ${key.replaceAll('_', ' ')}: ${value}`),
    '',
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => row[column] ?? ''))),
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
  ].join('\n');
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(new URL(`${name}.md`, FOLDER), markdown);
  writeFileSync(new URL(`${name}.json`, FOLDER), `${JSON.stringify({ machine, rows, notes }, null, 2)}\n`);
  process.stdout.write(markdown);
}
