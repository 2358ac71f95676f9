/**
 * `npm run build`: what the image runs, in `dist/`. Compiled JavaScript, the workflows as one prebuilt bundle, and the
 * files that the code reads. It needs the development dependencies; what it leaves needs those of production alone.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Read at run time, by their place beside the code. */
const FILES = ['package.json', 'deploy/filters.d'];

rmSync(dist, { recursive: true, force: true });
run('node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json');
run('--import', 'tsx', 'workers/write-bundle.ts', join(dist, 'workflow-bundle.js'));
for (const file of FILES) cpSync(join(root, file), join(dist, file), { recursive: true });
console.log(`built ${dist}`);

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
