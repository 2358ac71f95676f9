import { readFileSync, readdirSync } from 'node:fs';

/** Milliseconds of one tick in `/proc/<pid>/stat`: the kernel reports a hundred a second to every program. */
const TICK_MS = 10;

export interface ProcessActivity {
  /** It was halted (SIGSTOP, Ctrl-Z, a debugger): it does nothing and takes no signal but SIGKILL and SIGCONT. */
  readonly isStopped: boolean;
  /** A thread of it waits for a disk at this moment. */
  readonly waitsForDisk: boolean;
  /** Processor time that it has had or has stood in line for, since it began. On a busy machine the second is more. */
  readonly demandMs: number;
}

/** What the system says of a process. Null where that cannot be asked (not on Linux) or the process is gone. */
export function processActivity(pid: number): ProcessActivity | null {
  if (process.platform !== 'linux') return null;
  try {
    const { state, ticks } = readStat(`/proc/${pid}/stat`);
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
      readThread(`/proc/${pid}/task/${thread}`),
    );
    return {
      isStopped: state === 'T' || state === 't',
      waitsForDisk: threads.some((thread) => thread.waitsForDisk),
      demandMs: ticks * TICK_MS + threads.reduce((sum, thread) => sum + thread.inLineMs, 0),
    };
  } catch {
    return null;
  }
}

function readStat(file: string): { state: string; ticks: number } {
  const stat = readFileSync(file, 'utf8');
  // the command name, field 2, is in parentheses and may hold anything: count from its end
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', ticks: Number(fields[11]) + Number(fields[12]) };
}

function readThread(folder: string): { waitsForDisk: boolean; inLineMs: number } {
  try {
    const [, inLineNs] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
    return { waitsForDisk: readStat(`${folder}/stat`).state === 'D', inLineMs: Number(inLineNs) / 1e6 };
  } catch {
    // the thread ended meanwhile, or the kernel keeps no such statistics
    return { waitsForDisk: false, inLineMs: 0 };
  }
}
