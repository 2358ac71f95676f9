import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateKeyPair } from 'jose';
import {
  passThroughProvider,
  startIdentityProvider,
} from '../../support/identity-provider/start-identity-provider.js';
import type { IdentityProviderServer } from '../../support/identity-provider/start-identity-provider.js';
import { sha256Hex } from '../../../schemas/sha256.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { startProxy } from '../support/start-proxy.js';
import { freePort } from '../../support/free-port.js';

const HTML = { Accept: 'text/html' };

let provider: IdentityProviderServer;
let gateway: Gateway;

function envOf(more: Record<string, string> = {}) {
  return {
    AUTH_MODE: 'oidc',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_ADMIN_GROUPS: 'operators',
    ...more,
  };
}

async function open(more: Record<string, string> = {}, now?: () => Date): Promise<Gateway> {
  const opened = await startGateway({ env: envOf(more), ...(now !== undefined && { now }) });
  provider.allow(opened.url);
  return opened;
}

beforeAll(async () => {
  provider = await startIdentityProvider();
  gateway = await open();
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

function ask(path: string, headers: Record<string, string> = {}, init: RequestInit = {}, to = gateway) {
  return to.call(init.method ?? 'GET', path, { ...init, token: null, headers });
}

function cookieOf(response: Response, name: string): string {
  const line = response.headers.getSetCookie().find((one) => one.startsWith(`${name}=`)) ?? '';
  return line.split(';')[0] ?? '';
}

/** To the provider and back; what the browser holds then. */
async function goThere(next = '', to = gateway) {
  const response = await ask(`/auth/login${next}`, HTML, {}, to);
  const location = response.headers.get('location') ?? '';
  const back = new URL(await passThroughProvider(location, provider.issuer));
  return { back, cookie: cookieOf(response, 'tamis_sign_in'), location, response };
}

async function signIn(id: string, groups: string[] = [], to = gateway) {
  provider.signInAs(id, { name: `The ${id}`, groups });
  const { back, cookie } = await goThere('', to);
  const response = await ask(`${back.pathname}${back.search}`, { Cookie: cookie, ...HTML }, {}, to);
  return { response, session: cookieOf(response, 'tamis_session') };
}

async function me(session: string, to = gateway) {
  const response = await ask('/app/session', { Cookie: session }, {}, to);
  return [response.status, (await response.json()) as Record<string, unknown>] as const;
}

describe('GET /auth/login', () => {
  it('leads to the provider with PKCE, state and nonce, under a cookie for the way back', async () => {
    const { location, response } = await goThere('?next=/app/chat');
    const { origin, searchParams } = new URL(location);
    expect(response.status).toBe(302);
    expect(origin).toBe(provider.issuer);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: 'tamis',
      response_type: 'code',
      redirect_uri: `${gateway.url}/auth/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.any(String),
      state: expect.any(String),
      nonce: expect.any(String),
    });
    expect(response.headers.get('set-cookie')).toMatch(
      /^tamis_sign_in=[\w-]+; Max-Age=600; HttpOnly; SameSite=Lax; Path=\/auth\/callback$/,
    );
  });

  it('is where a browser goes that needs a user, and comes back from', async () => {
    const response = await ask('/docs?x=1', HTML);
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      '/auth/login?next=%2Fdocs%3Fx%3D1',
    ]);
    for (const authorization of ['', 'Bearer or-wrong']) {
      const refused = await ask('/users/info', { authorization });
      expect([refused.status, await refused.json()]).toEqual([401, { detail: 'Unauthenticated' }]);
    }
    const token = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    expect((await ask('/users/info', token)).status).toBe(200);
    expect((await ask('/openapi.json', token)).status).toBe(200);
  });
});

describe('a page that refuses those that are signed in', () => {
  const statusOf = async (path: string, more: Record<string, string>, to: Gateway) => {
    const response = await ask(path, { ...HTML, 'Sec-Fetch-Site': 'same-origin', ...more }, {}, to);
    await response.arrayBuffer();
    return response.status;
  };

  it('does not lead to the provider', async () => {
    const both = await startProxy({ env: envOf() });
    provider.allow(both.url);
    const { session } = await signIn('going-round', [], both);
    for (const path of ['/api/alerts', '/static/x?token=dead'])
      expect([path, await statusOf(path, { Cookie: session }, both)]).toEqual([path, 401]);
    expect(await statusOf('/docs', { 'X-Api-Key': 'dead' }, both)).toBe(401);
    expect(await statusOf('/docs', {}, both)).toBe(302);
    await both.close();
  });

  it('does not lead to the provider from a listener that has no way there', async () => {
    const alone = await startProxy({ env: envOf(), isProxyAlone: true });
    for (const path of ['/admin/backups', '/api/alerts']) expect(await statusOf(path, {}, alone)).toBe(401);
    await alone.close();
  });
});

describe('a page that is opened from another origin', () => {
  const FOREIGN = { ...HTML, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
  /** As a browser asks: `fetch` sets some of these headers itself, and escapes what it finds in an address. */
  const open = async (path: string, site: string, more: Record<string, string> = {}) => {
    const headers = { ...FOREIGN, 'Sec-Fetch-Site': site, ...more };
    const { hostname, port } = new URL(gateway.url);
    const [response] = (await once(get({ hostname, port, path, headers }), 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  };

  it.each(['cross-site', 'same-site'])(
    'is opened once more by ours, with the session there may be (%s)',
    async (site) => {
      const { session } = await signIn('visiting');
      const { status, headers, text: page } = await open(`/docs?x=1&y="<b>'`, site, { Cookie: session });
      expect([status, headers.location]).toEqual([200, undefined]);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
      expect(page).toContain('content="0;url=/docs?x=1&amp;y=&quot;&lt;b&gt;&#39;">');
      const again = await open('/docs', 'same-origin', { Cookie: session });
      expect([again.status, again.text.includes('swagger')]).toEqual([200, true]);
    },
  );

  it('leads to the provider where that has no session either', async () => {
    const first = await open('/docs', 'cross-site');
    expect([first.status, first.headers.location]).toEqual([200, undefined]);
    const again = await open('/docs', 'same-origin');
    expect([again.status, again.headers.location]).toEqual([302, '/auth/login?next=%2Fdocs']);
  });

  it('is not opened anew in a frame, by a script or at another host', async () => {
    for (const more of [{ 'Sec-Fetch-Dest': 'iframe' }, { 'Sec-Fetch-Mode': 'cors' }])
      expect((await open('/docs', 'cross-site', more)).status).toBe(302);
    for (const path of ['//evil.test/docs', '/\\evil.test/docs', 'http://evil.test/docs'])
      expect((await open(path, 'cross-site')).text).not.toContain('refresh');
    expect((await open('/docs', 'cross-site', { Accept: 'application/json' })).status).toBe(401);
  });
});

describe('GET /auth/callback', () => {
  it('signs in a subject that was unknown, and finds it again', async () => {
    const { response, session } = await signIn('new');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/app/']);
    expect(response.headers.getSetCookie().join('\n')).toMatch(/tamis_sign_in=; Max-Age=0/);
    const [status, body] = await me(session);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        user: { id: expect.any(Number), name: 'The new', is_admin: false },
        management: false,
        provider: true,
      }),
    ]);
    expect((await ask('/users/info', { Cookie: session })).status).toBe(200);
    const again = await signIn('new');
    expect((await me(again.session))[1]['user']).toEqual(body['user']);
    const { users } = gateway.adapters;
    expect(await users.findByIdentity({ externalUserId: 'new' })).toMatchObject({ token_digest: null });
  });

  it('makes administrators of those whose group says so, as of each sign-in', async () => {
    const admin = async (groups: string[]) =>
      ((await me((await signIn('changing', groups)).session))[1]['user'] as { is_admin: boolean }).is_admin;
    expect(await admin(['readers', 'operators'])).toBe(true);
    expect(await admin(['readers'])).toBe(false);
    expect(await admin(['operators'])).toBe(true);
  });

  it('leaves user 1, whose token is the way in while the provider is away, its rights', async () => {
    await gateway.adapters.users.update(1, { external_user_id: 'operator' });
    const { session } = await signIn('operator', ['readers']);
    expect((await me(session))[1]['user']).toMatchObject({ id: 1, is_admin: true });
    expect((await gateway.call('GET', '/users/', { token: ADMIN_TOKEN })).status).toBe(200);
  });

  it('lets in none that has no account where none is made', async () => {
    const strict = await open({ OIDC_CREATE_USERS: 'false' });
    try {
      const { response, session } = await signIn('uninvited', ['operators'], strict);
      expect([response.headers.get('location'), session]).toEqual(['/app/sign-in?failed=unknown', '']);
      strict.addUser('invited', { external_user_id: 'invited' });
      expect((await me((await signIn('invited', [], strict)).session, strict))[0]).toBe(200);
    } finally {
      await strict.close();
    }
  });

  it.each<[string, (back: URL, cookie: string) => string | null]>([
    ['another state', (back, cookie) => (back.searchParams.set('state', 'other'), cookie)],
    ['another code', (back, cookie) => (back.searchParams.set('code', 'other'), cookie)],
    ['another issuer', (back, cookie) => (back.searchParams.set('iss', 'http://other.test'), cookie)],
    ['an error of the provider', (back, cookie) => (back.searchParams.set('error', 'access_denied'), cookie)],
    ['another nonce', (_back, cookie) => changed(cookie, { nonce: 'other' })],
    ['another verifier', (_back, cookie) => changed(cookie, { verifier: 'x'.repeat(43) })],
    ['no cookie, as when it took too long', () => ''],
    ['a cookie that is none', () => 'tamis_sign_in=abc'],
  ])('refuses %s', async (_name, tamper) => {
    provider.signInAs('ada', { name: 'Ada', groups: [] });
    const { back, cookie } = await goThere();
    const Cookie = tamper(back, cookie) ?? '';
    const response = await ask(`${back.pathname}${back.search}`, { Cookie });
    expect([response.status, cookieOf(response, 'tamis_session')]).toEqual([401, '']);
    const shown = await ask(`${back.pathname}${back.search}`, { Cookie, ...HTML });
    expect(shown.headers.get('location')).toBe('/app/sign-in?failed=refused');
  });

  it('takes a code once', async () => {
    provider.signInAs('ada', { name: 'Ada', groups: [] });
    const { back, cookie } = await goThere();
    const statuses: number[] = [];
    for (let turn = 0; turn < 2; turn += 1)
      statuses.push((await ask(`${back.pathname}${back.search}`, { Cookie: cookie })).status);
    expect(statuses).toEqual([302, 401]);
  });

  it.each(['//evil.test', 'https://evil.test', '/\\evil.test', '/\t/evil.test', '/\nx', '/日'])(
    'leads nobody to %s',
    async (next) => {
      provider.signInAs('ada', { name: 'Ada', groups: [] });
      const { back, cookie } = await goThere(`?next=${encodeURIComponent(next)}`);
      const response = await ask(`${back.pathname}${back.search}`, { Cookie: cookie });
      expect(response.headers.get('location')).toBe('/app/');
    },
  );
});

