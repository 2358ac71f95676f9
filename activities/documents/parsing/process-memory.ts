import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** Resident memory of a process in bytes; null when it is gone. */
export async function processMemory(pid: number): Promise<number | null> {
  if (process.platform === 'linux') {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  }
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'rss=', '-p', String(pid)], (error, out) => {
      const kilobytes = Number(out.trim());
      resolve(error || !(kilobytes > 0) ? null : kilobytes * 1024);
    });
  });
}
