import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openApps } from '../../../deploy/local/apps.js';
import type { ManagedProcess, ProcessPlan } from '../../../deploy/local/managed-process.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

const SERVICES = {
  mongodb: 'mongodb://127.0.0.1:1',
  temporal: '127.0.0.1:2',
  opensearch: 'http://127.0.0.1:3',
};

test('a worker is ready once it polls, whatever of that its log may say', async () => {
  const bench = {
    ...testBench(temporaryFolder()),
    settings: { CAPI_URL: 'http://127.0.0.1:4', LOG_LEVEL: 'warn', LOG_FORMAT: 'text' },
  };
  const plans = new Map<string, ProcessPlan>();
  const stack = { run: async ({ plan }: ManagedProcess) => void plans.set(plan.name, plan) };
  await openApps(bench, stack, SERVICES, '/build', { console: null });
  const { env, log, prepare, ready } = plans.get('worker')!;
  mkdirSync(bench.paths.logs, { recursive: true });
  writeFileSync(log, '');
  const healthFile = env['WORKER_HEALTH_FILE']!;
  expect(healthFile).toBe(join(bench.paths.local, 'worker-alive'));
  writeFileSync(healthFile, 'of an earlier run');
  prepare?.();
  expect(await ready(0)).toBe(false);
  writeFileSync(healthFile, '');
  expect(await ready(0)).toBe(true);
});
