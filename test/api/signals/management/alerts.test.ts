import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { Alert } from '../../../../schemas/signals/proxy-api.js';
import type { Alert as AlertRecord } from '../../../../schemas/signals/signals.js';
import { sampleSignal } from '../../../support/signal-client.js';
import { DASHBOARD_KEY, startProxy } from '../../support/start-proxy.js';
import type { Proxy } from '../../support/start-proxy.js';

/** The clock of the gateway in this file. */
const T0 = Date.UTC(2026, 10, 21, 8);

function at(seconds: number): string {
  return new Date(T0 + seconds * 1000).toISOString();
}

let proxy: Proxy;
let clock = T0;

function signalFrom(ip: string, overrides: Record<string, unknown>) {
  return {
    ...sampleSignal(1),
    ...overrides,
    source: { scope: 'Ip', value: ip, ip, cn: 'FR', ...(overrides['source'] as object) },
  };
}

/** As its file has it. */
function withSecrets<T extends object>(server: T): T {
  return { ...server, api_key: 'k', password: 'p' };
}

beforeAll(async () => {
  proxy = await startProxy({
    now: () => new Date(clock),
    rules: [
      { name: 'internal', filter: { field: 'source.ip', op: 'cidr', value: '10.0.0.0/8' } },
      { name: 'off', enabled: false, filter: { field: 'scenario', op: 'not_empty' } },
    ],
    faults: [{ file: '/etc/tamis/filters.d/broken.yaml', message: 'line 3: no such operator' }],
    settings: { lapiServers: [withSecrets({ name: 'paris', url: 'http://10.0.0.1:8080', canBan: true })] },
  });
  const { token } = mintToken('w1');
  const batches = [
    [signalFrom('203.0.113.1', { scenario: 'a/ssh-bf_user%enum', machine_id: 'agent-1' })],
    [signalFrom('10.0.0.9', { scenario: 'a/HTTP-probing', machine_id: 'agent:2' })],
    [
      signalFrom('2001:db8::1', { scenario: 'b/ssh-bf', source: { cn: 'DE' } }),
      signalFrom('203.0.113.1', { scenario: 'b/ssh-bf', unknown_field: { kept: true } }),
    ],
    [{ broken: true }],
  ];
  for (const [index, batch] of batches.entries()) {
    clock = T0 + index * 1000;
    expect((await proxy.push(batch, { token })).status).toBe(200);
  }
  clock = T0 + 10_000;
  await proxy.stores.alerts.markForwarded([1], new Date(T0 + 5000));
});
afterAll(() => proxy.close());

async function answer(path: string, init: Parameters<Proxy['ask']>[1] = {}) {
  const response = await proxy.ask(path, init);
  return { status: response.status, body: await response.json() };
}

async function ids(query: string): Promise<number[]> {
  const { status, body } = await answer(`/api/alerts${query}`);
  expect([query, status]).toEqual([query, 200]);
  return (body as AlertRecord[]).map(({ id }) => id);
}

const GUARDED = ['/api/alerts', '/api/alerts/1', '/api/lapi-servers', '/api/forwarding'];

describe('GET /health', () => {
  it('asks for no key', async () => {
    expect(await answer('/health', { key: null })).toEqual({
      status: 200,
      body: { status: 'ok', timestamp: at(10) },
    });
  });
});

describe('the key of the management side', () => {
  it.each(GUARDED)('is asked for by %s', async (path) => {
    const refusal = { status: 401, body: { error: 'Unauthorized' } };
    for (const key of [null, '', 'wrong', DASHBOARD_KEY.toUpperCase(), `${DASHBOARD_KEY}0`])
      expect(await answer(path, { key })).toEqual(refusal);
    expect(await answer(`${path}?key=${DASHBOARD_KEY}`, { key: null })).toEqual(refusal);
    expect((await answer(path)).status).toBe(200);
    expect((await proxy.ask(path, { method: 'HEAD', key: null })).status).toBe(401);
  });

  it('comes before everything else', async () => {
    expect((await answer('/api/alerts?limit=0', { key: null })).status).toBe(401);
    expect((await answer('/api/alerts/abc', { key: null })).status).toBe(401);
    expect((await answer('/api/alerts/99999', { key: null })).status).toBe(401);
  });

  it('lets nobody in while none is configured', async () => {
    const closed = await startProxy({ settings: { dashboardApiKey: null } });
    for (const path of GUARDED)
      for (const key of [null, '', 'null', 'undefined'])
        expect((await closed.ask(path, { key })).status).toBe(401);
    expect((await closed.ask('/health', { key: null })).status).toBe(200);
    await closed.close();
  });

  it("is not the documents' token", async () => {
    const response = await proxy.call('GET', '/api/alerts');
    expect([response.status, await response.json()]).toEqual([401, { error: 'Unauthorized' }]);
    const other = await proxy.call('GET', '/partition/', {
      token: null,
      headers: { 'x-api-key': DASHBOARD_KEY },
    });
    expect(other.status).toBe(403);
  });
});

