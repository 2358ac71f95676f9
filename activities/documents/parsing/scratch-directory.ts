import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/**
 * A directory for the files of this process, under one that all of its kind share. A process that was killed leaves
 * its own behind; the next process in the same place removes it.
 */
export const createScratchDirectory = async (kind: 'worker' | 'gateway'): Promise<string> => {
  const root = join(tmpdir(), `tamis-${kind}`);
  await mkdir(root, { recursive: true });
  for (const name of await readdir(root)) {
    const pid = Number(name.split('-')[0]);
    if (!isRunning(pid)) await rm(join(root, name), { recursive: true, force: true });
  }
  return mkdtemp(join(root, `${process.pid}-`));
};
