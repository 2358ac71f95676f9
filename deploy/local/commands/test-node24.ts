import { existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { askProgram } from '../ask-program.js';
import { buildIntoCache } from '../build-into-cache.js';
import { LauncherError } from '../launcher-error.js';
import { runToEnd } from '../run-to-end.js';
import { runTool } from '../run-tool.js';
import type { Workbench } from '../workbench.js';

/** What the image runs on. */
const MAJOR = 24;

/**
 * `npm run test:all` under the Node of the image, whatever this machine has: the launcher itself, jest, and every
 * process that a test starts. Arguments are those of `npm run test:all`.
 */
export async function testNode24(bench: Workbench, args: readonly string[]): Promise<number> {
  const node = await findNode(bench);
  const version = (await askProgram(node, ['--version']))?.trim();
  if (!version?.startsWith(`v${MAJOR}.`))
    throw new LauncherError(`${node} is Node ${version ?? 'of no version'}`);
  bench.report.say(`The tests run on Node ${version} (${node}).`);
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}` };
  const script = join(bench.paths.root, 'deploy/local/run.mjs');
  return await runToEnd(node, [script, 'test:all', ...args], {
    cwd: bench.paths.root,
    env,
    signal: bench.signal,
  });
}

/** This one, or the npm package `node`, which brings the binary of its version. */
async function findNode(bench: Workbench): Promise<string> {
  if (process.versions.node.startsWith(`${MAJOR}.`)) return process.execPath;
  const folder = await buildIntoCache(bench, `node-${MAJOR}`, 'node', async (draft) => {
    bench.report.phase('node', `fetching Node ${MAJOR} (the npm package)`, 15);
    await runTool(bench, {
      subject: 'node',
      command: 'npm',
      // its install script puts the binary in place
      args: ['install', '--prefix', draft, '--no-save', '--ignore-scripts=false', `node@${MAJOR}`],
      cwd: draft,
      advice: [`or put Node ${MAJOR} first on PATH and run npm test`],
    });
    bench.report.done('node', 'is there');
  });
  const node = join(folder, 'node_modules/node/bin/node');
  if (!existsSync(node)) throw new LauncherError(`no Node in ${folder}: ${readdirSync(folder).join(', ')}`);
  return node;
}
