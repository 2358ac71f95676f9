import cors from '@koa/cors';
import type { Context, Middleware } from 'koa';
import { surfaceOf } from '../surfaces.js';

/** Its pages and sessions are for our own origin alone. */
const CONSOLE = /^\/app(\/|$)/i;

/** A browser asks again after so long. */
const PREFLIGHT_SECONDS = 600;

/** The one foreign page that may use a session, and for what. */
export interface CodecOrigin {
  /** Beginning of the paths. */
  path: string;
  /** Null: there is none. */
  origin: string | null;
}

/** A page cannot say that it is of another origin than it is: its browser writes the header. */
export function isCodecRequest(ctx: Context, { path, origin }: CodecOrigin): boolean {
  return origin !== null && ctx.path.startsWith(`${path}/`) && ctx.get('Origin') === origin;
}

/**
 * Lets pages of the named origins call the document surface (wire contract, section 5): a preflight is answered
 * before anything asks for a token. Other origins get no header, and their browsers keep the answer from them. The
 * proxy's surfaces are no browser's business.
 */
export function crossOrigin(origins: readonly string[], codec: CodecOrigin): Middleware {
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
  const allowCodec = cors({
    origin: ({ headers: { origin = '' } }) => (origin === codec.origin ? origin : ''),
    credentials: true,
    allowMethods: ['POST'],
    allowHeaders: ['Authorization', 'Content-Type', 'X-Namespace'],
    maxAge: PREFLIGHT_SECONDS,
  });
  return (ctx, next) => {
    if (isCodecRequest(ctx, codec)) {
      // Its browser calls it a page of the same site at best.
      ctx.state['mayUseSession'] = true;
      return allowCodec(ctx, next) as Promise<unknown>;
    }
    const isOthers = surfaceOf(ctx.path).name === 'documents' && !CONSOLE.test(ctx.path);
    if (origins.length === 0 || !isOthers) return next() as Promise<unknown>;
    return allow(ctx, next) as Promise<unknown>;
  };
}
