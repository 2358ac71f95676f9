import { readFileSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process started, in ticks since the machine did; null where that cannot be seen. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is a name in brackets that may hold anything; this is the twenty-second.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

/** Those of this process. */
const made = new Set<string>();

/**
 * Whether the process that made it still runs. In a container each process gets the number of the one before it, so
 * that its start counts as well; releases before did not write that.
 */
function isInUse(path: string): boolean {
  if (made.has(path)) return true;
  const [, number, start] = /^(\d{1,10})-(?:(\d{1,20})-)?/.exec(basename(path)) ?? [];
  const pid = Number(number);
  if (number === undefined || pid === process.pid || !isRunning(pid)) return false;
  return start === undefined || (startOf(pid) ?? start) === start;
}

/** -1 where users have no numbers. */
function userId(): number {
  return process.getuid?.() ?? -1;
}

/** The temporary folder is shared: a user who made ours before us could read our files, or replace them. */
async function isOurs(folder: string): Promise<boolean> {
  const found = await lstat(folder);
  return found.isDirectory() && (userId() === -1 || found.uid === userId());
}

/**
 * A directory for the files of this process, under one that all of its kind share. A process that was killed leaves
 * its own behind; the next process in the same place removes it. Where another user took the name, it has one of its
 * own.
 */
export async function createScratchDirectory(kind: 'worker' | 'gateway'): Promise<string> {
  const root = join(tmpdir(), `tamis-${kind}-${userId()}`);
  await mkdir(root, { mode: 0o700 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  if (!(await isOurs(root))) return mkdtemp(join(tmpdir(), `tamis-${kind}-`));
  await chmod(root, 0o700);
  for (const name of await readdir(root)) {
    const path = join(root, name);
    if (!isInUse(path)) await rm(path, { recursive: true, force: true });
  }
  const own = await mkdtemp(join(root, `${process.pid}-${startOf(process.pid) ?? '0'}-`));
  made.add(own);
  return own;
}
