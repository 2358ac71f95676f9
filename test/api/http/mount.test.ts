import { createServer } from 'node:http';
import type { Server } from 'node:http';
import Router from '@koa/router';
import { afterEach, describe, expect, it } from '@jest/globals';
import Koa from 'koa';
import { pino } from 'pino';
import { z } from 'zod';
import { errorMapping } from '../../../api/http/middleware/error-mapping.js';
import { requestId } from '../../../api/http/middleware/request-id.js';
import { requestLog } from '../../../api/http/middleware/request-log.js';
import { mount } from '../../../api/http/mount.js';
import { empty, json, route } from '../../../api/http/route.js';
import type { Answer, Route } from '../../../api/http/route.js';
import { AppError } from '../../../schemas/app-error.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

let server: Server;
afterEach(() => new Promise((resolve) => server.close(resolve)));

/** One route on a bare app; the caller is an administrator or not. */
async function ask(served: Route, { isAdmin = true, checkResponses = true } = {}): Promise<Response> {
  const router = new Router();
  mount(router, [served], {
    users: {
      authenticate: async () => ({
        principal: { userId: 2, displayName: 'x', isAdmin },
        scope: { kind: 'partitions', userId: 2, roles: {} },
      }),
      partitions: { get: async () => null, roleOf: async () => null },
    },
    http: parseConfig({}).http,
    checkResponses,
  });
  const app = new Koa();
  app
    .use(requestId)
    .use(requestLog(pino({ level: 'silent' }), () => '192.0.2.1'))
    .use(errorMapping)
    .use(router.routes());
  server = createServer(app.callback());
  const { url } = await listenOnLoopback(server);
  return fetch(`${url}/x`, { keepalive: false });
}

function answering(answer: Answer, auth: 'public' | 'admin' = 'public'): Route {
  return route({
    method: 'get',
    path: '/x',
    summary: 'x',
    tag: 'x',
    auth,
    responses: { 200: { description: 'x', schema: z.object({ n: z.int() }) } },
    handle: () => answer,
  });
}

describe('mount', () => {
  it('lets administrators only through to an admin route', async () => {
    const served = answering(json(200, { n: 1 }), 'admin');
    expect((await ask(served)).status).toBe(200);
    await endServer(server);
    const refused = await ask(served, { isAdmin: false });
    expect([refused.status, await refused.json()]).toEqual([403, { detail: 'Admin privileges required' }]);
  });

  it.each([
    ['a body that is not as declared', json(200, { n: 'one' })],
    ['a status that is not declared', empty(204)],
  ])('finds %s, when answers are checked', async (_what, answer) => {
    expect((await ask(answering(answer))).status).toBe(500);
  });

  it('does not look otherwise', async () => {
    expect((await ask(answering(json(200, { n: 'one' })), { checkResponses: false })).status).toBe(200);
  });

  it('writes a rate limit with Retry-After', async () => {
    const limited = route({
      method: 'get',
      path: '/x',
      summary: 'x',
      tag: 'x',
      auth: 'public',
      responses: {},
      handle: () => {
        throw new AppError('RATE_LIMITED', undefined, { retryAfterMs: 1500 });
      },
    });
    const response = await ask(limited);
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
      429,
      '2',
      { detail: 'Rate limit exceeded. Please retry later.', extra: {} },
    ]);
  });

  it('does not compile a route that forgets who may call', async () => {
    // @ts-expect-error `auth` has no default
    const forgetful = route({
      method: 'get',
      path: '/x',
      summary: 'x',
      tag: 'x',
      responses: {},
      handle: () => empty(200),
    });
    // And were it forced in, it would break and not be served.
    expect((await ask(forgetful)).status).toBe(500);
  });
});
