import cors from '@koa/cors';
import type { Context, Middleware } from 'koa';
import { surfaceOf } from '../surfaces.js';

/** Its pages and sessions are for our own origin alone. */
const CONSOLE = /^\/app(\/|$)/i;

/** What our own clients send; the last one is of agents in pages, to /mcp. */
const USUAL_HEADERS = ['Authorization', 'Content-Type', 'X-Request-Id', 'Mcp-Protocol-Version'];

const CSRF_HEADER = 'x-csrf-token';

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
 * Clients in pages have headers of their own (the official OpenAI one says its version and platform in some), and may
 * send any but that of a session: no other does anything that a program without a browser could not do.
 */
async function answerPreflight(ctx: Context, allow: () => Promise<unknown>): Promise<void> {
  const asked = ctx
    .get('Access-Control-Request-Headers')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name.toLowerCase() !== CSRF_HEADER);
  await allow();
  if (asked.length > 0 && ctx.res.hasHeader('Access-Control-Allow-Headers'))
    ctx.set('Access-Control-Allow-Headers', [...USUAL_HEADERS, ...asked].join(','));
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
    allowHeaders: USUAL_HEADERS,
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
    if (ctx.method === 'OPTIONS') return answerPreflight(ctx, () => allow(ctx, next) as Promise<unknown>);
    return allow(ctx, next) as Promise<unknown>;
  };
}
