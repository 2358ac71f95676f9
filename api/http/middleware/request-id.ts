import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { inRequest } from '../../../activities/request-scope.js';

const SANE = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives each request an id, the caller's own when it is sane, and answers it in `X-Request-Id`. */
export const requestId: Middleware = async (ctx, next) => {
  const given = ctx.get('X-Request-Id');
  const id = SANE.test(given) ? given : randomUUID();
  ctx.state['requestId'] = id;
  ctx.set('X-Request-Id', id);
  await inRequest(id, next);
};
