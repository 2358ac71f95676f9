import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { neededScope } from '../../../../api/http/route.js';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { DASHBOARD_KEY, startProxy } from '../../support/start-proxy.js';
import type { Proxy } from '../../support/start-proxy.js';

const T0 = Date.UTC(2026, 10, 21, 8);

let proxy: Proxy;
let clock = T0;

beforeAll(async () => {
  proxy = await startProxy({ now: () => new Date(clock) });
});
afterAll(() => proxy.close());
beforeEach(() => {
  clock = T0;
});

type Init = Parameters<Proxy['ask']>[1];

async function answer(path: string, init: Init = {}) {
  const response = await proxy.ask(path, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function status(key: string, path = '/api/alerts', init: Init = {}): Promise<number> {
  return (await proxy.ask(path, { ...init, key })).status;
}

/** Answers, and changes nothing, though it is no GET. */
const READING = new Set(['/api/filters/check']);

let serial = 0;

async function create(...scopes: string[]): Promise<{ id: string; key: string; name: string }> {
  const name = `key ${(serial += 1)}`;
  const made = await answer('/api/keys', { method: 'POST', body: { name, scopes } });
  expect(made.status).toBe(201);
  return { id: String(made.body['id']), key: String(made.body['key']), name };
}

describe('POST /api/keys', () => {
  it('answers the key once, and never again', async () => {
    const { body } = await answer('/api/keys', {
      method: 'POST',
      body: { name: 'grafana', scopes: ['write', 'read'] },
    });
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'grafana',
      scopes: ['read', 'write'],
      createdAt: new Date(T0).toISOString(),
      rotatedAt: null,
      lastUsedAt: null,
      previousUntil: null,
      key: expect.stringMatching(/^tamis_[A-Za-z0-9_-]{43}$/),
    });
    const listed = await proxy.ask('/api/keys');
    expect(await listed.text()).not.toContain(String(body['key']));
    expect(proxy.logLines.join('')).not.toContain(String(body['key']));
    expect(await status(String(body['key']))).toBe(200);
  });

  it('refuses a name that is taken', async () => {
    const { name } = await create('read');
    expect(await answer('/api/keys', { method: 'POST', body: { name, scopes: ['read'] } })).toEqual({
      status: 409,
      body: { error: 'A key of this name exists already' },
    });
  });

  it.each<[unknown, string]>([
    [{ scopes: ['read'] }, 'body/name Field required'],
    [{ name: '', scopes: ['read'] }, 'body/name must match pattern "^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}$"'],
    [{ name: 7, scopes: ['read'] }, 'body/name must be string'],
    [{ name: 'x', scopes: [] }, 'body/scopes must NOT have fewer than 1 items'],
    [{ name: 'x', scopes: ['root'] }, 'body/scopes/0 must be one of read, write, admin'],
    [{ name: 'x', scopes: 'read' }, 'body/scopes must be array'],
    [{ name: 'x', scopes: ['read'], key: 'mine' }, 'body Unrecognized key: "key"'],
    ['{', 'body JSON decode error'],
  ])('refuses %j', async (body, error) => {
    expect(await answer('/api/keys', { method: 'POST', body })).toEqual({ status: 400, body: { error } });
  });
});

