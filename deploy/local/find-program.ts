import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first executable file of that name on PATH or in the folders where it is usually put. */
export function findProgram(
  name: string,
  env: NodeJS.ProcessEnv,
  usual: readonly string[] = [],
): string | null {
  for (const folder of [...(env['PATH'] ?? '').split(delimiter), ...usual]) {
    if (folder === '') continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // not here
    }
  }
  return null;
}
