import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { buildIntoCache } from '../../../deploy/local/build-into-cache.js';
import { LauncherError } from '../../../deploy/local/launcher-error.js';
import { runTool } from '../../../deploy/local/run-tool.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

test('of two that want the same thing one builds it, and it is never seen half done', async () => {
  const bench = testBench(temporaryFolder());
  let builds = 0;
  const build = async (draft: string) => {
    builds += 1;
    writeFileSync(join(draft, 'part'), 'one');
    await sleep(50);
    expect(existsSync(join(bench.paths.cache, 'thing'))).toBe(false);
    writeFileSync(join(draft, 'part'), 'whole');
  };
  const [one, two] = await Promise.all([0, 1].map(() => buildIntoCache(bench, 'thing', 'thing', build)));
  expect([builds, one]).toEqual([1, two]);
  expect(readFileSync(join(one ?? '', 'part'), 'utf8')).toBe('whole');
});

test('a failed build leaves nothing, nor does one whose launcher was killed', async () => {
  const bench = testBench(temporaryFolder());
  mkdirSync(join(bench.paths.cache, 'thing.draft-999999999-dead-1'), { recursive: true });
  const build = async () => Promise.reject(new Error('no'));
  await expect(buildIntoCache(bench, 'thing', 'thing', build)).rejects.toThrow('no');
  expect(readdirSync(bench.paths.cache)).toEqual([]);
});

test('a tool that fails is told with its command, its last words and advice', async () => {
  const bench = testBench(temporaryFolder());
  const script = "console.log('first'); console.error('cannot find the thing'); process.exit(3)";
  const call = { subject: 'thing', command: process.execPath, args: ['-e', script], advice: ['install it'] };
  const error = await runTool(bench, call).catch((reason: unknown) => reason as LauncherError);
  expect(error).toBeInstanceOf(LauncherError);
  const told = (error as LauncherError).explain();
  for (const part of ['exit code 3', process.execPath, '| cannot find the thing', '→ install it']) {
    expect(told).toContain(part);
  }
  expect(bench.record.read().processes).toEqual({});
});

test('Ctrl-C ends a tool with all it started', async () => {
  const stop = new AbortController();
  const bench = testBench(temporaryFolder(), stop.signal);
  const running = runTool(bench, { subject: 'thing', command: 'sh', args: ['-c', 'sleep 60 & sleep 60'] });
  await sleep(100);
  stop.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('stopped');
  expect(bench.record.read().processes).toEqual({});
});
