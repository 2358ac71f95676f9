import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { administrationPage } from '../../support/front-ends/administration-page.js';
import { olderPage } from '../../support/front-ends/older-page.js';
import { replayCalls } from '../../support/front-ends/replay-calls.js';
import type { Page, PageCall } from '../../support/front-ends/replay-calls.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { publishTask } from '../support/uploads.js';

const ORIGIN = 'https://front.example.org';
const SECRETS_KEY = Buffer.from('a key of 32 bytes for the tests!').toString('base64');

let gateway: Gateway;
afterEach(() => gateway.close());

async function start(origins = ORIGIN): Promise<void> {
  gateway = await startGateway({ env: { CORS_EXTRA_ORIGINS: origins, SECRETS_KEY } });
}

function replay(page: Page) {
  return replayCalls(page, {
    base: gateway.url,
    token: ADMIN_TOKEN,
    origin: ORIGIN,
    values: { partition: `replay-${randomUUID()}`, suffix: 'replay' },
    async settle(url) {
      await publishTask(gateway, url.split('/').at(-1) ?? '', ['one line', 'another']);
    },
  });
}

describe('a page in use', () => {
  it.each([olderPage, administrationPage])('finds every field it reads: $name', async (page) => {
    await start();
    await replay(page);
  });
});

describe('the replay', () => {
  const withCall = (call: Partial<PageCall>): Page => ({
    name: 'page',
    sendsJsonType: true,
    calls: [{ method: 'GET', path: '/presets/', status: 200, ...call }],
  });

  it.each([
    ['another status', { status: 201 }, /200/],
    ['a field of another type', { reads: { '[].used_by_partitions': 'string' } }, /used_by_partitions is 0/],
    ['a field that is missing', { reads: { '[].title': 'string|null' } }, /title is undefined/],
    ['a list without elements', { path: '/queue/tasks', reads: { 'tasks[].task_id': 'string' } }, /nothing/],
    ['an element that is missing', { finds: { '[name=none].name': 'none' } }, /leads to nothing/],
    ['another value', { finds: { '[name=hyde].preset_type': 'indexation' } }, /preset_type is "retrieval"/],
  ])('notices %s', async (_what, call, message) => {
    await start();
    await expect(replay(withCall(call))).rejects.toThrow(message);
  });

  it('notices what a browser would notice', async () => {
    await start('https://another.example.org');
    await expect(replay(olderPage)).rejects.toThrow(/preflight/);
  });
});
