import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Hex } from '../../schemas/sha256.js';
import { signIn, trySignIn } from '../api/support/sign-in.js';
import { ADMIN_TOKEN, startGateway } from '../api/support/start-gateway.js';
import { DASHBOARD_KEY, startProxy } from '../api/support/start-proxy.js';
import type { Proxy } from '../api/support/start-proxy.js';

const CSRF = 'X-CSRF-Token is missing or not that of the session';

let proxy: Proxy;
beforeAll(async () => {
  proxy = await startProxy();
});
afterAll(() => proxy.close());

function ask(method: string, path: string, headers: Record<string, string> = {}) {
  return proxy.call(method, path, { token: null, headers });
}

async function statusOf(...asked: Parameters<typeof ask>): Promise<number> {
  const response = await ask(...asked);
  await response.arrayBuffer();
  return response.status;
}

describe('a page of another origin', () => {
  it('writes nothing through any route, with a wrong X-CSRF-Token or without one', async () => {
    const { cookie, body } = await signIn(proxy, DASHBOARD_KEY, (await signIn(proxy, ADMIN_TOKEN)).headers);
    const foreign = await signIn(proxy, ADMIN_TOKEN);
    const tokens = [
      null,
      '',
      foreign.body.csrf_token,
      body.csrf_token.slice(1),
      cookie,
      `${body.csrf_token}x`,
    ];
    let asked = 0;
    for (const { method, path, auth } of proxy.routes) {
      if (method === 'get' || method === 'all' || path === '/app/session' || auth === 'public') continue;
      if (typeof auth === 'object' && 'token' in auth) continue;
      for (const token of tokens) {
        const response = await ask(method.toUpperCase(), path.replaceAll(/\{\+?\w+\}/g, 'x'), {
          Cookie: cookie,
          ...(token === null ? {} : { 'X-CSRF-Token': token }),
        });
        const text = await response.text();
        expect([method, path, token, response.status, text.includes(CSRF)]).toEqual([
          method,
          path,
          token,
          403,
          true,
        ]);
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(300);
  }, 60_000);

  it('does not sign its visitor out', async () => {
    const { cookie } = await signIn(proxy, ADMIN_TOKEN);
    expect(await statusOf('DELETE', '/app/session', { Cookie: cookie })).toBe(403);
    expect(await statusOf('GET', '/app/session', { Cookie: cookie })).toBe(200);
  });

  it.each(['cross-site', 'same-site', 'SAME-SITE', 'something'])(
    'has no session where the browser says %s, not even to read',
    async (site) => {
      const { headers } = await signIn(proxy, ADMIN_TOKEN);
      const foreign = { ...headers, 'Sec-Fetch-Site': site };
      const response = await ask('GET', '/users/info', foreign);
      expect([response.status, await response.json()]).toEqual([403, { detail: 'Missing token' }]);
      expect(await statusOf('GET', '/api/alerts', foreign)).toBe(401);
      expect(await statusOf('GET', '/app/session', foreign)).toBe(401);
      expect((await trySignIn(proxy, ADMIN_TOKEN, { 'Sec-Fetch-Site': site })).status).toBe(403);
    },
  );

  it('signs nobody in with a form', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const response = await fetch(`${proxy.url}/app/session`, {
        method: 'POST',
        headers: { 'Content-Type': type },
        body: JSON.stringify({ token: ADMIN_TOKEN }),
      });
      expect([type, response.status]).toEqual([type, 422]);
    }
  });

  it('is not let in by CORS, named or not', async () => {
    for (const CORS_EXTRA_ORIGINS of ['https://front.example.org', '*']) {
      const gateway = await startGateway({ env: { CORS_EXTRA_ORIGINS } });
      const origin = 'https://front.example.org';
      for (const path of ['/app/session', '/app/', '/users/info', '/partition/']) {
        const preflight = await fetch(`${gateway.url}${path}`, {
          method: 'OPTIONS',
          headers: {
            Origin: origin,
            'Access-Control-Request-Method': 'POST',
            'Access-Control-Request-Headers': 'X-CSRF-Token',
          },
        });
        const { headers } = preflight;
        expect([path, headers.get('access-control-allow-credentials')]).toEqual([path, null]);
        expect(headers.get('access-control-allow-headers') ?? '').not.toMatch(/csrf/i);
        if (path.startsWith('/app')) expect(headers.get('access-control-allow-origin')).toBeNull();
      }
      await gateway.close();
    }
  });
});

