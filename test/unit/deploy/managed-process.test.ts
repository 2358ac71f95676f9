import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { LauncherError } from '../../../deploy/local/launcher-error.js';
import { ManagedProcess } from '../../../deploy/local/managed-process.js';
import type { ProcessPlan } from '../../../deploy/local/managed-process.js';
import { isAlive } from '../../../deploy/local/process-identity.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

const UP = "console.log('up'); setInterval(() => {}, 1000)";

function worker(script: string, changes: Partial<ProcessPlan> = {}) {
  const bench = testBench(temporaryFolder());
  const log = join(bench.paths.logs, 'worker.log');
  const plan: ProcessPlan = {
    name: 'worker',
    kind: 'app',
    command: process.execPath,
    args: ['-e', script],
    cwd: bench.paths.root,
    env: process.env,
    log,
    ports: [],
    readySeconds: 20,
    expectedSeconds: 1,
    stopSeconds: 1,
    ready: async (from) => readFileSync(log, 'utf8').slice(from).includes('\nup'),
    advice: ['look into it'],
    ...changes,
  };
  return { bench, managed: new ManagedProcess(bench, plan) };
}

test('it is started again when it dies, the record follows, and stopping leaves nothing', async () => {
  const { bench, managed } = worker(UP);
  await managed.start();
  managed.supervise();
  const first = bench.record.read().processes['worker'];
  if (!first) throw new Error('not recorded');
  process.kill(first.pid, 'SIGKILL');
  for (let waited = 0; !bench.said.includes('worker: is back') && waited < 100; waited += 1) await sleep(100);
  const second = bench.record.read().processes['worker'];
  expect(second?.pid).not.toBe(first.pid);
  expect(bench.said.join('\n')).toContain('worker died; starting it again');
  await managed.stop();
  expect(second && isAlive(second)).toBe(false);
  expect(bench.record.read().processes).toEqual({});
});

test('one that ends before it is ready is told with its last words', async () => {
  const { bench, managed } = worker("console.error('PORT must be a number'); process.exit(1)");
  const error = (await managed.start().catch((reason: unknown) => reason)) as LauncherError;
  expect(error.explain()).toMatch(
    /worker ended before it was ready[^]*PORT must be a number[^]*→ look into it/,
  );
  expect(bench.record.read().processes).toEqual({});
});

test('one that never answers is given up and ended', async () => {
  const { bench, managed } = worker('setInterval(() => {}, 1000)', { readySeconds: 0.5 });
  await expect(managed.start()).rejects.toThrow('worker gave no answer');
  expect(bench.record.read().processes).toEqual({});
});
