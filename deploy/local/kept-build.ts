import { join } from 'node:path';
import { keptFolder } from './kept-folder.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

/** All that a build is made from. */
const INPUTS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'schemas',
  'workflows',
  'activities',
  'workers',
  'api',
  'deploy/build.mjs',
  'deploy/bundle-process.mjs',
  'deploy/cli',
  'deploy/filters.d',
  'deploy/stand-in-capi',
];

/**
 * The folder with gateway and worker as JavaScript. It is in the clone because Node looks for packages in the folders
 * above the code.
 * @param name of the folder that holds it; tests have one of their own, since a build that is made anew replaces the
 *   one before, which may be running
 */
export function keptBuild(bench: Workbench, name: 'build' | 'test-build' = 'build'): Promise<string> {
  return keptFolder(bench, { name, inputs: INPUTS }, async (draft) => {
    bench.report.phase('build', 'compiling gateway and worker', 15);
    const args = [join(bench.paths.root, 'deploy/build.mjs'), draft, '--no-types', '--no-console'];
    await runTool(bench, { subject: 'build', command: process.execPath, args });
    bench.report.done('build', 'gateway and worker are compiled, and kept until their sources change');
  });
}