describe('a stolen cookie', () => {
  it('is worth nothing after its owner signed out', async () => {
    const { headers } = await signIn(proxy, ADMIN_TOKEN);
    expect(await statusOf('DELETE', '/app/session', headers)).toBe(204);
    for (const [path, status] of [
      ['/app/session', 401],
      ['/users/info', 401],
      ['/api/alerts', 401],
    ] as const)
      expect([path, await statusOf('GET', path, headers)]).toEqual([path, status]);
    expect(await statusOf('POST', '/partition/stolen', headers)).toBe(401);
    // Nor can it be added to.
    const { cookie } = await signIn(proxy, DASHBOARD_KEY, headers);
    expect(await statusOf('GET', '/users/info', { Cookie: cookie })).toBe(403);
  });

  it('is not found in the store, nor is a token', async () => {
    const { token } = proxy.addUser('stored');
    const stored: string[] = [];
    const { insert } = proxy.sessions;
    proxy.sessions.insert = (digest, session) => {
      stored.push(JSON.stringify([digest, session]));
      return insert(digest, session);
    };
    const { cookie, body } = await signIn(proxy, token);
    proxy.sessions.insert = insert;
    const value = cookie.slice('tamis_session='.length);
    expect(stored).toEqual([expect.stringContaining(sha256Hex(value))]);
    for (const secret of [value, token, body.csrf_token]) expect(stored[0]).not.toContain(secret);
    // What stands there opens nothing.
    expect(await statusOf('GET', '/users/info', { Cookie: `tamis_session=${sha256Hex(value)}` })).toBe(403);
    const log = proxy.logLines.join('');
    for (const secret of [value, token, body.csrf_token]) expect(log).not.toContain(secret);
  });
});

describe('a token that changes', () => {
  const opened = async () => {
    const { userId, token } = proxy.addUser(`changing-${Math.random()}`);
    const [first, second] = [await signIn(proxy, token), await signIn(proxy, token)];
    const both = await signIn(proxy, DASHBOARD_KEY, second.headers);
    const states = async () =>
      Promise.all([
        statusOf('GET', '/users/info', first.headers),
        statusOf('GET', '/users/info', both.headers),
        statusOf('GET', '/api/alerts', both.headers),
      ]);
    expect(await states()).toEqual([200, 200, 200]);
    return { userId, first, both, states };
  };

  it('ends every session of its user when it is made anew, by the user itself too', async () => {
    const { userId, first, states } = await opened();
    const response = await ask('POST', `/users/${userId}/regenerate_token`, first.headers);
    const { token } = (await response.json()) as { token: string };
    expect(await states()).toEqual([401, 401, 401]);
    expect((await signIn(proxy, token)).body.user?.id).toBe(userId);
    expect(await states()).toEqual([401, 401, 401]);
  });

  it('ends them when the user is deleted', async () => {
    const { userId, states } = await opened();
    expect((await proxy.call('DELETE', `/users/${userId}`)).status).toBe(204);
    expect(await states()).toEqual([401, 401, 401]);
  });

  it('ends those of a named key that is rotated or revoked, with the user that was added', async () => {
    for (const change of [
      { method: 'POST', path: '/rotate', body: {} },
      { method: 'DELETE', path: '' },
    ]) {
      const body = { name: `key ${change.method}`, scopes: ['read'] };
      const made = await proxy.ask('/api/keys', { method: 'POST', body });
      const { id, key } = (await made.json()) as { id: string; key: string };
      const { headers } = await signIn(proxy, key, (await signIn(proxy, ADMIN_TOKEN)).headers);
      expect(await statusOf('GET', '/api/alerts', headers)).toBe(200);
      const { path, ...init } = change;
      expect((await proxy.ask(`/api/keys/${id}${path}`, init)).status).toBe(200);
      expect(await statusOf('GET', '/api/alerts', headers)).toBe(401);
      expect(await statusOf('GET', '/users/info', headers)).toBe(401);
    }
  });

  it('ends those of AUTH_TOKEN and DASHBOARD_API_KEY when these are changed', async () => {
    const other = await startProxy({
      env: { AUTH_TOKEN: 'or-another-0123456789abcdef' },
      settings: { dashboardApiKey: 'another-0123456789abcdef' },
    });
    for (const [token, path] of [
      [DASHBOARD_KEY, '/api/alerts'],
      [ADMIN_TOKEN, '/users/info'],
    ] as const) {
      const { cookie } = await signIn(proxy, token);
      const digest = sha256Hex(cookie.slice('tamis_session='.length));
      // As if both gateways had one store.
      await other.sessions.insert(digest, (await proxy.sessions.find(digest, new Date()))!);
      const response = await other.call('GET', path, { token: null, headers: { Cookie: cookie } });
      expect([path, response.status]).toEqual([path, 401]);
      // It is not kept for later either.
      expect(await other.sessions.find(digest, new Date())).toBeNull();
    }
    await other.close();
  });
});

