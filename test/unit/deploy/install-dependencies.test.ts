import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../support/until.js';
import { temporaryFolder } from './temporary-folder.js';

const MODULE = fileURLToPath(new URL('../../../deploy/local/install-dependencies.mjs', import.meta.url));

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

let root: string;
let busy: string;

beforeEach(() => {
  root = temporaryFolder();
  busy = join(root, '.local/installing');
  mkdirSync(join(root, '.local'));
  // In the place of npm.
  writeFileSync(join(root, 'npm.js'), `require('node:fs').writeFileSync('installed', '')`);
});

/** The first step of `npm run`, in a process of its own as it is; `before` runs in it first. */
function install(before = ''): { child: ChildProcess; said(): string; ended: Promise<number | null> } {
  const script = `${before}
    const { installDependencies } = await import(${JSON.stringify(MODULE)});
    await installDependencies(${JSON.stringify(root)});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env['PATH'], npm_execpath: join(root, 'npm.js') },
  });
  started.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (text += part.toString()));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, said: () => text, ended };
}

describe('the dependencies are installed', () => {
  test('where a launcher of the same number was killed, as in a container', async () => {
    const { ended, said } = install(`
      import { writeFileSync } from 'node:fs';
      writeFileSync(${JSON.stringify(busy)}, String(process.pid));
      // It is among what the system tells of this process.
      'run.mjs';`);
    expect([await ended, said()]).toEqual([0, expect.stringContaining('installed')]);
    expect(existsSync(join(root, 'installed'))).toBe(true);
    expect(existsSync(busy)).toBe(false);
  });

  test('after another launcher, and it is said once who is waited for', async () => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)', 'run.mjs']);
    started.push(other);
    await once(other, 'spawn');
    writeFileSync(busy, String(other.pid));
    const { ended, said } = install();
    await until('it says so', async () => said().includes(`process ${other.pid} is installing them`));
    other.kill('SIGKILL');
    expect(await ended).toBe(0);
    expect(said().match(/is installing them/g)).toHaveLength(1);
  });

  test('or it is said why not, where nothing can be written', async () => {
    const { ended, said } = install(`
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { writeFileSync } = fs;
      fs.writeFileSync = (file, ...given) => {
        writeFileSync(file, '', ...given.slice(1));
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      };
      syncBuiltinESMExports();`);
    expect(await ended).toBe(1);
    expect(said()).toContain('ENOSPC: no space left on device');
    expect(existsSync(busy) && readFileSync(busy, 'utf8')).toBe(false);
  });
});