describe('what a key may do', () => {
  it('follows from its scopes, each of which includes the lower ones', async () => {
    const [read, write, admin] = [await create('read'), await create('write'), await create('admin')];
    const [, forbidden] = [200, 403];
    for (const { key } of [read, write, admin])
      for (const path of ['/api/alerts', '/api/stats', '/api/forwarding', '/api/lapi-servers'])
        expect([path, await status(key, path)]).toEqual([path, 200]);
    for (const { key } of [read, write]) {
      expect(await status(key, '/api/keys')).toBe(forbidden);
      expect(await status(key, '/api/keys', { method: 'POST', body: {} })).toBe(forbidden);
      expect(await status(key, `/api/keys/${read.id}`, { method: 'DELETE' })).toBe(forbidden);
    }
    expect(await status(admin.key, '/api/keys')).toBe(200);
    expect(await answer('/api/keys', { key: read.key })).toEqual({
      status: 403,
      body: { error: 'This needs a key with the scope admin' },
    });
  });

  it('is asked after the key itself and before the request', async () => {
    const { key } = await create('read');
    expect(await status(key, '/api/keys/nonsense/rotate', { method: 'POST', body: {} })).toBe(403);
    expect(await status('wrong', '/api/keys/nonsense/rotate', { method: 'POST', body: {} })).toBe(401);
  });

  it('a route that names no scope wants write for whatever is not a GET', () => {
    for (const { method, path, auth } of proxy.routes) {
      if (typeof auth !== 'object' || !('key' in auth)) continue;
      if (path.startsWith('/api/keys')) expect(auth.scope).toBe('admin');
      else {
        const wanted = method === 'get' || READING.has(path) ? 'read' : 'write';
        expect([method, path, neededScope({ method, auth })]).toEqual([method, path, wanted]);
      }
    }
  });

  it('write pauses and resumes what read may only see', async () => {
    const [read, write] = [await create('read'), await create('write')];
    await proxy.push([sampleSignal(1)], { token: mintToken('w').token });
    const pause = '/api/forwarding/w/pause';
    expect(await status(read.key, pause, { method: 'POST' })).toBe(403);
    expect(await status(write.key, pause, { method: 'POST' })).toBeLessThan(300);
    expect(await status(write.key, '/api/forwarding')).toBe(200);
  });

  it('is nothing while DASHBOARD_API_KEY is not set', async () => {
    const closed = await startProxy({ settings: { dashboardApiKey: null } });
    const { key } = await create('admin');
    expect((await closed.ask('/api/alerts', { key })).status).toBe(401);
    await closed.close();
  });
});

describe('GET /api/keys', () => {
  it('shows when a key was used, to the minute', async () => {
    const { id, key, name } = await create('read');
    const shown = async () =>
      ((await answer('/api/keys')).body as unknown as { id: string; lastUsedAt: string | null }[]).find(
        (each) => each.id === id,
      );
    expect(await shown()).toMatchObject({ name, scopes: ['read'], lastUsedAt: null });
    await status(key);
    expect(await shown()).toMatchObject({ lastUsedAt: '2026-11-21T08:00:00.000Z' });
    clock = T0 + 59_000;
    await status(key);
    expect(await shown()).toMatchObject({ lastUsedAt: '2026-11-21T08:00:00.000Z' });
    clock = T0 + 61_000;
    await status(key);
    expect(await shown()).toMatchObject({ lastUsedAt: '2026-11-21T08:01:01.000Z' });
  });
});

describe('POST /api/keys/{id}/rotate', () => {
  it('ends the old key at once, or after a grace', async () => {
    const { id, key, name } = await create('read');
    const rotate = (body: object) => answer(`/api/keys/${id}/rotate`, { method: 'POST', body });
    const second = await rotate({});
    expect(second).toMatchObject({ status: 200, body: { id, name, previousUntil: null } });
    expect([await status(key), await status(String(second.body['key']))]).toEqual([401, 200]);

    const third = await rotate({ graceSeconds: 60 });
    expect(third.body).toMatchObject({ previousUntil: '2026-11-21T08:01:00.000Z' });
    clock = T0 + 59_000;
    expect(await status(String(second.body['key']))).toBe(200);
    expect(await status(String(third.body['key']))).toBe(200);
    clock = T0 + 60_000;
    expect(await status(String(second.body['key']))).toBe(401);
    expect(await status(String(third.body['key']))).toBe(200);
  });

  it('needs no body', async () => {
    const { id, key, name } = await create('read');
    const rotated = await answer(`/api/keys/${id}/rotate`, { method: 'POST' });
    expect(rotated).toMatchObject({ status: 200, body: { id, name, previousUntil: null } });
    expect(await status(key)).toBe(401);
  });

  it.each<[string, unknown, number, string]>([
    ['00000000-0000-0000-0000-000000000000', {}, 404, 'Key not found'],
    ['x', {}, 400, 'params/id must match format "uuid"'],
    ['00000000-0000-0000-0000-000000000000', { graceSeconds: -1 }, 400, 'body/graceSeconds must be >= 0'],
    [
      '00000000-0000-0000-0000-000000000000',
      { graceSeconds: 1e9 },
      400,
      'body/graceSeconds must be <= 604800',
    ],
  ])('refuses %s with %j', async (id, body, expected, error) => {
    expect(await answer(`/api/keys/${id}/rotate`, { method: 'POST', body })).toEqual({
      status: expected,
      body: { error },
    });
  });
});

