import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** As the launcher compiled it for the tests, which halves the time of each command; otherwise from its sources. */
const PROGRAM = join(
  process.env['TAMIS_TEST_BUILD'] ?? fileURLToPath(new URL('../..', import.meta.url)),
  'deploy/cli/tamis.mjs',
);
/** A folder in which nothing runs, and without a `.env`. */
const NOWHERE = mkdtempSync(join(tmpdir(), 'tamis-cli-test-'));

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  folder?: string;
  /** In a terminal of its own, so many columns wide. */
  columns?: number;
}

/** The words of a line as one types it. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** The command line in a process of its own, with nothing of this process's settings. */
export function startTamis(
  args: readonly string[],
  { env = {}, folder = NOWHERE, columns }: RunOptions = {},
): { child: ChildProcess; read(): string; ended: Promise<Ran> } {
  const command = [process.execPath, PROGRAM, ...args];
  const options = {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: NOWHERE, TAMIS_LOCAL_DIR: NOWHERE, TERM: 'xterm', ...env },
  };
  const child =
    columns === undefined
      ? spawn(command[0]!, command.slice(1), { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
      : spawn('script', ['-qefc', `stty cols ${columns}; exec ${command.join(' ')}`, '/dev/null'], {
          ...options,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
  let out = '';
  let err = '';
  child.stdout?.on('data', (part: Buffer) => (out += part.toString()));
  child.stderr?.on('data', (part: Buffer) => (err += part.toString()));
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
  return { child, read: () => out, ended };
}

export function runTamis(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return startTamis(args, options).ended;
}
