import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** A program that starts programs without end is not followed further. */
const MAX_DEPTH = 4;

/**
 * Resident memory in bytes of a process, on Linux together with the processes that it started (LibreOffice, say); null
 * when it is gone.
 */
export async function processMemory(pid: number, depth = 0): Promise<number | null> {
  if (process.platform === 'linux') {
    const [status, children] = await Promise.all(
      ['status', `task/${pid}/children`].map((name) =>
        readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => ''),
      ),
    );
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status!)?.[1];
    if (kilobytes === undefined) return null;
    const pids = depth < MAX_DEPTH ? (children!.match(/\d+/g) ?? []) : [];
    const below = await Promise.all(pids.map((child) => processMemory(Number(child), depth + 1)));
    return below.reduce<number>((sum, bytes) => sum + (bytes ?? 0), Number(kilobytes) * 1024);
  }
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'rss=', '-p', String(pid)], (error, out) => {
      const kilobytes = Number(out.trim());
      resolve(error || !(kilobytes > 0) ? null : kilobytes * 1024);
    });
  });
}