describe('DELETE /api/keys/{id}', () => {
  it('revokes a key at once, and once', async () => {
    const { id, key, name } = await create('read');
    expect(await status(key)).toBe(200);
    expect(await answer(`/api/keys/${id}`, { method: 'DELETE' })).toEqual({
      status: 200,
      body: { success: true, message: `Key ${name} revoked` },
    });
    expect(await status(key)).toBe(401);
    expect(await answer(`/api/keys/${id}`, { method: 'DELETE' })).toEqual({
      status: 404,
      body: { error: 'Key not found' },
    });
  });
});

describe('who comes without a valid key', () => {
  const limited = async (use: (gateway: Proxy) => Promise<void>): Promise<void> => {
    const gateway = await startProxy({ unauthenticatedRate: 5 });
    try {
      await use(gateway);
    } finally {
      await gateway.close();
    }
  };
  const ask = async (gateway: Proxy, key: string | null, path = '/api/alerts') => {
    const response = await gateway.ask(path, { key });
    const body = await response.json();
    return { status: response.status, body, headers: response.headers };
  };

  it('is refused with 429 after so many tries, and a right key that is new here likewise', () =>
    limited(async (gateway) => {
      for (let left = 4; left >= 0; left -= 1) {
        const { status: refused, headers } = await ask(gateway, `wrong-${left}`);
        expect([refused, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual([
          401,
          '5',
          String(left),
        ]);
        expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(0);
      }
      for (const key of ['wrong', null, DASHBOARD_KEY]) {
        const { status: refused, body, headers } = await ask(gateway, key);
        expect([refused, body]).toEqual([429, { error: 'Rate limit exceeded, retry in 1 minute' }]);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        expect(headers.get('x-ratelimit-remaining')).toBe('0');
      }
    }));

  it('does not lock out a key that was right from the same address', () =>
    limited(async (gateway) => {
      expect((await ask(gateway, DASHBOARD_KEY)).status).toBe(200);
      for (let turn = 0; turn < 10; turn += 1) await ask(gateway, 'wrong');
      const { status: answered, headers } = await ask(gateway, DASHBOARD_KEY);
      expect([answered, headers.get('x-ratelimit-remaining')]).toEqual([200, '0']);
    }));

  it('gets no more tries by asking many things at once', () =>
    limited(async (gateway) => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) => ask(gateway, `wrong-${index}`)),
      );
      expect(answers.filter(({ status: refused }) => refused === 401)).toHaveLength(5);
      expect(answers.filter(({ status: refused }) => refused === 429)).toHaveLength(35);
    }));

  it('may ask for /health as often, while a valid key is not limited', () =>
    limited(async (gateway) => {
      for (let turn = 0; turn < 12; turn += 1) expect((await ask(gateway, DASHBOARD_KEY)).status).toBe(200);
      const answers = [];
      for (let turn = 0; turn < 7; turn += 1) answers.push((await ask(gateway, null, '/health')).status);
      expect(answers).toEqual([200, 200, 200, 200, 200, 429, 429]);
    }));

  it('leaves the side of the local API servers alone', () =>
    limited(async (gateway) => {
      for (let turn = 0; turn < 10; turn += 1) await ask(gateway, 'wrong');
      expect((await gateway.push([])).status).toBe(200);
    }));
});

describe('a store of keys that fails', () => {
  it('is a 500 for named keys, and nothing for the configured one', async () => {
    const fault = () => Promise.reject(new Error('hunter2'));
    const broken = await startProxy({
      adapt: () => ({
        keys: { create: fault, list: fault, find: fault, rotate: fault, remove: fault, touch: fault },
      }),
    });
    const ask = async (path: string, init: Init) => {
      const response = await broken.ask(path, init);
      return [response.status, await response.json()];
    };
    expect(await ask('/api/alerts', { key: 'tamis_x' })).toEqual([500, { error: 'Failed to check the key' }]);
    expect(await ask('/api/alerts', { key: 'other' })).toEqual([401, { error: 'Unauthorized' }]);
    expect(await ask('/api/alerts', {})).toEqual([200, []]);
    expect(await ask('/api/keys', {})).toEqual([500, { error: 'Failed to get keys' }]);
    await broken.close();
  });
});
