import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCountingCapi } from '../support/counting-capi.js';
import type { CountingCapi } from '../support/counting-capi.js';
import { killEngines } from '../support/engine-kills.js';
import { launchStack } from '../support/launched-stack.js';
import type { LaunchedStack } from '../support/launched-stack.js';

let capi: CountingCapi;
let stack: LaunchedStack;

beforeAll(async () => {
  capi = await createCountingCapi(() => false);
  stack = launchStack({
    CAPI_URL: capi.url,
    LOGIN_BUDGET: '0',
    UNKNOWN_WATCHERS_PER_ADDRESS: '0',
    RATE_LIMIT_ENABLED: 'false',
  });
  await stack.start();
}, 300_000);
afterAll(async () => {
  await stack?.close();
  await capi?.close();
}, 120_000);

/** The launcher gives up what ends for the sixth time in ten minutes: no process is killed more often. */
const ROUND = ['postgres', 'mongodb', 'temporal', 'postgres', 'mongodb', 'opensearch', 'redis'];
const KILLED = [
  ...ROUND,
  'mongodb',
  'postgres',
  'temporal',
  'postgres',
  'mongodb',
  'opensearch',
  'postgres',
  'mongodb',
];

describe('SIGKILL of the engines, one by one, the store ten times', () => {
  it('loses nothing that was answered, and sends nothing twice', async () => {
    const hasOwnStore = stack.endpoints().pids['postgres'] !== undefined;
    const engines = KILLED.map((engine) => (engine === 'postgres' && !hasOwnStore ? 'mongodb' : engine));
    const report = await killEngines(stack, capi, engines.slice(0, hasOwnStore ? engines.length : 6));
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    expect(report.faults).toEqual([]);
    expect(report.chats.answered).toBeGreaterThan(0);
  });
});
