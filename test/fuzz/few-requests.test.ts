import { describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN } from '../api/support/start-gateway.js';
import { DASHBOARD_KEY, startProxy } from '../api/support/start-proxy.js';
import { findSchemathesis, runSchemathesis } from './run-schemathesis.js';
import { surfacesOf } from './surfaces.js';

const tool = findSchemathesis();
const ask = tool === null ? it.skip : it;

/** The small form of `npm run test:fuzz`: the same few requests in every run, on stores in memory. */
describe('a few generated requests to each operation', () => {
  ask(
    'are answered as the OpenAPI document says',
    async () => {
      const proxy = await startProxy();
      try {
        const user = proxy.addUser('ada').token;
        for (const { name, ...surface } of surfacesOf({
          user,
          admin: ADMIN_TOKEN,
          dashboard: DASHBOARD_KEY,
        })) {
          const { faults, requests, output } = await runSchemathesis(tool!, {
            ...surface,
            url: proxy.url,
            examples: 1,
            seed: 20,
            phases: 'fuzzing',
            withinMs: 120_000,
          });
          expect([name, faults, faults.length === 0 ? '' : output]).toEqual([name, [], '']);
          expect(requests).toBeGreaterThan(20);
        }
      } finally {
        await proxy.close();
      }
    },
    300_000,
  );
});
