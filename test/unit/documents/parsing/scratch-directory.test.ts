import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createScratchDirectory } from '../../../../activities/documents/parsing/scratch-directory.js';

let folder: string;
const before = process.env['TMPDIR'];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tamis-scratch-'));
  process.env['TMPDIR'] = folder;
});
afterEach(async () => {
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  await rm(folder, { recursive: true });
});

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

test('files of a process are its user’s alone', async () => {
  const directory = await createScratchDirectory('worker');
  expect(await modeOf(directory)).toBe(0o700);
  expect(await modeOf(join(directory, '..'))).toBe(0o700);
});

test('a link that somebody put in its place is not followed', async () => {
  const elsewhere = join(folder, 'elsewhere');
  await mkdir(elsewhere);
  await symlink(elsewhere, join(folder, `tamis-worker-${process.getuid?.()}`));
  const directory = await createScratchDirectory('worker');
  expect(await readdir(elsewhere)).toEqual([]);
  expect(await modeOf(directory)).toBe(0o700);
});

/** In a process of its own, since the temporary folder is not read from the variables that Jest hands out. */
const RESTART = `
  import { mkdirSync, readdirSync } from 'node:fs';
  import { basename, join } from 'node:path';
  import { createScratchDirectory } from './activities/documents/parsing/scratch-directory.js';
  const root = join(process.env.TMPDIR, 'tamis-worker-' + process.getuid());
  const { pid, ppid } = process;
  for (const name of [pid + '-before', pid + '-1-before', ppid + '-before', ppid + '-1-before', '999999999-before', 'x'])
    mkdirSync(join(root, name), { recursive: true });
  const own = [await createScratchDirectory('worker'), await createScratchDirectory('worker')];
  const other = ppid + '-before';
  const kept = readdirSync(root).filter((name) => !own.some((path) => basename(path) === name));
  console.log(JSON.stringify({ own: readdirSync(root).length - kept.length, kept, other }));
`;

test('what a process of the same number left is removed, as in a container that starts again', () => {
  const { own, kept, other } = JSON.parse(
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', RESTART], {
      env: { ...process.env, TMPDIR: folder },
      encoding: 'utf8',
    }),
  ) as { own: number; kept: string[]; other: string };
  expect(own).toBe(2);
  // A release before did not say when it started; where that cannot be seen the number has to do.
  const unknown = process.platform === 'linux' ? [] : [other.replace('-', '-1-')];
  expect(kept.sort()).toEqual([other, ...unknown].sort());
});
