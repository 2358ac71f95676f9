import { readFileSync, readdirSync } from 'node:fs';

/** Linux counts processor time in ticks of 10 ms. */
const TICK_MS = 10;

interface Process {
  pid: number;
  parent: number;
  command: string;
  /** Of its own and of its ended children. */
  ms: number;
}

function readProcess(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything: the fields are counted behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user = 0, system = 0, children = 0, childrenSystem = 0] = fields.slice(11, 15).map(Number);
    return {
      pid,
      parent: Number(fields[1]),
      command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '),
      ms: (user + system + children + childrenSystem) * TICK_MS,
    };
  } catch {
    return null;
  }
}

const ENGINES: readonly (readonly [RegExp, string])[] = [
  [/\/ferretdb /, 'FerretDB'],
  [/postgres/, 'PostgreSQL'],
  [/org\.opensearch\.bootstrap/, 'OpenSearch'],
  [/temporal server/, 'Temporal'],
];

/** All processes by id; none where there is no /proc. */
function readProcesses(): Map<number, Process> {
  const all = new Map<number, Process>();
  if (process.platform !== 'linux') return all;
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? readProcess(Number(name)) : null;
    if (found !== null) all.set(found.pid, found);
  }
  return all;
}

function isBelow(all: ReadonlyMap<number, Process>, { pid }: Process, ancestor: number): boolean {
  for (let at = all.get(pid); at !== undefined; at = all.get(at.parent)) if (at.pid === ancestor) return true;
  return false;
}

/** The processes with these ids and those that they have started. */
function below(pids: readonly number[]): Process[] {
  const all = readProcesses();
  return [...all.values()].filter((found) => pids.some((pid) => isBelow(all, found, pid)));
}

/** Milliseconds of processor time that some processes and those below them have used so far. */
export function processorTimeBelow(pids: readonly number[]): number {
  return below(pids).reduce((sum, { ms }) => sum + ms, 0);
}

const RESIDENT = /^VmRSS:\s+(\d+) kB/m;

/** Resident memory of some processes and those below them, in MiB. */
export function memoryBelow(pids: readonly number[]): number {
  const kilobytes = below(pids).map(({ pid }) => {
    try {
      return Number(RESIDENT.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0; // it has ended
    }
  });
  return kilobytes.reduce((sum, size) => sum + size, 0) / 1024;
}

/**
 * Milliseconds of processor time that each part of the stack has used so far: gateway, worker, its parser processes and
 * the engines that the launcher of this run started. Empty where there is no /proc, and without an engine that runs
 * elsewhere.
 */
export function processorTime(stack: { gatewayPid(): number; workerPid(): number }): Map<string, number> {
  const used = new Map<string, number>();
  const all = readProcesses();
  const partOf = (found: Process): string | undefined => {
    if (found.pid === stack.gatewayPid()) return 'gateway';
    if (found.pid === stack.workerPid()) return 'worker';
    if (isBelow(all, found, stack.workerPid())) return 'parsers';
    if (!isBelow(all, found, process.ppid)) return undefined;
    return ENGINES.find(([pattern]) => pattern.test(found.command))?.[1];
  };
  for (const found of all.values()) {
    const part = partOf(found);
    if (part !== undefined) used.set(part, (used.get(part) ?? 0) + found.ms);
  }
  return used;
}

/** What each part has used between two looks, for each of so many files or signals. */
export function timeOfEach(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  count: number,
): Map<string, number> {
  return new Map([...after].map(([part, ms]) => [part, (ms - (before.get(part) ?? 0)) / count]));
}