function changed(cookie: string, more: object): string {
  const [name = '', value = ''] = cookie.split('=');
  const attempt = JSON.parse(Buffer.from(value, 'base64url').toString()) as object;
  return `${name}=${Buffer.from(JSON.stringify({ ...attempt, ...more })).toString('base64url')}`;
}

describe('POST /auth/backchannel-logout', () => {
  const end = (token: string) =>
    ask(
      '/auth/backchannel-logout',
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { method: 'POST', body: new URLSearchParams({ logout_token: token }).toString() },
    );

  it('ends the sessions of a subject, and of nobody else', async () => {
    const [ada, bob] = [await signIn('leaving'), await signIn('staying')];
    const response = await end(await provider.logoutToken({ sub: 'leaving' }));
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect([(await me(ada.session))[0], (await me(bob.session))[0]]).toEqual([401, 200]);
  });

  it('ends one session of several', async () => {
    const [first, second] = [await signIn('twice'), await signIn('twice')];
    const sidOf = async (session: string) => {
      const digest = sha256Hex(session.split('=')[1] ?? '');
      return (await gateway.sessions.find(digest, new Date()))?.identity?.sid ?? '';
    };
    const sid = await sidOf(first.session);
    expect(sid).not.toBe('');
    await end(await provider.logoutToken({ sub: 'twice', sid }));
    expect([(await me(first.session))[0], (await me(second.session))[0]]).toEqual([401, 200]);
  });

  it('believes nobody but the provider, and logout tokens alone', async () => {
    const { session } = await signIn('lasting');
    const of = { sub: 'lasting' };
    const { privateKey: other } = await generateKeyPair('RS256');
    const tokens = [
      'none',
      await provider.logoutToken(of, {}, other),
      await provider.logoutToken(of, { iss: 'http://other.test' }),
      await provider.logoutToken(of, { aud: 'other' }),
      await provider.logoutToken(of, { nonce: 'of an ID token' }),
      await provider.logoutToken(of, { events: {} }),
      await provider.logoutToken({}),
    ];
    for (const token of tokens) expect((await end(token)).status).toBe(400);
    expect((await me(session))[0]).toBe(200);
  });
});