describe('a cookie that somebody else put into the browser', () => {
  it('never becomes the session of whoever signs in', async () => {
    const planted = await signIn(proxy, proxy.addUser('mallory').token);
    const victim = await signIn(proxy, ADMIN_TOKEN, { Cookie: planted.cookie });
    expect(victim.cookie).not.toBe(planted.cookie);
    expect(await statusOf('GET', '/users/info', { Cookie: planted.cookie })).toBe(401);
    const made = `tamis_session=${'m'.repeat(43)}`;
    const other = await signIn(proxy, ADMIN_TOKEN, { Cookie: made });
    expect(other.cookie).not.toBe(made);
    expect(await statusOf('GET', '/users/info', { Cookie: made })).toBe(401);
  });

  it('counts for nothing beside a token or a key', async () => {
    const { headers } = await signIn(proxy, DASHBOARD_KEY, (await signIn(proxy, ADMIN_TOKEN)).headers);
    const { token, userId } = proxy.addUser('explicit');
    const own = await ask('GET', '/users/info', { Cookie: headers.Cookie, Authorization: `Bearer ${token}` });
    expect(await own.json()).toMatchObject({ id: userId });
    for (const Authorization of ['Bearer or-wrong', 'Bearer', 'Basic eA=='])
      expect([Authorization, await statusOf('GET', '/users/info', { ...headers, Authorization })]).toEqual([
        Authorization,
        403,
      ]);
    expect(await statusOf('GET', '/api/alerts', { ...headers, 'X-Api-Key': 'wrong' })).toBe(401);
    expect(await statusOf('GET', '/api/alerts', { ...headers, Authorization: `Bearer ${token}` })).toBe(401);
    // Whoever brings a token needs no X-CSRF-Token.
    const made = { Cookie: headers.Cookie, Authorization: `Bearer ${token}` };
    expect(await statusOf('POST', '/partition/by-token', made)).toBe(201);
  });
});

describe('guessing', () => {
  const from = (address: string) => ({ 'X-Forwarded-For': address });

  it('is limited by address at the sign-in as with tokens, and together with them', async () => {
    const gateway = await startGateway({ env: { RATE_LIMIT_AUTH_FAILURE: '3/minute' } });
    const guess = async (address: string, token = 'or-wrong'): Promise<number> =>
      (await trySignIn(gateway, token, from(address))).status;
    expect([await guess('198.51.100.1'), await guess('198.51.100.1')]).toEqual([401, 401]);
    const wrong = await gateway.call('GET', '/users/info', {
      token: 'or-wrong',
      headers: from('198.51.100.1'),
    });
    expect(wrong.status).toBe(403);
    expect(await guess('198.51.100.1')).toBe(429);
    // Right or wrong, nothing is told any more; elsewhere nothing has changed.
    expect(await guess('198.51.100.1', ADMIN_TOKEN)).toBe(429);
    expect(await guess('198.51.100.2', ADMIN_TOKEN)).toBe(200);
    await gateway.close();
  });

  it('of keys uses up the limit of wrong keys, also without the other limits', async () => {
    const limited = await startProxy({ unauthenticatedRate: 3, env: { RATE_LIMIT_ENABLED: 'false' } });
    const statuses = [];
    for (let times = 0; times < 5; times += 1)
      statuses.push((await trySignIn(limited, `tamis_${times}`)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await trySignIn(limited, DASHBOARD_KEY)).status).toBe(429);
    expect((await limited.ask('/api/alerts')).status).toBe(429);
    // A user's own token is no guess.
    expect((await trySignIn(limited, ADMIN_TOKEN)).status).toBe(200);
    await limited.close();
  });

  it('is not what a page does whose session has ended: signing in stays open', async () => {
    const limited = await startProxy({
      unauthenticatedRate: 3,
      env: { RATE_LIMIT_AUTH_FAILURE: '3/minute' },
    });
    const ended = { Cookie: `tamis_session=${'e'.repeat(43)}` };
    const poll = async (path: string): Promise<number[]> => {
      const statuses = [];
      for (let times = 0; times < 5; times += 1)
        statuses.push((await limited.call('GET', path, { token: null, headers: ended })).status);
      return statuses;
    };
    expect(await poll('/users/info')).toEqual([401, 401, 401, 401, 401]);
    expect(await poll('/api/alerts')).toEqual([401, 401, 401, 429, 429]);
    expect((await trySignIn(limited, ADMIN_TOKEN, ended)).status).toBe(200);
    expect((await trySignIn(limited, DASHBOARD_KEY, ended)).status).toBe(200);
    expect((await limited.ask('/api/alerts')).status).toBe(200);
    await limited.close();
  });
});

describe('headers', () => {
  it('of a request never become those of an answer', async () => {
    const { status, headers } = await proxy.raw('POST', '/app/session', {
      headers: {
        'content-type': 'application/json',
        host: 'tamis.example"><script>',
        cookie: 'tamis_session="x; Path=/evil"',
        'x-forwarded-proto': 'https; Domain=example.org',
        'x-request-id': 'x; Set-Cookie: a=b',
      },
      body: Buffer.from(JSON.stringify({ token: ADMIN_TOKEN })),
    });
    expect(status).toBe(200);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^tamis_session=[A-Za-z0-9_-]{43}; HttpOnly; SameSite=Strict; Path=\/$/),
    ]);
    expect(JSON.stringify(headers)).not.toMatch(/evil|example|script|a=b/);
  });
});
