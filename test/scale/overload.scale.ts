import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { runOverloadCampaign } from '../support/overload-campaign.js';
import { signalClient } from '../support/signal-client.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

let capi: StandInCapi;
let stack: RunningStack;

beforeAll(async () => {
  capi = await createStandInCapi();
  // As where it runs: the worker gives way to the gateway.
  stack = await openStack({ CAPI_URL: capi.url, WORKER_NICENESS: '10' });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
});
afterAll(async () => {
  await stack?.close();
  await capi?.close();
});

test('three times the sustainable rate: what is taken is answered within 2 s, what is refused within 200 ms', async () => {
  const clients = Array.from({ length: 8 }, (_, index) => signalClient(stack.base, `overload${index}`));
  await Promise.all(clients.map((client) => client.login()));
  const target = { base: stack.base, tokens: clients.map((client) => client.token() ?? '') };
  const report = await runOverloadCampaign(target, { times: 3, measureSeconds: 10, seconds: 30 });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report.other).toEqual({});
  expect(report.refused).toBeGreaterThan(0);
  expect(report.acceptedMs.slowest).toBeLessThan(2_000);
  expect(report.refusedMs.p99).toBeLessThan(200);
  // Refusing costs little: most of what can be stored still is.
  expect(report.acceptedPerSecond).toBeGreaterThan(report.sustainable * 0.6);
});
