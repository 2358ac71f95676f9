import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Hex } from '../../../schemas/sha256.js';
import { until } from '../../support/until.js';
import { signIn, trySignIn } from '../support/sign-in.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import { DASHBOARD_KEY, startProxy } from '../support/start-proxy.js';
import type { Proxy } from '../support/start-proxy.js';

const HOUR_MS = 3_600_000;
/** Ahead of the clock of any server, which removes what has ended by its own. */
const START = Date.UTC(2100, 4, 1);

let clock = START;
let proxy: Proxy;
beforeAll(async () => {
  proxy = await startProxy({ now: () => new Date(clock) });
});
afterAll(() => proxy.close());

function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return proxy.call(method, path, { token: null, headers });
}

async function statusOf(...asked: Parameters<typeof ask>): Promise<number> {
  const response = await ask(...asked);
  await response.arrayBuffer();
  return response.status;
}

describe('POST /app/session', () => {
  it('opens a session for a user token, under a cookie that no script can read', async () => {
    const { userId, token } = proxy.addUser('ada');
    const response = await trySignIn(proxy, `  ${token}\n`);
    expect(response.status).toBe(200);
    expect(response.headers.get('set-cookie')).toMatch(
      /^tamis_session=[A-Za-z0-9_-]{43}; HttpOnly; SameSite=Strict; Path=\/$/,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({
      user: { id: userId, name: 'ada', is_admin: false },
      management: false,
      provider: false,
      csrf_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expires_at: new Date(clock + 12 * HOUR_MS).toISOString(),
    });
  });

  it('opens one for a key of the management side, the configured one or a named one', async () => {
    const made = await proxy.ask('/api/keys', { method: 'POST', body: { name: 'wall', scopes: ['read'] } });
    const { key } = (await made.json()) as { key: string };
    for (const one of [DASHBOARD_KEY, key]) {
      const { body, cookie } = await signIn(proxy, one);
      expect(body).toMatchObject({ user: null, management: true });
      expect(await statusOf('/api/alerts', { Cookie: cookie })).toBe(200);
    }
  });

  it('is told in the log, with who it was', async () => {
    const { token, userId } = proxy.addUser('logged');
    await signIn(proxy, DASHBOARD_KEY, (await signIn(proxy, token)).headers);
    await until('both lines are written', async () => {
      const lines = proxy.logLines.filter((line) => line.includes('"path":"/app/session"')).join('');
      return lines.includes(`"user_id":${userId}`) && lines.includes('"key":"DASHBOARD_API_KEY"');
    });
  });

  it('adds the other kind to a session that there is, under a new cookie', async () => {
    const { token } = proxy.addUser('both');
    const first = await signIn(proxy, token);
    const second = await signIn(proxy, DASHBOARD_KEY, { Cookie: first.cookie });
    expect(second.body).toMatchObject({ user: { name: 'both' }, management: true });
    expect(second.cookie).not.toBe(first.cookie);
    expect(second.body.csrf_token).not.toBe(first.body.csrf_token);
    for (const path of ['/users/info', '/api/alerts', '/app/session'])
      expect([path, await statusOf(path, { Cookie: second.cookie })]).toEqual([path, 200]);
    expect(await statusOf('/app/session', { Cookie: first.cookie })).toBe(401);
    const other = proxy.addUser('other');
    const third = await signIn(proxy, other.token, { Cookie: second.cookie });
    expect(third.body).toMatchObject({ user: { id: other.userId }, management: true });
  });

  it.each([
    ['a wrong token', 'or-wrong-0123456789abcdef'],
    ['a wrong key', 'tamis_wrong0123456789abcdef'],
    ['the name of a field', '__proto__'],
  ])('answers 401 to %s, in the documents’ words, and sets nothing', async (_what, token) => {
    const response = await trySignIn(proxy, token);
    expect([response.status, await response.json()]).toEqual([401, { detail: 'Invalid token' }]);
    expect(response.headers.get('set-cookie')).toBeNull();
  });

  it('leaves a session as it is when what is added is wrong', async () => {
    const { cookie } = await signIn(proxy, ADMIN_TOKEN);
    expect((await trySignIn(proxy, 'or-wrong', { Cookie: cookie })).status).toBe(401);
    expect(await statusOf('/users/info', { Cookie: cookie })).toBe(200);
  });

  it.each([
    ['no token', {}],
    ['no text', { token: { $gt: '' } }],
    ['a list', [ADMIN_TOKEN]],
    ['blanks', { token: '  ' }],
    ['a text without an end', { token: 'x'.repeat(5000) }],
  ])('answers 422 to %s', async (_what, body) => {
    const response = await fetch(`${proxy.url}/app/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(422);
  });

  it.each([
    [{ PREFERRED_URL_SCHEME: 'https' }, {}],
    [{}, { 'X-Forwarded-Proto': 'https' }],
  ])('keeps the cookie to https where the request came over it: %j %j', async (env, headers) => {
    const gateway = await startGateway({ env });
    const response = await trySignIn(gateway, ADMIN_TOKEN, headers);
    expect(response.headers.get('set-cookie')).toMatch(/; Secure$/);
    await gateway.close();
  });

  it('lets everybody in as user 1 while authentication is off, and nobody once it is on', async () => {
    const open = await startGateway({ env: { AUTH_TOKEN: '' } });
    const { body, cookie } = await signIn(open, 'whatever');
    expect(body).toMatchObject({ user: { id: 1, is_admin: true }, management: false });
    expect((await open.call('GET', '/users/info', { token: null, headers: { Cookie: cookie } })).status).toBe(
      200,
    );
    await open.close();
    await proxy.sessions.insert(sha256Hex(cookie.slice('tamis_session='.length)), {
      tokenDigest: sha256Hex('whatever'),
      keyDigest: null,
      createdAt: new Date(clock),
      expiresAt: new Date(clock + HOUR_MS),
    });
    expect(await statusOf('/users/info', { Cookie: cookie })).toBe(401);
  });
});

describe('GET /app/session', () => {
  it('says again what signing in said', async () => {
    const { body, cookie } = await signIn(proxy, ADMIN_TOKEN);
    const response = await ask('/app/session', { Cookie: `other=1; ${cookie}; more=2` });
    expect([response.status, await response.json()]).toEqual([200, body]);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['no cookie', {}],
    ['a cookie that nobody was given', { Cookie: `tamis_session=${'A'.repeat(43)}` }],
    ['a cookie that cannot be one', { Cookie: 'tamis_session=..%2f$ne' }],
    ['an empty one', { Cookie: 'tamis_session=' }],
    ['a token, which is no session', { Authorization: `Bearer ${ADMIN_TOKEN}` }],
  ])('answers 401 to %s', async (_what, headers) => {
    const response = await ask('/app/session', headers);
    expect([response.status, await response.json()]).toEqual([401, { detail: 'Unauthenticated' }]);
  });
});

describe('DELETE /app/session', () => {
  it('ends the session and takes the cookie away', async () => {
    const { headers } = await signIn(proxy, ADMIN_TOKEN);
    const response = await ask('/app/session', headers, 'DELETE');
    expect(response.status).toBe(204);
    expect(response.headers.get('set-cookie')).toBe(
      'tamis_session=; Max-Age=0; HttpOnly; SameSite=Strict; Path=/',
    );
    expect(await statusOf('/app/session', headers)).toBe(401);
    expect(await statusOf('/users/info', headers)).toBe(401);
  });

  it('is harmless without one', async () => {
    expect(await statusOf('/app/session', {}, 'DELETE')).toBe(204);
  });
});

describe('a session', () => {
  it('ends twelve hours after the last request', async () => {
    const { cookie } = await signIn(proxy, ADMIN_TOKEN);
    for (let times = 0; times < 3; times += 1) {
      clock += 11 * HOUR_MS;
      expect(await statusOf('/users/info', { Cookie: cookie })).toBe(200);
    }
    clock += 12 * HOUR_MS;
    expect(await statusOf('/users/info', { Cookie: cookie })).toBe(401);
  });

  it('ends after seven days at the latest, also for what was added to it', async () => {
    const began = clock;
    let { cookie } = await signIn(proxy, ADMIN_TOKEN);
    while (clock < began + 6 * 24 * HOUR_MS) {
      clock += 11 * HOUR_MS;
      expect(await statusOf('/users/info', { Cookie: cookie })).toBe(200);
    }
    ({ cookie } = await signIn(proxy, DASHBOARD_KEY, { Cookie: cookie }));
    clock += 6 * HOUR_MS;
    expect(await (await ask('/app/session', { Cookie: cookie })).json()).toMatchObject({
      expires_at: new Date(began + 7 * 24 * HOUR_MS).toISOString(),
    });
    clock = began + 7 * 24 * HOUR_MS - 1000;
    expect(await statusOf('/api/alerts', { Cookie: cookie })).toBe(200);
    clock += 1000;
    expect(await statusOf('/api/alerts', { Cookie: cookie })).toBe(401);
  });

  it('lasts as SESSION_IDLE_HOURS and SESSION_MAX_DAYS say', async () => {
    let time = START;
    const gateway = await startGateway({
      env: { SESSION_IDLE_HOURS: '1', SESSION_MAX_DAYS: '1' },
      now: () => new Date(time),
    });
    const { body, cookie } = await signIn(gateway, ADMIN_TOKEN);
    expect(body.expires_at).toBe(new Date(START + HOUR_MS).toISOString());
    time += 2 * HOUR_MS;
    const response = await gateway.call('GET', '/users/info', { token: null, headers: { Cookie: cookie } });
    expect(response.status).toBe(401);
    await gateway.close();
  });

  it('serves when the store cannot move its end on, and 503 when it cannot be asked', async () => {
    const { cookie } = await signIn(proxy, ADMIN_TOKEN);
    const { prolong, find } = proxy.sessions;
    clock += HOUR_MS;
    proxy.sessions.prolong = () => Promise.reject(new Error('no server'));
    expect(await statusOf('/users/info', { Cookie: cookie })).toBe(200);
    proxy.sessions.find = () => Promise.reject(new Error('no server'));
    expect(await statusOf('/users/info', { Cookie: cookie })).toBe(503);
    const management = await ask('/api/alerts', { Cookie: cookie });
    expect([management.status, await management.json()]).toEqual([
      500,
      { error: 'Failed to check the session' },
    ]);
    Object.assign(proxy.sessions, { prolong, find });
  });
});

describe('a key signed in with', () => {
  it('may do what it was given for, and no more', async () => {
    const made = await proxy.ask('/api/keys', { method: 'POST', body: { name: 'eyes', scopes: ['read'] } });
    const { key } = (await made.json()) as { key: string };
    const { headers } = await signIn(proxy, key);
    expect(await statusOf('/api/forwarding', headers)).toBe(200);
    const refused = await ask('/api/keys', headers);
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { error: 'This needs a key with the scope admin' },
    ]);
  });

  it('is nobody to the documents, and a user nobody to the management side', async () => {
    const dashboard = await signIn(proxy, DASHBOARD_KEY);
    const refused = await ask('/users/info', dashboard.headers);
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { detail: 'Signed in without a user token' },
    ]);
    const admin = await signIn(proxy, ADMIN_TOKEN);
    expect(await statusOf('/api/alerts', admin.headers)).toBe(401);
  });
});

describe('a gateway that serves one side', () => {
  it('takes no key for a session where the proxy is not served', async () => {
    const gateway = await startGateway();
    expect((await trySignIn(gateway, DASHBOARD_KEY)).status).toBe(401);
    expect((await trySignIn(gateway, ADMIN_TOKEN)).status).toBe(200);
    await gateway.close();
  });

  it('reaches the management side of a proxy with a listener of its own by a session alone', async () => {
    const aside = await startProxy({ isProxyAside: true });
    const get = async (path: string, headers: Record<string, string>): Promise<number> =>
      (await aside.call('GET', path, { token: null, headers })).status;
    const { headers, body } = await signIn(aside, DASHBOARD_KEY, (await signIn(aside, ADMIN_TOKEN)).headers);
    expect(body).toMatchObject({ user: { id: 1 }, management: true });
    for (const path of ['/api/alerts', '/api/forwarding', '/users/info'])
      expect([path, await get(path, headers)]).toEqual([path, 200]);
    const create = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } };
    const key = JSON.stringify({ name: 'made-here', scopes: ['read'] });
    expect((await fetch(`${aside.url}/api/keys`, { ...create, body: key })).status).toBe(201);
    expect(
      (await fetch(`${aside.url}/api/keys`, { ...create, headers: { Cookie: headers.Cookie } })).status,
    ).toBe(403);
    for (const other of [{}, { 'X-Api-Key': DASHBOARD_KEY }, { ...headers, 'X-Api-Key': DASHBOARD_KEY }])
      expect([other, await get('/api/alerts', other as Record<string, string>)]).toEqual([other, 404]);
    for (const path of ['/v3/decisions/stream', '/v2/signals', '/health'])
      expect([path, await get(path, headers)]).toEqual([path, 404]);
    await aside.close();
  });
});
