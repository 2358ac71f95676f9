import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCountingCapi } from '../support/counting-capi.js';
import type { CountingCapi } from '../support/counting-capi.js';
import { launchStack } from '../support/launched-stack.js';
import type { LaunchedStack } from '../support/launched-stack.js';
import { isHeldBack, pushManySignals } from '../support/many-signals.js';

const SIGNALS = Number(process.env['MANY_SIGNALS'] ?? 1_000_000);
const SIZES = [10_000, 100_000, 1_000_000];

let capi: CountingCapi;
let stack: LaunchedStack;

beforeAll(async () => {
  capi = await createCountingCapi(isHeldBack);
  stack = launchStack({ CAPI_URL: capi.url, LOGIN_BUDGET: '0', UNKNOWN_WATCHERS_PER_ADDRESS: '0' });
  await stack.start();
}, 300_000);
afterAll(async () => {
  await stack?.close();
  await capi?.close();
}, 120_000);

describe(`${SIGNALS} signals of 10 watchers on the stack that npm start brings up`, () => {
  it('are accepted, forwarded in order, listed and counted in time, and there after a restart', async () => {
    const { gateway, dashboard_key } = stack.endpoints();
    const idle = stack.memory();
    const report = await pushManySignals(
      {
        base: gateway!,
        dashboardKey: dashboard_key,
        capi,
        memory: () => stack.memory(),
        async restart() {
          await stack.stop();
          return await stack.start();
        },
      },
      { signals: SIGNALS, watchers: 10, sizes: [...SIZES.filter((size) => size < SIGNALS), SIGNALS] },
    );
    process.stdout.write(`${JSON.stringify({ idle, ...report }, null, 2)}\n`);
    expect(report.faults).toEqual([]);
    expect(report.pushed).toBe(SIGNALS);
    // The ceilings of the issue: 100 ms, and 200 ms for a rare filter.
    const slow = report.reads.filter(({ question, p95 }) => p95 > (question.startsWith('rare') ? 200 : 100));
    expect(slow).toEqual([]);
    expect(report.restartSeconds).toBeLessThan(30);
  });
});
