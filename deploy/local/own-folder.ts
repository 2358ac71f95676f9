import { chmodSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder of this user alone in the temporary folder, the same for all its processes. The temporary folder is
 * shared: where another user took the name first (or put a link there), what is written would go where that user
 * says. This process then has a folder of its own.
 */
export function ownTemporaryFolder(name: string, parent = tmpdir()): string {
  // Not what the system knows of the user: in a container that may be a number without an account.
  const uid = process.geteuid?.() ?? -1;
  const folder = join(parent, `${name}-${uid}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const found = lstatSync(folder);
  // -1: where users have no numbers, their temporary folders are their own.
  if (!found.isDirectory() || (uid !== -1 && found.uid !== uid)) return mkdtempSync(`${folder}-`);
  chmodSync(folder, 0o700);
  return folder;
}
