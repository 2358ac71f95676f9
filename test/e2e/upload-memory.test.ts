import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { expectLeanUpload } from '../support/expect-lean-upload.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

let stack: RunningStack;

beforeAll(async () => {
  stack = await openStack();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

describe("the gateway's memory", () => {
  it('rises by at most 100 MB during an upload of 100 MB', async () => {
    await expectLeanUpload(stack, 100);
  }, 180_000);
});
