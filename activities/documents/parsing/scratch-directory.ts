import { chmod, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
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
    const pid = Number(name.split('-')[0]);
    if (!isRunning(pid)) await rm(join(root, name), { recursive: true, force: true });
  }
  return mkdtemp(join(root, `${process.pid}-`));
}
