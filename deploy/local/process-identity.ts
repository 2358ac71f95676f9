import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A process, told apart from a later one that got the same number: pids are reused, and killing by a remembered
 * pid alone could hit another process.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it was started, in the words of the system; only ever compared for equality. */
  readonly started: string;
}

/** The process with this pid now; null when there is none (or a zombie: it can neither serve nor be killed). */
export function identify(pid: number): ProcessIdentity | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  const started = process.platform === 'linux' ? startedOnLinux(pid) : startedElsewhere(pid);
  return started === null ? null : { pid, started };
}

export function isAlive(known: ProcessIdentity): boolean {
  return identify(known.pid)?.started === known.started;
}

/** The one launcher process itself, for locks and records. */
export function ownIdentity(): ProcessIdentity {
  const own = identify(process.pid);
  if (!own) throw new Error('this process cannot find itself in the process table');
  return own;
}

/** The start time in clock ticks since boot, with the boot it belongs to. */
function startedOnLinux(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // the command name, field 2, is in parentheses and may hold anything: count from its end
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X' || ticks === undefined) return null;
    return `${bootId()}:${ticks}`;
  } catch {
    return null;
  }
}

/** As `ps` tells it, in one time zone and language: what asks may have others than what noted it. */
function startedElsewhere(pid: number): string | null {
  const asked = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
  });
  const line = asked.stdout?.trim() ?? '';
  return asked.status !== 0 || line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
}

let boot: string | undefined;
function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
  return boot;
}
