import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { administrationPage } from '../support/front-ends/administration-page.js';
import { olderPage } from '../support/front-ends/older-page.js';
import { replayCalls } from '../support/front-ends/replay-calls.js';
import type { Page } from '../support/front-ends/replay-calls.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

const ORIGIN = 'https://front.example.org';

let stack: RunningStack;
let token: string;
beforeAll(async () => {
  stack = await openStack({ CORS_EXTRA_ORIGINS: ORIGIN, OLLAMA_HOST: '' });
  token = stack.token;
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

/** The older page renews the token at its end. */
async function replay(page: Page): Promise<void> {
  const kept = await replayCalls(page, {
    base: stack.base,
    token,
    origin: ORIGIN,
    values: { partition: `replay-${randomUUID()}`, suffix: 'replay' },
    async settle(url) {
      const client = documentClient({
        request: (path) => fetch(path, { headers: { Authorization: `Bearer ${token}` } }),
      });
      expect((await client.ended(url)).task_state).toBe('COMPLETED');
    },
  });
  token = kept['token'] ?? token;
}

describe('the administration pages in use', () => {
  it.each([administrationPage, olderPage])(
    'find every field they read: $name',
    (page) => replay(page),
    180_000,
  );
});