describe('GET /api/alerts', () => {
  it('answers all 41 fields of each, the newest first', async () => {
    const { body } = await answer('/api/alerts');
    const alerts = body as AlertRecord[];
    expect(alerts.map(({ id }) => id)).toEqual([5, 4, 3, 2, 1]);
    for (const alert of alerts) expect(Object.keys(alert).sort()).toEqual(Object.keys(Alert.shape).sort());
    expect(Object.keys(Alert.shape)).toHaveLength(41);
    expect(alerts[4]).toMatchObject({
      id: 1,
      machineId: 'agent-1',
      receivedAt: at(0),
      filtered: false,
      filterReasons: null,
      forwardedToCapi: true,
      forwardedAt: at(5),
      simulated: false,
      remediation: false,
      hasDecisions: true,
      sourceIp: '203.0.113.1',
      geoCountryCode: 'FR',
      eventsCount: null,
    });
    expect(alerts[3]).toMatchObject({
      filtered: true,
      filterReasons: '["source.ip in CIDR 10.0.0.0/8"]',
      forwardedToCapi: false,
      forwardedAt: null,
    });
    expect(JSON.parse(alerts[1]?.rawJson ?? '')).toMatchObject({ unknown_field: { kept: true } });
  });

  it.each<[string, number[]]>([
    ['?limit=2', [5, 4]],
    ['?limit=1e0', [5]],
    ['?limit=2&offset=3', [2, 1]],
    ['?offset=1e300', []],
    ['?filtered=true', [2]],
    ['?filtered=false&forwardedToCapi=false', [5, 4, 3]],
    ['?forwardedToCapi=true', [1]],
    ['?scenario=SSH-BF', [4, 3, 1]],
    ['?scenario=bf_user%25', [1]],
    ['?scenario=.*', []],
    ['?country=DE', [3]],
    ['?machineId=agent:2', [2]],
    ['?ip=203.0.113.1', [4, 1]],
    ['?ip=2001:db8::1', [3]],
    [`?since=${at(1)}&until=${at(2)}`, [4, 3, 2]],
    ['?since=2026-11-21T09:00:02%2B01:00', [5, 4, 3]],
    ['?since=2026-11-21%2008:00:02.000Z', [5, 4, 3]],
    [`?newerThan=${at(2)}&limit=1&offset=4`, [1]],
    [`?newerThan=${at(2)}&country=DE`, [3]],
    [`?newerThan=${at(3)}`, []],
    ['?nonsense=1&nonsense=2', [5, 4, 3, 2, 1]],
  ])('%s', async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
  });

  it.each([
    ['limit=0', 'querystring/limit must be >= 1'],
    ['limit=-1', 'querystring/limit must be >= 1'],
    ['limit=1001', 'querystring/limit must be <= 1000'],
    ['limit=abc', 'querystring/limit must be integer'],
    ['limit=1.5', 'querystring/limit must be integer'],
    ['limit=', 'querystring/limit must be integer'],
    ['limit=1&limit=2', 'querystring/limit must be integer'],
    ['limit=1&limit=1', 'querystring/limit must be integer'],
    ['offset=-1', 'querystring/offset must be >= 0'],
    ...['1', 'yes', 'TRUE', ''].map((text) => [`filtered=${text}`, 'querystring/filtered must be boolean']),
    ['forwardedToCapi=maybe', 'querystring/forwardedToCapi must be boolean'],
    [`scenario=${'x'.repeat(201)}`, 'querystring/scenario must NOT have more than 200 characters'],
    ['country=fr', 'querystring/country must match pattern "^[A-Z]{2}$"'],
    ['country=', 'querystring/country must match pattern "^[A-Z]{2}$"'],
    ['machineId=a%20b', 'querystring/machineId must match pattern "^[a-zA-Z0-9_\\-.:]+$"'],
    ['machineId=', 'querystring/machineId must match pattern "^[a-zA-Z0-9_\\-.:]+$"'],
    [`machineId=${'x'.repeat(256)}`, 'querystring/machineId must NOT have more than 255 characters'],
    ['ip=1.2.3.4&ip=1.2.3.4', 'querystring/ip must be string'],
    ...['1.2.3', '10.0.0.0/8', 'localhost', ''].map((ip) => [`ip=${ip}`, 'Invalid IP address format']),
    ...['since', 'until', 'newerThan'].flatMap((name) =>
      ['2026-11-21', '2026-11-21T08:00:00', '2026-02-30T08:00:00Z', '2026-11-21T25:00:00Z', 'now', ''].map(
        (text) => [`${name}=${text}`, `querystring/${name} must match format "date-time"`],
      ),
    ),
    ['since=2019-12-31T23:59:59Z', 'Since date out of acceptable range'],
    ['until=2026-11-22T08:00:11Z', 'Until date out of acceptable range'],
    ['newerThan=0001-01-01T00:00:00Z', 'newerThan date out of acceptable range'],
    ['limit=0&offset=-1&ip=x', 'querystring/limit must be >= 1'],
  ])('refuses ?%s', async (query, error) => {
    expect(await answer(`/api/alerts?${query}`)).toEqual({ status: 400, body: { error } });
  });

  it('says no more than that when the store fails', async () => {
    const fault = () => Promise.reject(new Error('hunter2'));
    const broken = await startProxy({
      adapt: ({ alerts }) => ({ alerts: { ...alerts, list: fault, get: fault, summaries: fault } }),
    });
    for (const [path, error] of [
      ['/api/alerts', 'Failed to query alerts'],
      ['/api/alerts/1', 'Failed to get alert'],
      ['/api/forwarding', 'Failed to get forwarding state'],
    ] as const) {
      const response = await broken.ask(path);
      expect([response.status, await response.json()]).toEqual([500, { error }]);
    }
    expect(broken.logLines.join('')).toContain('hunter2');
    await broken.close();
  });
});

