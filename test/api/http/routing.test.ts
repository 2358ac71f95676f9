import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { openAiError } from '../support/openai-error.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

function fill(path: string): string {
  return path
    .replace('{partition}', 'secret')
    .replace('{name}', 'start.js')
    .replaceAll(/\{\+?\w+\}/g, 'x');
}

describe('the route table', () => {
  it('leaves nothing with data open', () => {
    const open = gateway.routes.filter(({ auth }) => auth === 'public').map(({ path }) => path);
    expect(open.sort()).toEqual(
      [
        '/',
        '/app',
        '/app/{+path}',
        // By a cookie of its own: test/api/session.
        '/app/session',
        '/app/session',
        '/app/session',
        // Says whether there is an identity provider.
        '/auth/methods',
        '/docs',
        '/docs/assets/{name}',
        '/health_check',
        // By a token of its own: test/api/service/metrics.test.ts.
        '/metrics',
        '/openapi.json',
        '/ready',
        '/redoc',
        '/version',
      ].sort(),
    );
  });

  it('serves both slash forms of every GET, redirecting neither', async () => {
    for (const { method, path } of gateway.routes) {
      if (method !== 'get') continue;
      const plain = fill(path).replace(/\/$/, '');
      const [without, withSlash] = await Promise.all([
        gateway.call('GET', plain),
        gateway.call('GET', `${plain}/`),
      ]);
      expect([path, withSlash.status]).toEqual([path, without.status]);
      expect([path, without.status >= 300 && without.status < 400]).toEqual([path, false]);
      await Promise.all([without.arrayBuffer(), withSlash.arrayBuffer()]);
    }
  });
});

describe('paths that nobody serves', () => {
  it('answers 404', async () => {
    for (const path of ['/nothing', '/indexer/task/x/logs', '/indexer/partition/p/file/a/b']) {
      const response = await gateway.call('GET', path);
      expect([path, response.status, await response.json()]).toEqual([path, 404, { detail: 'Not Found' }]);
    }
  });

  it('answers 405 with Allow', async () => {
    const response = await gateway.call('PATCH', '/search');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
    expect(await response.json()).toEqual({ detail: 'Method Not Allowed' });
  });

  it('says so under /v1 as clients of the OpenAI format read it, too', async () => {
    const answerOf = async (method: string, path: string) => {
      const response = await gateway.call(method, path);
      return [response.status, await response.json()];
    };
    expect(await answerOf('GET', '/v1/assistants')).toEqual([404, openAiError('NOT_FOUND', 'Not Found')]);
    expect(await answerOf('PATCH', '/v1/chat/completions')).toEqual([
      405,
      openAiError('BAD_REQUEST', 'Method Not Allowed'),
    ]);
  });

  it.each([
    ['DELETE', '/users/info', 'GET, HEAD'],
    ['PATCH', '/users/info/', 'GET, HEAD'],
    ['DELETE', '/partition/some/users/candidates', 'GET, HEAD'],
    ['PUT', '/users/7', 'DELETE, GET, HEAD, PATCH'],
  ])('answers 405 to %s of %s, which is no id', async (method, path, allow) => {
    const response = await gateway.call(method, path);
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect(await response.json()).toEqual({ detail: 'Method Not Allowed' });
  });

  it('answers 405 with what the path serves, for each word that stands beside a parameter', async () => {
    const paths = new Set(gateway.routes.map(({ path }) => path));
    let tried = 0;
    for (const path of paths) {
      const served = gateway.routes.filter((route) => route.path === path).map(({ method }) => method);
      if (path.includes('{+')) continue;
      for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) {
        if (served.includes(method) || !/\/[a-z][^/{]*\/?$/.test(path)) continue;
        const response = await gateway.call(method.toUpperCase(), fill(path));
        await response.arrayBuffer();
        expect([method, path, response.status]).toEqual([method, path, 405]);
        const allow = (response.headers.get('allow') ?? '').toLowerCase().split(', ');
        expect(allow.filter((name) => name !== 'head').sort()).toEqual([...served].sort());
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(100);
  });

  it('survives a path that is no valid encoding', async () => {
    const response = await gateway.call('GET', '/partition/%E0%A4%A');
    expect(response.status).toBeLessThan(500);
  });
});

describe('request ids', () => {
  it('takes a sane one and makes one otherwise', async () => {
    const given = await gateway.call('GET', '/version', { headers: { 'X-Request-Id': 'trace-1' } });
    expect(given.headers.get('x-request-id')).toBe('trace-1');
    const odd = await gateway.call('GET', '/version', { headers: { 'X-Request-Id': 'a b"c' } });
    expect(odd.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('stands in domain errors', async () => {
    await gateway.call('POST', '/partition/twice');
    const response = await gateway.call('POST', '/partition/twice', {
      headers: { 'X-Request-Id': 'trace-2' },
    });
    expect(await response.json()).toMatchObject({
      detail: expect.stringMatching(/^\[PARTITION_EXISTS\]: /),
      extra: { request_id: 'trace-2' },
    });
  });
});

describe('logs', () => {
  it('hold no token, query or body', async () => {
    await gateway.call('GET', '/search?text=my-very-private-question');
    const log = gateway.logLines.join('');
    expect(log).toContain('"path":"/search"');
    expect(log).not.toContain(ADMIN_TOKEN);
    expect(log).not.toContain('private-question');
  });
});

describe('faults of the inside', () => {
  it('are a 500 that tells nothing', async () => {
    const broken = await startGateway({
      adapt: (adapters) => ({
        ...adapters,
        tasks: {
          ...adapters.tasks,
          get: async () => {
            throw new Error('password hunter2 refused at 10.0.0.5');
          },
        },
      }),
    });
    const response = await broken.call('GET', '/indexer/task/x');
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({
      detail: '[UNEXPECTED_ERROR]: An unexpected error occurred',
      extra: { request_id: expect.any(String) },
    });
    expect(broken.logLines.join('')).toContain('hunter2');
    await broken.close();
  });

  it('are 503 when the user store cannot be asked', async () => {
    const broken = await startGateway({
      adapt: (adapters) => ({
        ...adapters,
        users: { ...adapters.users, findByTokenDigest: () => Promise.reject(new Error('no server')) },
      }),
    });
    const response = await broken.call('GET', '/partition/');
    expect([response.status, await response.json()]).toEqual([503, { detail: 'Service unavailable' }]);
    await broken.close();
  });
});
