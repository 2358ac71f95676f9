import { afterEach, describe, expect, it } from '@jest/globals';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { runDrain } from '../support/drain-run.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

/** CAPI answers each batch after so long. */
const CAPI_MS = 20;

let standIn: StandInCapi;
let stack: RunningStack;

afterEach(async () => {
  await stack?.close();
  await standIn?.close();
});

describe('a backlog', () => {
  it.each([
    { watchers: 1, signals: Number(process.env['DRAIN_SIGNALS'] ?? 20_000), aim: 1000 },
    { watchers: 100, signals: Number(process.env['DRAIN_SIGNALS'] ?? 40_000), aim: 3000 },
  ])(
    'of $watchers watchers drains at $aim signals a second, once each and in order, beside pushes',
    async ({ watchers, signals, aim }) => {
      standIn = await createStandInCapi();
      standIn.behave({ kind: 'slow', delayMs: CAPI_MS });
      stack = await openStack({ CAPI_URL: standIn.url, WORKER_NICENESS: '10' });
      await Promise.all([stack.startGateway(), stack.startWorker()]);
      const report = await runDrain({ stack, standIn, watchers, signals });
      process.stdout.write(`${JSON.stringify(report)}\n`);
      expect(report.faults).toEqual([]);
      expect(report.signalsASecond).toBeGreaterThanOrEqual(aim);
      const { before, meanwhile } = report.pushMs;
      expect(meanwhile.p99).toBeLessThanOrEqual(Math.max(50, before.p99 * 1.5));
    },
  );
});
