import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dieWithParent } from './die-with-parent.js';

export interface ParserCommand {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Whether the kernel bounds the memory; otherwise only our watch does. */
  memoryBounded: boolean;
}

const MIB = 1024 * 1024;
/** Stacks of threads and unused parts of V8's spaces count as data as well. */
const DATA_MARGIN_MB = 256;
/**
 * What V8 reserves for code, whether it is used or not, counts as data too: 50 MB with Node 20 and 560 MB with
 * Node 24. While it looks for an aligned place it holds twice as much.
 */
const RESERVATIONS = 2;
/**
 * All that a parser sees of our environment. It reads untrusted bytes; should they take it over, no secret
 * is there to be taken along.
 */
const HANDED_ON = [
  'PATH',
  'HOME',
  'TMPDIR',
  'TZ',
  'LANG',
  'LC_ALL',
  'TESSDATA_PREFIX',
  'MIMALLOC_ARENA_EAGER_COMMIT',
];

/**
 * How to start a parser process. On Linux, `prlimit` bounds its data (an address space limit would hit V8's
 * reservations) and `setpriv` has the kernel kill it with its parent; elsewhere the pool watches the memory and
 * the process its parent.
 */
export function parserCommand(memoryMb: number): ParserCommand {
  const { prlimit, idleDataBytes } = tools();
  const setpriv = dieWithParent();
  const program = new URL(
    import.meta.url.endsWith('.ts') ? './parser-child.ts' : './parser-child.js',
    import.meta.url,
  );
  const node = [process.execPath, `--max-old-space-size=${Math.max(64, Math.floor(memoryMb * 0.75))}`];
  if (program.pathname.endsWith('.ts')) {
    // By its full address: the name would be looked for from the working directory.
    const loader = createRequire(import.meta.url).resolve('tsx');
    node.push('--import', pathToFileURL(loader).href);
  }
  const dataBytes = (memoryMb + DATA_MARGIN_MB) * MIB + RESERVATIONS * idleDataBytes;
  const line = [
    ...(prlimit ? ['prlimit', `--data=${dataBytes}`, '--core=0', '--'] : []),
    ...setpriv,
    ...node,
    fileURLToPath(program),
    ...(setpriv.length > 0 ? [] : ['--watch-parent']),
  ];
  const env: NodeJS.ProcessEnv = {};
  for (const name of HANDED_ON) {
    // eslint-disable-next-line no-restricted-properties -- handed on to the child, not read for a setting
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  // The PDF reader and pdf.js's native helper each take 1 GB at their start, used or not, which would count as data.
  env.MIMALLOC_ARENA_EAGER_COMMIT ??= '0';
  return { command: line[0]!, args: line.slice(1), env, memoryBounded: prlimit };
}

let found: { prlimit: boolean; idleDataBytes: number } | undefined;

function tools(): { prlimit: boolean; idleDataBytes: number } {
  const works = (command: string, ...args: string[]): boolean =>
    process.platform === 'linux' && spawnSync(command, args, { stdio: 'ignore', timeout: 5000 }).status === 0;
  if (found === undefined) {
    const prlimit = works('prlimit', '--core=0', '--', 'true');
    found = {
      prlimit,
      idleDataBytes: prlimit ? measureIdleData() : 0,
    };
  }
  return found;
}

/** The data that a Node of this version has before it does anything; 0 where it cannot be seen. */
function measureIdleData(): number {
  const script = "process.stdout.write(require('fs').readFileSync('/proc/self/status', 'latin1'))";
  const { stdout } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'latin1',
    env: {},
    timeout: 10_000,
  });
  return Number(/^VmData:\s+(\d+) kB/m.exec(stdout ?? '')?.[1] ?? 0) * 1024;
}
