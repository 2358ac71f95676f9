import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { findSchemathesis, runSchemathesis } from './run-schemathesis.js';
import { surfacesOf } from './surfaces.js';

/** How many requests an operation gets at most, and which: another seed, others. */
const EXAMPLES = Number(process.env['FUZZ_EXAMPLES'] ?? 50);
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
const HOUR_MS = 3_600_000;

let stack: RunningStack;
beforeAll(async () => {
  stack = await openStack();
  await stack.startGateway();
}, 180_000);
afterAll(() => stack?.close(), 60_000);

/** Asked as another, since whatever is generated for an administrator may remove every user. */
async function createUser(): Promise<string> {
  const form = new FormData();
  form.set('display_name', 'ada');
  const response = await stack.request('/users/', { method: 'POST', body: form });
  return ((await response.json()) as { token: string }).token;
}

it('answers generated requests as its OpenAPI document says', async () => {
  const tool = findSchemathesis();
  if (tool === null) throw new Error('run this with `npm run test:fuzz`, which fetches schemathesis');
  const keys = {
    user: await createUser(),
    admin: stack.token,
    dashboard: stack.config.proxy.dashboardApiKey ?? '',
  };
  const found: string[] = [];
  for (const { name, ...surface } of surfacesOf(keys)) {
    const { faults, requests, output } = await runSchemathesis(tool, {
      ...surface,
      url: stack.base,
      examples: EXAMPLES,
      seed: SEED,
      phases: 'examples,coverage,fuzzing',
      withinMs: HOUR_MS,
    });
    console.log(`${name}, seed ${SEED}: ${requests} requests, ${faults.length} faults\n${output}`);
    found.push(...faults.map((fault) => `${name}: ${fault}`));
    expect(requests).toBeGreaterThan(100);
  }
  expect(found).toEqual([]);
});
