/**
 * What every `npm run` starts. Plain Node without a package, because in a fresh clone there is none: it sees to the
 * dependencies, then goes on in TypeScript, in the same process, so that signals and exit code need no passing on.
 */
import { fileURLToPath } from 'node:url';
import { installDependencies } from './install-dependencies.mjs';
import { lockMatches } from './lock-matches.mjs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `✗ Node ${process.versions.node} is too old: 20.19 or newer is needed (24 is what the image runs on).`,
  );
  process.exit(1);
}

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
if (!lockMatches(root)) await installDependencies(root);

const { register } = await import('tsx/esm/api');
register();
await import('./main.ts');
