import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { AppError } from '../../../schemas/app-error.js';
import { narrowest } from '../mount.js';

/** 404 for a path without a route, 405 with `Allow` for one that is served with other methods. */
export function noSuchRoute(router: Router): Middleware {
  return (ctx) => {
    const layers = narrowest(router.match(ctx.path, ctx.method).path);
    const methods = new Set(layers.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new AppError('NOT_FOUND', 'Not Found', { plain: true });
    ctx.set('Allow', [...methods].sort().join(', '));
    throw new AppError('BAD_REQUEST', 'Method Not Allowed', { plain: true, status: 405 });
  };
}
