import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from '../run-to-end.js';
import { clock } from '../reporter.js';
import type { Workbench } from '../workbench.js';

const FOLDERS = ['schemas', 'workflows', 'activities', 'workers', 'api', 'deploy', 'test'];

const CHECKS: readonly (readonly [command: string, ...args: string[]])[] = [
  // First: it writes the types of the routes that the console is checked against.
  ['npm', 'run', 'check', '-w', 'web'],
  ['tsc', '--noEmit'],
  ['eslint', '.'],
  ['prettier', '--check', '.'],
  ['depcruise', '--config', '.dependency-cruiser.cjs', ...FOLDERS],
  ['knip'],
];

/** Everything that can be checked without running the product. All of it, even after a first failure. */
export async function check(bench: Workbench): Promise<number> {
  const { root } = bench.paths;
  const failed: string[] = [];
  for (const [command, ...args] of CHECKS) {
    const present = args.filter((arg) => !FOLDERS.includes(arg) || existsSync(join(root, arg)));
    const began = Date.now();
    bench.report.say(`── ${[command, ...present].join(' ')}`);
    const program = command === 'npm' ? command : join(root, 'node_modules/.bin', command);
    const code = await runToEnd(program, present, { cwd: root, env: process.env, signal: bench.signal });
    const took = clock((Date.now() - began) / 1000);
    bench.report.say(
      code === 0 ? `   ✓ ${command} (${took})` : `   ✗ ${command}: exit code ${code} (${took})`,
    );
    if (code !== 0) failed.push(command);
  }
  bench.report.say(failed.length === 0 ? 'All checks passed.' : `Failed: ${failed.join(', ')}.`);
  return failed.length === 0 ? 0 : 1;
}
