import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildOnce } from './build-into-cache.js';
import type { Workbench } from './workbench.js';

const NAME_LENGTH = 16;

export interface Kept {
  /** Below `.local` of the clone, whatever `TAMIS_LOCAL_DIR` says. */
  readonly name: string;
  /** Files and folders that it is made from. */
  readonly inputs: readonly string[];
  /** Files within them that count for nothing; none unless given. */
  readonly isLeftOut?: (path: string) => boolean;
}

/** What is built from sources of the clone, made anew when any of them comes, goes or changes. */
export async function keptFolder(
  bench: Workbench,
  { name, inputs, isLeftOut = () => false }: Kept,
  build: (draft: string) => Promise<void>,
): Promise<string> {
  const { root } = bench.paths;
  const folder = join(root, '.local', name);
  const digest = digestOf(root, inputs, isLeftOut);
  const target = join(folder, digest.slice(0, NAME_LENGTH));
  const made = await buildOnce(bench, target, name, build);
  // one launcher at a time runs what was built, so the others are unused
  for (const other of readdirSync(folder)) {
    if (isMade(other) && other !== basename(made))
      rmSync(join(folder, other), { recursive: true, force: true });
  }
  return made;
}

/** Drafts and locks of a launcher that is building have longer names. */
function isMade(name: string) {
  return name.length === NAME_LENGTH;
}

/** Changes when the name or the content of any of the files does. */
function digestOf(root: string, inputs: readonly string[], isLeftOut: (path: string) => boolean): string {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap((input) => filesOf(root, input, isLeftOut))) {
    const content = readFileSync(join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function filesOf(root: string, path: string, isLeftOut: (path: string) => boolean): string[] {
  if (isLeftOut(path)) return [];
  if (statSync(join(root, path)).isFile()) return [path];
  const names = readdirSync(join(root, path)).sort();
  return names.flatMap((name) => filesOf(root, `${path}/${name}`, isLeftOut));
}
