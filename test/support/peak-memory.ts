import { readFile } from 'node:fs/promises';

const EVERY_MS = 50;

/** Resident memory of a process in bytes, as the kernel counts it (proc(5), VmRSS). */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`process ${pid} tells no VmRSS`);
  return Number(kilobytes) * 1024;
}

/** By how much a process's memory rose above where it stood, at its highest, while something was done. */
export async function peakRise<T>(
  pid: number,
  action: () => Promise<T>,
): Promise<{ result: T; risenBytes: number; samples: number }> {
  const before = await residentBytes(pid);
  let highest = before;
  let samples = 0;
  let done = false;
  const sampling = (async () => {
    while (!done) {
      highest = Math.max(highest, await residentBytes(pid));
      samples += 1;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  })();
  try {
    const result = await action();
    done = true;
    await sampling;
    return { result, risenBytes: highest - before, samples };
  } finally {
    done = true;
    await sampling;
  }
}
