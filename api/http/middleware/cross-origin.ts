import cors from '@koa/cors';
import type { Middleware } from 'koa';
import { surfaceOf } from '../surfaces.js';

/** A browser asks again after so long. */
const PREFLIGHT_SECONDS = 600;

/**
 * Lets pages of the named origins call the document surface (wire contract, section 5): a preflight is answered
 * before anything asks for a token. Other origins get no header, and their browsers keep the answer from them. The
 * proxy's surfaces are no browser's business.
 */
export const crossOrigin = (origins: readonly string[]): Middleware => {
  const everyone = origins.includes('*');
  const allow = cors({
    origin: ({ headers: { origin = '' } }) => (everyone || origins.includes(origin) ? origin : ''),
    // Only for named origins: any other page must not use the credentials of a signed-in user.
    credentials: !everyone,
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // The last one is what agents in pages send to /mcp.
    allowHeaders: ['Authorization', 'Content-Type', 'X-Request-Id', 'Mcp-Protocol-Version'],
    exposeHeaders: ['Content-Disposition', 'Retry-After', 'X-Request-Id'],
    maxAge: PREFLIGHT_SECONDS,
  });
  return (ctx, next) => {
    if (origins.length === 0 || surfaceOf(ctx.path).name !== 'documents') return next() as Promise<unknown>;
    return allow(ctx, next) as Promise<unknown>;
  };
};
