import type { Middleware } from 'koa';
import type { Tracer } from '../../../activities/ports/tracer.js';
import { inSpan } from '../../../activities/request-scope.js';
import { PROBES } from './request-log.js';

/**
 * A span for each request but probes, which ends with its answer and is named after the template of the route: the path
 * may hold anything. A caller that traces names its own span in `traceparent`.
 */
export function requestTrace(tracer: Tracer): Middleware {
  return async (ctx, next) => {
    if (PROBES.test(ctx.path)) {
      await next();
      return;
    }
    const span = tracer.begin(ctx.method, 'server', ctx.get('traceparent'));
    ctx.res.once('close', () => {
      const route = ctx.state['route'] as string | undefined;
      const status = ctx.res.statusCode;
      span.end({
        name: route === undefined ? ctx.method : `${ctx.method} ${route}`,
        facts: {
          'http.request.method': ctx.method,
          'http.response.status_code': status,
          ...(route === undefined ? {} : { 'http.route': route }),
          'tamis.request_id': ctx.state['requestId'] as string,
        },
        failed: status >= 500,
      });
    });
    await inSpan(span.traceparent, next);
  };
}
