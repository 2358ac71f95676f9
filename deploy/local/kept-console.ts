import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { keptFolder } from './kept-folder.js';
import { runTool } from './run-tool.js';
import type { Workbench } from './workbench.js';

/** What is installed and what is made, by the build or before it. */
const MADE = /^web\/(node_modules|dist|\.openapi\.json)$|\.gen\.ts$/;

/**
 * The folder with the console's files, or null where the clone has no console. What its build checks against the routes
 * of the gateway leaves no trace in them, so they are not made anew for a change there.
 */
export async function keptConsole(bench: Workbench): Promise<string | null> {
  const { root } = bench.paths;
  if (!existsSync(join(root, 'web/package.json'))) return null;
  const inputs = ['package-lock.json', 'deploy/build-console.mjs', 'web'];
  return keptFolder(
    bench,
    { name: 'console', inputs, isLeftOut: (path) => MADE.test(path) },
    async (draft) => {
      bench.report.phase('console', 'building the console', 30);
      const args = [join(root, 'deploy/build-console.mjs'), draft];
      await runTool(bench, { subject: 'console', command: process.execPath, args });
      bench.report.done('console', 'the console is built, and kept until its sources change');
    },
  );
}
