import { readFileSync } from 'node:fs';

/** The setting that bounds a process' memory, and what it is set to. */
export interface MemorySetting {
  readonly variable: string;
  readonly megabytes: number;
}

/** What the runtimes of our processes write as their last words when their own limit is reached. */
const OWN_LIMIT =
  /java\.lang\.OutOfMemoryError|heap out of memory|runtime: out of memory|(?:ERROR|FATAL|PANIC): +out of memory/;

/**
 * Why a process that failed did so, when it was for want of memory; null: not for that reason. `written`: what this
 * run of it wrote. `killedBySystem`: the kernel ended processes for want of memory while it ran.
 */
export function memoryFault(
  written: string,
  killedBySystem: boolean,
  setting: MemorySetting | undefined,
): string | null {
  if (OWN_LIMIT.test(written)) {
    const raise = setting ? `: raise ${setting.variable} (now ${setting.megabytes})` : '';
    return `it ran out of memory${raise}`;
  }
  if (!killedBySystem) return null;
  const lower = setting ? `, or lower ${setting.variable} (now ${setting.megabytes})` : '';
  return `the system ran out of memory and ended it: give the machine more${lower}`;
}

/** How many processes the kernel has ended for want of memory since it was booted; 0 where it does not tell. */
export function countMemoryKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
