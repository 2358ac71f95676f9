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
  it('rises by at most 100 MB during an upload of 500 MB', async () => {
    const risen = await expectLeanUpload(stack, 500);
    console.log(`500 MB uploaded: the gateway's memory rose by ${risen} MB`);
  });
});
