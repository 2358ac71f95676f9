import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCountingCapi } from '../support/counting-capi.js';
import type { CountingCapi } from '../support/counting-capi.js';
import { isHeldBack, pushManySignals } from '../support/many-signals.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

let capi: CountingCapi;
let stack: RunningStack;

beforeAll(async () => {
  capi = await createCountingCapi(isHeldBack);
  stack = await openStack({ CAPI_URL: capi.url });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(async () => {
  await stack?.close();
  await capi?.close();
}, 60_000);

test('20,000 signals of 10 watchers are accepted, forwarded in order, and there after a restart', async () => {
  const report = await pushManySignals(
    {
      base: stack.base,
      dashboardKey: stack.config.proxy.dashboardApiKey!,
      capi,
      memory: () => ({}),
      async restart() {
        const began = performance.now();
        await Promise.all([stack.killGateway(), stack.killWorker()]);
        await Promise.all([stack.startGateway(), stack.startWorker()]);
        return (performance.now() - began) / 1000;
      },
    },
    { signals: 20_000, watchers: 10, sizes: [20_000] },
  );
  expect(report.faults).toEqual([]);
  expect(report.pushed).toBe(20_000);
}, 300_000);
