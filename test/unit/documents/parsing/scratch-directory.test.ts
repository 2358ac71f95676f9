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