describe('a session that the provider opened', () => {
  it('ends with the user, by signing out, and by time', async () => {
    const { session } = await signIn('deleted');
    const user = await gateway.adapters.users.findByIdentity({ externalUserId: 'deleted' });
    await gateway.call('DELETE', `/users/${user!.user_id}`);
    expect((await me(session))[0]).toBe(401);

    const out = await signIn('out');
    const [, { csrf_token }] = await me(out.session);
    const headers = { Cookie: out.session, 'X-CSRF-Token': String(csrf_token) };
    expect((await ask('/app/session', headers, { method: 'DELETE' })).status).toBe(204);
    expect((await me(out.session))[0]).toBe(401);
  });

  it('ends where another person has its number since, as after a restore', async () => {
    const { session } = await signIn('before');
    expect((await me(session))[0]).toBe(200);
    const { users } = gateway.adapters;
    const user = await users.findByIdentity({ externalUserId: 'before' });
    await users.update(user!.user_id, { external_user_id: 'another' });
    expect((await me(session))[0]).toBe(401);
    await users.update(user!.user_id, { external_user_id: 'before' });
    expect((await me(session))[0]).toBe(401);
  });

  it('ends after its idle time', async () => {
    let clock = Date.now();
    const aging = await open({}, () => new Date(clock));
    try {
      const { session } = await signIn('idle', [], aging);
      clock += 13 * 3_600_000;
      expect((await me(session, aging))[0]).toBe(401);
    } finally {
      await aging.close();
    }
  });
});

