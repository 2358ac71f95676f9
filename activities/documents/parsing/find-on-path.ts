import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Each upload asks, and looking takes most of a millisecond; what is installed meanwhile is found a little later. */
const KNOWN_MS = 5_000;
const known = new Map<string, { program: string | null; until: number }>();

/**
 * The first program of this name on PATH, as it was some seconds ago at most; null where there is none.
 * @param place what is to be started for what was found there
 */
export function findOnPath(name: string, place: (found: string) => string = (found) => found): string | null {
  // eslint-disable-next-line no-restricted-properties -- where programs are, which is no setting of this service
  const directories = process.env['PATH'] ?? '';
  const key = `${name}\n${directories}`;
  const present = known.get(key);
  const now = Date.now();
  if (present !== undefined && now < present.until) return present.program;
  const program = look(directories.split(delimiter), name, place);
  known.set(key, { program, until: now + KNOWN_MS });
  return program;
}

function look(directories: readonly string[], name: string, place: (found: string) => string): string | null {
  for (const directory of directories) {
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
