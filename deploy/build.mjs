/**
 * `npm run build`: what the image runs, in `dist/`. Compiled JavaScript, the workflows as one prebuilt bundle, and the
 * files that the code reads. It needs the development dependencies; what it leaves needs those of production alone.
 * The launcher runs such a build too: `build.mjs <folder> --no-types --no-console` puts it elsewhere and leaves the types
 * unchecked, which halves the time, and the console out, which it builds by itself.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProcess } from './bundle-process.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder, ...options] = process.argv.slice(2);
const out = folder === undefined ? join(root, 'dist') : resolve(folder);
const types = options.includes('--no-types') ? ['--noCheck'] : [];

/** Read at run time, by their place beside the code. */
const FILES = ['package.json', 'deploy/filters.d', 'deploy/cli/tamis.mjs'];

/**
 * What gateway and worker have in one file each, but for packages that find files of theirs by their own place or load
 * native code, and what those share with us.
 */
const BUNDLES = [
  { main: 'api/main.js', external: ['pino'] },
  { main: 'workers/main.js', external: ['pino', '@temporalio/*'] },
];

rmSync(out, { recursive: true, force: true });
console.log('compiling TypeScript');
run('node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json', '--outDir', out, ...types);
console.log('bundling the workflows');
run(
  '--import',
  'tsx',
  'workers/write-bundle.ts',
  join(out, 'workflow-bundle.js'),
  join(out, 'workflow-bundle-encrypted.js'),
);
console.log('bundling gateway and worker');
for (const { main, external } of BUNDLES) await bundleProcess(join(out, main), external);
for (const file of FILES) cpSync(join(root, file), join(out, file), { recursive: true });
if (existsSync(join(root, 'web/package.json')) && !options.includes('--no-console'))
  run('deploy/build-console.mjs', join(out, 'web/dist'));
console.log(`built ${out}`);

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
