import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { AppError } from '../../../schemas/app-error.js';
import { narrowest } from '../mount.js';

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'Not Found', { plain: true });
}

/**
 * Behind the management side's routes, 404 for the rest of its paths: the documents' last routes begin with a
 * wildcard, and would take `api` for a partition.
 */
export const noMoreOfApi: Middleware = (ctx, next) => {
  if (/^\/api(\/|$)/.test(ctx.path)) throw notFound();
  return next();
};

/** 404 for a path without a route, 405 with `Allow` for one that is served with other methods. */
export function noSuchRoute(router: Router): Middleware {
  return (ctx) => {
    const layers = narrowest(router.match(ctx.path, ctx.method).path);
    const methods = new Set(layers.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw notFound();
    ctx.set('Allow', [...methods].sort().join(', '));
    throw new AppError('BAD_REQUEST', 'Method Not Allowed', { plain: true, status: 405 });
  };
}
