import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { inRequest } from '../../../activities/request-scope.js';

/**
 * Log, metrics, trace, limits, Koa and Node each wait for the end of an answer by a listener of their own: with a
 * streamed one they are as many as Node takes for a leak, of which it would write a warning for each stream.
 */
const LISTENERS = 30;

const SANE = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives each request an id, the caller's own when it is sane, and answers it in `X-Request-Id`. */
export const requestId: Middleware = async (ctx, next) => {
  const given = ctx.get('X-Request-Id');
  const id = SANE.test(given) ? given : randomUUID();
  ctx.state['requestId'] = id;
  ctx.set('X-Request-Id', id);
  ctx.res.setMaxListeners(LISTENERS);
  await inRequest(id, next);
};
