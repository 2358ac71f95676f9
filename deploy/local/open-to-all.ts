import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Whether a user without any rights of his own can reach this folder: every folder on the way lets others through. */
export function openToAll(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode } = statSync(folder);
    const needed = folder === path ? 0o5 : 0o1; // the folder itself must be listable too
    if ((mode & needed) !== needed) return false;
    if (folder === dirname(folder)) return true;
  }
}
