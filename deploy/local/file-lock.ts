import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, ownIdentity } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';

let drafts = 0;

/** Takes the lock if it is free or its holder is dead. Null: someone alive has it. */
export function tryLock(file: string): (() => void) | null {
  mkdirSync(dirname(file), { recursive: true });
  const mine = ownIdentity();
  const draft = `${file}.${process.pid}.${++drafts}`;
  try {
    writeFileSync(draft, JSON.stringify(mine));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      try {
        linkSync(draft, file); // fails when the lock exists, and shows it whole when it does not
        return () => {
          if (lockHolder(file)?.pid === process.pid) rmSync(file, { force: true });
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = lockHolder(file);
      if (holder && isAlive(holder)) return null;
      // moved aside rather than deleted, so that of two that find a dead holder only one takes its lock away
      const aside = `${draft}.dead`;
      try {
        renameSync(file, aside);
        rmSync(aside, { force: true });
      } catch {
        // another process was faster
      }
    }
    return null;
  } finally {
    rmSync(draft, { force: true });
  }
}

export function lockHolder(file: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch {
    return null;
  }
}

/** Waits for the lock; `onWait` is told once, with the holder, when it is not free at once. */
export async function lock(
  file: string,
  options: { signal: AbortSignal; onWait?: (holder: ProcessIdentity | null) => void; everyMs?: number },
): Promise<() => void> {
  for (let told = false; ;) {
    const release = tryLock(file);
    if (release) return release;
    if (!told) options.onWait?.(lockHolder(file));
    told = true;
    await sleep(options.everyMs ?? 200, undefined, { signal: options.signal });
  }
}
