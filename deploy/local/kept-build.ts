import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildOnce } from './build-into-cache.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

/** All that a build is made from. */
const INPUTS = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
  ...['schemas', 'workflows', 'activities', 'workers', 'api'],
  ...['deploy/build.mjs', 'deploy/cli', 'deploy/filters.d', 'deploy/stand-in-capi'],
];

const NAME_LENGTH = 16;

/**
 * The folder with gateway and worker as JavaScript, made anew when anything has changed that it is made from. It is in
 * the clone, whatever `TAMIS_LOCAL_DIR` says, because Node looks for packages in the folders above the code.
 */
export async function keptBuild(bench: Workbench): Promise<string> {
  const { root } = bench.paths;
  const folder = join(root, '.local', 'build');
  const target = join(folder, digestOf(root, INPUTS).slice(0, NAME_LENGTH));
  const build = await buildOnce(bench, target, 'build', async (draft) => {
    bench.report.phase('build', 'compiling gateway and worker', 15);
    const args = [join(root, 'deploy/build.mjs'), draft, '--no-types'];
    await runTool(bench, { subject: 'build', command: process.execPath, args });
    bench.report.done('build', 'gateway and worker are compiled, and kept until their sources change');
  });
  // one launcher at a time runs gateway and worker, so the others are unused
  for (const name of readdirSync(folder)) {
    if (isBuild(name) && name !== basename(build))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
  return build;
}

/** Drafts and locks of a launcher that is building have longer names. */
const isBuild = (name: string) => name.length === NAME_LENGTH;

/** Changes when the name or the content of any of the files does. */
function digestOf(root: string, inputs: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap((input) => filesOf(root, input))) {
    const content = readFileSync(join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function filesOf(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  const names = readdirSync(join(root, path)).sort();
  return names.flatMap((name) => filesOf(root, `${path}/${name}`));
}
