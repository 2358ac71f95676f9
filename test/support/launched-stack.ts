import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Endpoints } from '../../deploy/local/endpoints.js';
import { until } from './until.js';

/** What names a service that runs already: a launched stack brings its own. */
const GIVEN = [
  'MONGODB_URL',
  'OPENSEARCH_URL',
  'TEMPORAL_ADDRESS',
  'REDIS_URL',
  'OLLAMA_HOST',
  'NODE_OPTIONS',
  'TAMIS_RUN_ID',
  'EMBEDDER_NUM_THREAD',
];

/** `npm start` as a user runs it, with engines and data of its own in a temporary folder. */
export interface LaunchedStack {
  /** Starts everything and answers how many seconds it took until the launcher said that it is up. */
  start(): Promise<number>;
  /** As Ctrl-C does; answers the exit code. */
  stop(): Promise<number | null>;
  endpoints(): Endpoints;
  /** Everything that the launcher has written. */
  output(): string;
  /**
   * Memory of each process the launcher runs, with its children, in bytes: proportional shares, so that a sum is true.
   */
  memory(): Record<string, number>;
  close(): Promise<void>;
}

export function launchStack(environment: Record<string, string> = {}): LaunchedStack {
  const local = mkdtempSync(join(tmpdir(), 'tamis-launched-'));
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !GIVEN.includes(name)));
  let launcher: ChildProcess | null = null;
  let output = '';

  const endpoints = (): Endpoints =>
    JSON.parse(readFileSync(join(local, 'endpoints.json'), 'utf8')) as Endpoints;
  const stop = async (): Promise<number | null> => {
    const child = launcher;
    if (child === null || child.exitCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    return await ended;
  };

  return {
    async start() {
      const began = performance.now();
      const from = output.length;
      const child = spawn(process.execPath, ['deploy/local/run.mjs', 'start'], {
        env: { ...inherited, ...environment, TAMIS_LOCAL_DIR: local, TAMIS_ENV_FILE: devNull },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      launcher = child;
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (output += text));
      await until(
        'the stack is up',
        async () => {
          if (child.exitCode !== null) throw new Error(`the launcher ended:\n${output.slice(from)}`);
          return output.includes('Tamis is up', from);
        },
        { withinMs: 300_000 },
      );
      return (performance.now() - began) / 1000;
    },
    stop,
    endpoints,
    output: () => output,
    /** Empty between a stop and the next start. */
    memory: () =>
      existsSync(join(local, 'endpoints.json'))
        ? Object.fromEntries(
            Object.entries(endpoints().pids).map(([name, pid]) => [name, treeOf(pid).reduce(addMemory, 0)]),
          )
        : {},
    async close() {
      await stop();
      rmSync(local, { recursive: true, force: true });
    },
  };
}

function addMemory(sum: number, pid: number): number {
  try {
    const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
    return sum + Number(kilobytes ?? 0) * 1024;
  } catch {
    return sum; // it has ended since
  }
}

/** A process and all that descend from it. */
function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = parentOf(Number(name));
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return null;
  }
}
