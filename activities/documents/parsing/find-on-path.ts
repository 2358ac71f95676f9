import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The first program of this name on PATH, as it is at this moment; null where there is none.
 * @param place what is to be started for what was found there
 */
export function findOnPath(name: string, place: (found: string) => string = (found) => found): string | null {
  // eslint-disable-next-line no-restricted-properties -- where programs are, which is no setting of this service
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    if (directory === '') continue;
    try {
      const path = place(join(directory, name));
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // Not in this directory.
    }
  }
  return null;
}
