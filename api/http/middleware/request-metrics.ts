import type { Middleware } from 'koa';

type CountRequest = (request: {
  method: string;
  endpoint: string | undefined;
  status: number;
  seconds: number;
}) => void;

/** Counts each request once its answer has ended; `mount` notes the template of the route that served it. */
export function requestMetrics(count: CountRequest, clientLeft: number): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    ctx.res.once('close', () => {
      const unanswered = !ctx.res.writableFinished && !ctx.res.headersSent;
      count({
        method: ctx.method,
        endpoint: ctx.state['route'] as string | undefined,
        status: unanswered ? clientLeft : ctx.res.statusCode,
        seconds: (performance.now() - started) / 1000,
      });
    });
    await next();
  };
}
