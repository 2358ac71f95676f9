import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { asUnprivileged } from '../../../deploy/local/services/unprivileged.js';
import { temporaryFolder } from './temporary-folder.js';

function start(cwd: string) {
  return { command: '/bin/sh', args: ['run.sh', 'data'], cwd, env: {} };
}

/** A folder with one file in a folder, and who was given what. */
function scene() {
  const run = temporaryFolder();
  mkdirSync(join(run, 'data'));
  writeFileSync(join(run, 'data/file'), '');
  const given: [string, number, number][] = [];
  const asRoot = {
    isRoot: true,
    chown: (...owner: [string, number, number]) => void given.push(owner),
  };
  return { run, given, asRoot };
}

test('another user than root starts it as it is and gives nothing away', () => {
  const { run, given, asRoot } = scene();
  const user = { ...asRoot, isRoot: false };
  expect(asUnprivileged('store', start(run), run, [run], user)).toEqual(start(run));
  expect(given).toEqual([]);
});

test('root starts it as nobody, who owns all in its folder', () => {
  const { run, given, asRoot } = scene();
  chmodSync(run, 0o755);
  expect(asUnprivileged('store', start(run), run, [run], asRoot)).toEqual({ ...start(run), uid: 65534 });
  const all = [run, join(run, 'data'), join(run, 'data/file')];
  expect(given).toEqual(all.map((path) => [path, 65534, 65534]));
});

test('where others cannot reach a folder that it needs, nobody is lent the right to read past it and no other', () => {
  const { run, asRoot } = scene();
  chmodSync(run, 0o755);
  const closed = temporaryFolder();
  chmodSync(closed, 0o700);
  const { command, args, uid } = asUnprivileged('store', start(run), run, [run, closed], asRoot);
  expect(command).toMatch(/\/setpriv$/);
  expect(uid).toBeUndefined();
  expect(args).toEqual(
    expect.arrayContaining(['--reuid=65534', '--clear-groups', '--ambient-caps=-all,+dac_read_search']),
  );
  expect(args.slice(-3)).toEqual(['/bin/sh', 'run.sh', 'data']);
});
