import { open } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** One step of a path as a build names its files: nothing hidden, nothing above, nothing encoded. */
const STEP = /^[A-Za-z0-9_@~-][A-Za-z0-9_@~.+-]*$/;
const ENCODINGS = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG']);

export interface ConsoleFile {
  /** Its ending, by which its type is known. */
  ending: string;
  bytes: Buffer;
  etag: string;
  /** Null: as it is. */
  encoding: (typeof ENCODINGS)[number]['name'] | null;
}

/**
 * A file of the build, compressed where the build left it so and the client takes that. Files are small and their names
 * are few, so each is read whole; they are looked up at each request, since a build may come while we run.
 * @param path below the folder, as the request has it
 * @returns null when there is no such file
 */
export async function readConsoleFile(
  folder: string,
  path: string,
  accepted: readonly string[],
): Promise<ConsoleFile | null> {
  const steps = path.split('/');
  if (!steps.every((step) => STEP.test(step))) return null;
  const file = join(folder, ...steps);
  const ending = extname(path);
  for (const { name, ending: packed } of ENCODINGS) {
    const found = accepted.includes(name) ? await readIfThere(`${file}${packed}`) : null;
    if (found !== null) return { ...found, ending, encoding: name };
  }
  const found = await readIfThere(file);
  return found && { ...found, ending, encoding: null };
}

async function readIfThere(file: string): Promise<Pick<ConsoleFile, 'bytes' | 'etag'> | null> {
  try {
    const handle = await open(file);
    try {
      const { size, mtimeMs } = await handle.stat();
      const etag = `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`;
      return { bytes: await handle.readFile(), etag };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (NOT_THERE.has((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
