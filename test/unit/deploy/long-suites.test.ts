import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LIST = readFileSync(fileURLToPath(new URL('../../long-suites.json', import.meta.url)), 'utf8');
const LONG = Object.keys((JSON.parse(LIST) as { seconds: Record<string, number> }).seconds);

/** What the launcher has jest run, without running it. */
async function listed(...args: string[]): Promise<string[]> {
  const command = ['deploy/local/run.mjs', ...args, '--no-services', '--listTests'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT });
  return stdout.split('\n').flatMap((line) => (line.endsWith('.test.ts') ? [relative(ROOT, line)] : []));
}

test('each long suite is there', () => {
  expect(LONG.filter((path) => !existsSync(`${ROOT}/${path}`))).toEqual([]);
});

test('npm test leaves the long suites out, unless suites are chosen; test:all runs them', async () => {
  const [short, all, pattern] = await Promise.all([
    listed('test'),
    listed('test:all'),
    listed('test', '--testPathIgnorePatterns=test/unit/'),
  ]);
  expect(all).toEqual(expect.arrayContaining(LONG));
  expect(short).toHaveLength(all.length - LONG.length);
  expect(short.filter((path) => LONG.includes(path))).toEqual([]);
  expect(pattern).toEqual(expect.arrayContaining(LONG.filter((path) => !path.startsWith('test/unit/'))));
}, 120_000);