describe('GET /auth/logout', () => {
  it('leads to where the session at the provider ends', async () => {
    const response = await ask('/auth/logout', HTML);
    const { origin, searchParams } = new URL(response.headers.get('location') ?? '');
    expect([response.status, origin]).toEqual([302, provider.issuer]);
    expect(searchParams.get('post_logout_redirect_uri')).toBe(`${gateway.url}/app/`);
  });
});

describe('GET /auth/methods', () => {
  it('says whether there is a provider; without one there is no way to it', async () => {
    expect(await (await ask('/auth/methods')).json()).toEqual({ oidc: true });
    const plain = await startGateway();
    try {
      expect(await (await ask('/auth/methods', {}, {}, plain)).json()).toEqual({ oidc: false });
      expect((await ask('/auth/login', HTML, {}, plain)).status).toBe(404);
      expect((await ask('/docs', HTML, {}, plain)).status).toBe(200);
      expect((await ask('/users/info', {}, {}, plain)).status).toBe(403);
    } finally {
      await plain.close();
    }
  });
});

describe('a provider that is away', () => {
  it('is told in one sentence, keeps nobody with a token out, and is found when it is back', async () => {
    // A port that is free now, and was the provider's before.
    const port = await freePort();
    const issuer = `http://127.0.0.1:${port}`;
    const lonely = await open({ OIDC_ISSUER: issuer });
    const sentence = `OIDC_ISSUER: the identity provider at ${issuer} cannot be reached or used; sign in with a token, or try again later`;
    try {
      const response = await ask('/auth/login', {}, {}, lonely);
      expect([response.status, await response.json()]).toEqual([503, { detail: sentence }]);
      const shown = await ask('/auth/login', HTML, {}, lonely);
      expect(shown.headers.get('location')).toBe('/app/sign-in?failed=provider');
      const ready = (await (await lonely.call('GET', '/ready')).json()) as {
        status: string;
        checks: Record<string, string>;
        problems: string[];
      };
      expect(ready).toMatchObject({
        status: 'ready',
        checks: { identity_provider: 'unavailable' },
        problems: [sentence],
      });
      expect((await lonely.call('GET', '/users/info')).status).toBe(200);
      const back = await startIdentityProvider(port);
      try {
        expect((await ask('/auth/login', HTML, {}, lonely)).headers.get('location')).toContain(issuer);
      } finally {
        await back.close();
      }
    } finally {
      await lonely.close();
    }
  });
});
