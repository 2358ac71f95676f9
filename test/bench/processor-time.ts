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

/**
 * Milliseconds of processor time that each part of the stack has used so far: gateway, worker, its parser processes and
 * the engines that the launcher of this run started. Empty where there is no /proc, and without an engine that runs
 * elsewhere.
 */
export function processorTime(stack: { gatewayPid(): number; workerPid(): number }): Map<string, number> {
  const used = new Map<string, number>();
  if (process.platform !== 'linux') return used;
  const all = new Map<number, Process>();
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? readProcess(Number(name)) : null;
    if (found !== null) all.set(found.pid, found);
  }
  const isBelow = ({ pid }: Process, ancestor: number): boolean => {
    for (let at = all.get(pid); at !== undefined; at = all.get(at.parent))
      if (at.pid === ancestor) return true;
    return false;
  };
  const partOf = (found: Process): string | undefined => {
    if (found.pid === stack.gatewayPid()) return 'gateway';
    if (found.pid === stack.workerPid()) return 'worker';
    if (isBelow(found, stack.workerPid())) return 'parsers';
    if (!isBelow(found, process.ppid)) return undefined;
    return ENGINES.find(([pattern]) => pattern.test(found.command))?.[1];
  };
  for (const found of all.values()) {
    const part = partOf(found);
    if (part !== undefined) used.set(part, (used.get(part) ?? 0) + found.ms);
  }
  return used;
}
