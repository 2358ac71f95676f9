import cors from '@koa/cors';
import type { Middleware } from 'koa';
import { surfaceOf } from '../surfaces.js';

/** Its pages and sessions are for our own origin alone. */
const CONSOLE = /^\/app(\/|$)/i;

/** A browser asks again after so long. */
const PREFLIGHT_SECONDS = 600;

/**
 * Lets pages of the named origins call the document surface (wire contract, section 5): a preflight is answered
 * before anything asks for a token. Other origins get no header, and their browsers keep the answer from them. The
 * proxy's surfaces are no browser's business.
 */
export function crossOrigin(origins: readonly string[]): Middleware {
  const everyone = origins.includes('*');
  const allow = cors({
    origin: ({ headers: { origin = '' } }) => (everyone || origins.includes(origin) ? origin : ''),
    // No other page may use the session of a user who is signed in; they bring tokens of their own.
    credentials: false,
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // The last one is what agents in pages send to /mcp.
    allowHeaders: ['Authorization', 'Content-Type', 'X-Request-Id', 'Mcp-Protocol-Version'],
    exposeHeaders: ['Content-Disposition', 'Retry-After', 'X-Request-Id'],
    maxAge: PREFLIGHT_SECONDS,
  });
  return (ctx, next) => {
    const isOthers = surfaceOf(ctx.path).name === 'documents' && !CONSOLE.test(ctx.path);
    if (origins.length === 0 || !isOthers) return next() as Promise<unknown>;
    return allow(ctx, next) as Promise<unknown>;
  };
}