describe('GET /api/alerts/{id}', () => {
  it.each(['1', '1.0', '1e0'])('finds %s', async (id) => {
    const { status, body } = await answer(`/api/alerts/${id}`);
    expect([status, body]).toEqual([200, expect.objectContaining({ id: 1 })]);
    expect(Object.keys(body as object)).toHaveLength(41);
  });

  it.each([
    ['0', 'params/id must be >= 1'],
    ['-1', 'params/id must be >= 1'],
    ['abc', 'params/id must be integer'],
    ['1abc', 'params/id must be integer'],
    ['1.5', 'params/id must be integer'],
    ['', 'params/id must be integer'],
  ])('refuses %s', async (id, error) => {
    expect(await answer(`/api/alerts/${id}`)).toEqual({ status: 400, body: { error } });
  });

  it.each(['99', '1e300'])('does not find %s', async (id) => {
    expect(await answer(`/api/alerts/${id}`)).toEqual({ status: 404, body: { error: 'Alert not found' } });
  });
});

describe('GET /api/lapi-servers', () => {
  it('answers names, and nothing secret', async () => {
    expect(await answer('/api/lapi-servers')).toEqual({
      status: 200,
      body: [{ name: 'paris', url: 'http://10.0.0.1:8080', canBan: true }],
    });
  });
});

describe('GET /api/forwarding', () => {
  it('tells per watcher what waits and why, and which rules are in force', async () => {
    const { watchers } = proxy.stores;
    await watchers.recordSuccess('w1', new Date(T0 + 5000));
    await watchers.recordError(
      'w1',
      { at: new Date(T0 + 6000), cause: 'rate-limited', status: 429, message: 'slow down' },
      new Date(T0 + 60_000),
    );
    await watchers.refuseToken('w2', 'a-digest');
    const { status, body } = await answer('/api/forwarding');
    expect(status).toBe(200);
    expect(body).toEqual({
      enabled: true,
      withheld: expect.objectContaining({ waiting: 2, quarantined: 1, deferred: 0, discarded: 0 }),
      watchers: [
        {
          watcher: 'w1',
          waiting: 2,
          oldest: at(2),
          canBeSent: true,
          quarantined: 1,
          lastQuarantined: { id: 5, reason: expect.stringContaining('scenario') },
          deferred: 0,
          withheld: 0,
          discarded: 0,
          lastDiscarded: null,
          lastSuccess: at(5),
          lastError: { at: at(6), cause: 'rate-limited', status: 429, message: 'slow down' },
          nextAttempt: at(60),
          hasToken: true,
          tokenExpiresAt: expect.stringMatching(/Z$/),
          loginWanted: false,
          pausedSince: null,
          metricsHeld: 0,
          metricsRefused: 0,
        },
        {
          watcher: 'w2',
          waiting: 0,
          oldest: null,
          canBeSent: true,
          quarantined: 0,
          lastQuarantined: null,
          deferred: 0,
          withheld: 0,
          discarded: 0,
          lastDiscarded: null,
          lastSuccess: null,
          lastError: null,
          nextAttempt: null,
          hasToken: false,
          tokenExpiresAt: null,
          loginWanted: true,
          pausedSince: null,
          metricsHeld: 0,
          metricsRefused: 0,
        },
      ],
      logins: { budget: 18, windowMinutes: 50, used: 0, blocks: [], refused: [] },
      rules: {
        mode: 'block',
        names: ['internal'],
        faults: [{ file: '/etc/tamis/filters.d/broken.yaml', message: 'line 3: no such operator' }],
      },
    });
  });
});

