import { afterEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { serviceVersion } from '../../../api/http/service-version.js';

let gateway: Gateway | undefined;
afterEach(() => gateway?.close());

async function open(env: Record<string, string> = {}): Promise<Gateway> {
  return (gateway = await startGateway({ env }));
}

describe('GET /', () => {
  it('says what this is, to everyone', async () => {
    const response = await (await open()).call('GET', '/', { token: null });
    expect([response.status, await response.json()]).toEqual([
      200,
      { status: 'ok', app: 'openrag', version: serviceVersion },
    ]);
  });
});

describe('GET /docs and GET /redoc', () => {
  it('are pages, open to everyone', async () => {
    await open();
    for (const path of ['/docs', '/redoc']) {
      const response = await gateway!.call('GET', path, { token: null });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/^text\/html/),
      ]);
    }
  });
});

describe('GET /config', () => {
  const SECRETS = {
    AUTH_TOKEN: 'or-admin-0123456789abcdef',
    DASHBOARD_API_KEY: 'dashboard-key-0123456789',
    SECRETS_KEY: Buffer.from('a key of 32 bytes for the tests!').toString('base64'),
    MONGODB_URL: 'mongodb://tamis:hunter2-hunter2@db.internal:27017/?x=1',
    OPENSEARCH_URL: 'http://admin:p%40ss-word-long@search.internal:9200',
    SEED_USERS: '[{"email":"a@b.org","token":"seeded-token-0123456789"}]',
  };

  it('shows every setting to administrators, and no secret', async () => {
    await open({ ...SECRETS, GRAFANA_URL: 'https://grafana.example.org', SUPER_ADMIN_MODE: 'true' });
    const response = await gateway!.call('GET', '/config');
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      super_admin_mode: true,
      chainlit_enabled: false,
      grafana_url: 'https://grafana.example.org',
      documents: { chunkSize: 512, defaultFileQuota: -1 },
      chat: { maxOutputTokens: 1024 },
      mongodb: { url: 'mongodb://********@db.internal:27017/?x=1', database: 'tamis' },
      secretsKey: '********',
      auth: { token: '********', seedUsers: [{ email: 'a@b.org', token: '********' }] },
    });
    for (const secret of ['hunter2', 'p%40ss', 'seeded-token', ...Object.values(SECRETS)])
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
  });

  it('is for administrators', async () => {
    const { token } = (await open()).addUser('ada');
    expect((await gateway!.call('GET', '/config', { token })).status).toBe(403);
    const body = (await (await gateway!.call('GET', '/config')).json()) as Record<string, unknown>;
    expect(body).toMatchObject({ super_admin_mode: false, grafana_url: null, secretsKey: null });
  });
});

describe('calls from other origins', () => {
  const FRONT = 'https://front.example.org';
  const preflight = (path: string, origin: string, asked = 'authorization,content-type') =>
    gateway!.call('OPTIONS', path, {
      token: null,
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'DELETE',
        'Access-Control-Request-Headers': asked,
      },
    });

  it('may send the headers that their clients have of their own', async () => {
    await open({ CORS_EXTRA_ORIGINS: FRONT });
    const asked = 'authorization,content-type,x-stainless-arch,x-stainless-lang,openai-organization';
    const { headers } = await preflight('/v1/chat/completions', FRONT, asked);
    const allowed = headers.get('access-control-allow-headers')?.split(',') ?? [];
    expect(allowed).toEqual(expect.arrayContaining(asked.split(',')));
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    const foreign = await preflight('/v1/chat/completions', 'https://other.example.org', asked);
    expect(foreign.headers.get('access-control-allow-headers')).toBeNull();
  });

  it('pass a preflight without a token, for every method and header that clients need', async () => {
    await open({ CORS_EXTRA_ORIGINS: `http://other.example.org/; ${FRONT}` });
    for (const path of ['/health_check', '/users/info', '/indexer/partition/p/file/f', '/mcp', '/nothing']) {
      const response = await preflight(path, FRONT);
      expect([path, response.status]).toEqual([path, 204]);
      const { headers } = response;
      expect(headers.get('access-control-allow-origin')).toBe(FRONT);
      expect(headers.get('vary')).toContain('Origin');
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
        expect(headers.get('access-control-allow-methods')).toContain(method);
      for (const header of ['Authorization', 'Content-Type', 'Mcp-Protocol-Version'])
        expect(headers.get('access-control-allow-headers')).toContain(header);
    }
  });

  it('may read answers and refusals', async () => {
    await open({ CORS_EXTRA_ORIGINS: FRONT });
    for (const [path, token, status] of [
      ['/health_check', 'or-any-token', 200],
      ['/users/info', undefined, 200],
      ['/users/info', 'or-wrong-token', 403],
      ['/nothing', undefined, 404],
    ] as const) {
      const response = await gateway!.call('GET', path, {
        ...(token === undefined ? {} : { token }),
        headers: { Origin: FRONT },
      });
      expect([path, response.status, response.headers.get('access-control-allow-origin')]).toEqual([
        path,
        status,
        FRONT,
      ]);
    }
  });

  it('are nobody else’s, and never the proxy’s', async () => {
    await open({ CORS_EXTRA_ORIGINS: FRONT });
    for (const [path, origin] of [
      ['/users/info', 'https://evil.example.org'],
      ['/users/info', 'null'],
      ['/api/alerts', FRONT],
      ['/v3/signals', FRONT],
    ] as const) {
      const response = await preflight(path, origin);
      expect([path, response.headers.get('access-control-allow-origin')]).toEqual([path, null]);
      expect(response.status).toBeGreaterThanOrEqual(400);
    }
    await gateway!.close();
    await open();
    expect((await preflight('/users/info', FRONT)).headers.get('access-control-allow-origin')).toBeNull();
  });

  it('are everybody’s with *, without credentials', async () => {
    await open({ CORS_EXTRA_ORIGINS: '*' });
    const { headers } = await preflight('/users/info', 'https://any.example.org');
    expect(headers.get('access-control-allow-origin')).toBe('https://any.example.org');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });
});
