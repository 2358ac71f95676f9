import type Koa from 'koa';
import type { Middleware } from 'koa';
import type { Principal } from '../../../schemas/documents/users.js';
import type { Logger } from '../../logger.js';

/** Probes ask every few seconds; their lines would bury the others. */
export const PROBES = /^\/(health|health_check|ready|metrics)\/?$/;

/** The client closed the line before an answer began (nginx's number; nothing was sent). */
export const CLIENT_LEFT = 499;

/**
 * One line per finished request: the route's template and the path without query (it may hold a question or a token),
 * never a body. Every line of a request names the address that it came from, so that a client that is refused again
 * and again can be found.
 */
export function requestLog(logger: Logger, addressOf: (ctx: Koa.Context) => string): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    // Asked now: a connection that is gone has no address any more.
    const log = logger.child({ request_id: ctx.state['requestId'] as string, client: addressOf(ctx) });
    ctx.state['log'] = log;
    ctx.res.once('close', () => {
      const left = !ctx.res.writableFinished;
      const principal = ctx.state['principal'] as Principal | undefined;
      log[PROBES.test(ctx.path) ? 'debug' : 'info'](
        {
          method: ctx.method,
          path: ctx.path,
          ...(ctx.state['route'] === undefined ? {} : { route: ctx.state['route'] as string }),
          status: left && !ctx.res.headersSent ? CLIENT_LEFT : ctx.res.statusCode,
          ms: Math.round(performance.now() - started),
          ...(principal === undefined ? {} : { user_id: principal.userId }),
          ...(ctx.state['key'] === undefined ? {} : { key: ctx.state['key'] as string }),
          ...(ctx.state['tool'] === undefined ? {} : { tool: ctx.state['tool'] as string }),
          ...(ctx.state['refusal'] === undefined ? {} : { refusal: ctx.state['refusal'] as string }),
          ...(left && { client_left: true }),
        },
        'request',
      );
    });
    await next();
  };
}