describe('paths and methods that the management side does not have', () => {
  it.each([
    ['GET', '/api'],
    ['GET', '/api/'],
    ['GET', '/api/nothing'],
    ['GET', '/api/relationships/x'],
    ['GET', '/api/file/x/ancestors'],
    ['GET', '/api/lapi-servers/'],
    ['GET', '/api/forwarding/'],
    ['GET', '/api/alerts/1/'],
    ['GET', '/health/'],
    ['POST', '/api/alerts'],
    ['DELETE', '/api/alerts/1'],
    ['OPTIONS', '/api/alerts'],
    ['POST', '/health'],
  ])('%s %s is 404 without a key', async (method, path) => {
    expect(await answer(path, { method, key: null })).toEqual({ status: 404, body: { error: 'Not Found' } });
  });

  it.each(['/health', ...GUARDED])('%s has HEAD', async (path) => {
    const response = await proxy.ask(path, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('knows no other spelling', async () => {
    expect((await proxy.ask('/API/alerts', { key: null })).status).toBe(404);
    expect((await proxy.raw('GET', '/V3/x')).status).toBe(404);
    expect((await proxy.raw('GET', '/v3')).status).toBe(404);
  });
});

describe('GET /openapi.json', () => {
  it('describes both jobs, each with its own security', async () => {
    const document = (await (await proxy.call('GET', '/openapi.json')).json()) as {
      paths: Record<string, Record<string, { tags: string[]; security: unknown; responses: object }>>;
      components: { securitySchemes: object; schemas: Record<string, { required?: string[] }> };
    };
    expect(document.components.securitySchemes).toMatchObject({
      bearer: { type: 'http', scheme: 'bearer' },
      dashboardKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      capiToken: { type: 'http', scheme: 'bearer' },
    });
    for (const path of ['/api/alerts', '/api/alerts/{id}', '/api/lapi-servers', '/api/forwarding']) {
      const operation = document.paths[path]?.['get'];
      expect([path, operation?.tags, operation?.security]).toEqual([
        path,
        ['Proxy management'],
        [{ dashboardKey: [] }],
      ]);
      expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(['200', '401', '500']));
    }
    expect(document.paths['/health']?.['get']?.security).toEqual([]);
    expect(document.paths['/v3/signals']?.['post']).toMatchObject({
      tags: ['Proxy relay'],
      security: [{ capiToken: [] }],
    });
    expect(Object.keys(document.paths['/v2/{path}'] ?? {})).toEqual(
      expect.arrayContaining(['get', 'post', 'put', 'patch', 'delete', 'head', 'options']),
    );
    expect(document.components.schemas['Alert']?.required).toHaveLength(41);
    const served = proxy.routes.flatMap(({ method, path }) =>
      method === 'all' ? [] : [`${method} ${path.replace('{+', '{')}`],
    );
    for (const name of served) {
      const [method = '', path = ''] = name.split(' ');
      expect([name, document.paths[path]?.[method] !== undefined]).toEqual([name, true]);
    }
  });
});

describe('the documents beside the proxy', () => {
  it('are served as without it', async () => {
    expect((await proxy.call('GET', '/health_check')).status).toBe(200);
    expect((await proxy.call('POST', '/partition/notes')).status).toBe(201);
    const unknown = await proxy.call('GET', '/nothing');
    expect([unknown.status, await unknown.json()]).toEqual([404, { detail: 'Not Found' }]);
    for (const { auth, method, path } of proxy.routes) {
      const kinds = ['public', 'user', 'admin'];
      const guarded =
        typeof auth === 'object'
          ? // These narrow what stands beside them, and are no guard alone.
            Object.keys(auth).filter((name) => name !== 'scope' && name !== 'admin')
          : [kinds.includes(auth) ? auth : 'nobody'];
      expect([method, path, guarded]).toEqual([
        method,
        path,
        [expect.stringMatching(/^(public|user|admin|partition|key|token)$/)],
      ]);
    }
  });
});
