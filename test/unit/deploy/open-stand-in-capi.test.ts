import { expect, test } from '@jest/globals';
import type { ManagedProcess } from '../../../deploy/local/managed-process.js';
import { openStandInCapi } from '../../../deploy/local/open-stand-in-capi.js';
import { temporaryFolder } from './temporary-folder.js';
import { testBench } from './test-bench.js';

test('the stand-in for the central API takes no port that the gateway is going to listen on', async () => {
  const taken: number[] = [];
  const stack = { run: async ({ plan }: ManagedProcess) => void taken.push(...plan.ports) };
  const bench = testBench(temporaryFolder());
  const address = await openStandInCapi(bench, stack, { build: '/build', besides: [8080, 8081] });
  expect(taken).toHaveLength(1);
  expect(taken).not.toContain(8081);
  expect(address).toBe(`http://127.0.0.1:${taken[0]}/`);
});
