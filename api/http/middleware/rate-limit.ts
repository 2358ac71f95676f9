import type Koa from 'koa';
import type { RateLimits } from '../../../activities/ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import type { Config } from '../../../schemas/config/config.js';
import type { Rate } from '../../../schemas/config/rate.js';
import { clientOf } from '../client-address.js';
import { isProbe } from '../surfaces.js';
import { bearerToken, tokenDigest } from './authentication.js';
import type { createAuthentication } from './authentication.js';
import { cookieDigest, sessionCookie } from '../../session/session-cookie.js';
import { createKnownCallers } from './known-callers.js';

type Authenticate = ReturnType<typeof createAuthentication>;

export interface RateLimiting {
  /** Limits the requests of an address: for routes without authentication. */
  limitAddress(ctx: Koa.Context): Promise<void>;
  /** Authentication within limits: failed attempts by address, then requests by user. */
  limitAuthentication(authenticate: Authenticate): Authenticate;
  /** Signing in within the same limit of failed attempts. */
  limitSignIn<T>(ctx: Koa.Context, tokenDigest: string, attempt: () => Promise<T>): Promise<T>;
}

/** The path of the route that serves a request, however the client wrote it: `/V1` is `/v1`. */
function servedPath(ctx: Koa.Context): string {
  const matched: unknown = (ctx as { _matchedRoute?: unknown })._matchedRoute;
  return (typeof matched === 'string' ? matched : ctx.path).toLowerCase();
}

const NO_LIMITS: RateLimiting = {
  limitAddress: async () => {},
  limitAuthentication: (authenticate) => authenticate,
  limitSignIn: (_ctx, _digest, attempt) => attempt(),
};

/**
 * The rate limits of the document surface (wire contract 1.1): RATE_LIMITED with the time to wait. Administrators are
 * not limited, except for searches with a retrieval trace and snapshots, which are for administrators alone.
 */
export function createRateLimiting(config: Pick<Config, 'rateLimits'>, limits: RateLimits): RateLimiting {
  const rates = config.rateLimits;
  if (!rates.enabled) return NO_LIMITS;
  const knownCallers = createKnownCallers();

  const isExempt = ({ path }: Koa.Context): boolean =>
    isProbe(path) || rates.exemptPaths.some((beginning) => path.startsWith(beginning));

  const take = async (name: string, rate: Rate, key: string): Promise<void> => {
    const verdict = await limits.take(name, rate, key);
    if (!verdict.allowed) throw tooMany(verdict.resetMs);
  };

  /** The narrow group first: what it refuses is not counted against the wide one. */
  const takeAll = async (ctx: Koa.Context, key: string): Promise<void> => {
    const path = servedPath(ctx);
    if (/^\/v1(\/|$)/.test(path)) await take('chat', rates.chat, key);
    if (/^\/auth(\/|$)/.test(path)) await take('auth', rates.auth, key);
    await take('all', rates.everything, key);
  };

  const limitAddress = async (ctx: Koa.Context): Promise<void> => {
    if (!isExempt(ctx)) await takeAll(ctx, `address:${clientOf(ctx)}`);
  };

  /** @param countFailure what a refused attempt costs its address; one that fails by our fault costs nothing */
  const limitAttempt = async <T>(
    ctx: Koa.Context,
    digest: string | null,
    attempt: () => Promise<T>,
    countFailure: (address: string) => Promise<void>,
  ): Promise<T> => {
    const address = clientOf(ctx);
    // A caller authenticated from here is served while another client of the same address guesses.
    if (!knownCallers.has(address, digest)) {
      const failures = await limits.peek('auth-failure', rates.authFailure, address);
      if (!failures.allowed) throw tooMany(failures.resetMs);
    }
    const found = await attempt().catch(async (error: unknown) => {
      // Guesses made at the same time have all passed the question above: this count decides.
      if (error instanceof AppError && error.status < 500) await countFailure(address);
      throw error;
    });
    knownCallers.add(address, digest);
    return found;
  };
  const countGuess = (address: string): Promise<void> => take('auth-failure', rates.authFailure, address);

  return {
    limitAddress,
    limitSignIn: (ctx, digest, attempt) => limitAttempt(ctx, digest, attempt, countGuess),

    limitAuthentication: (authenticate) => async (ctx, options) => {
      // It was counted as it came, and what has ended meanwhile was no guess.
      if (options?.again === true) return authenticate(ctx, options);
      const token = bearerToken(ctx, options?.tokenInQuery);
      const cookie = token === null ? sessionCookie(ctx) : null;
      const digest = token === null ? cookie && cookieDigest(cookie) : tokenDigest(token);
      const caller = await limitAttempt(
        ctx,
        digest,
        () => authenticate(ctx, options),
        // Who sent no token guesses nothing, a page whose session has ended included: neither may shut the sign-in for
        // its address.
        token === null ? () => limitAddress(ctx) : countGuess,
      );
      const key = `user:${caller.principal.userId}`;
      if (asksForTrace(ctx)) await take('diagnostics', rates.diagnostics, key);
      if (!caller.principal.isAdmin && !isExempt(ctx)) await takeAll(ctx, key);
      return caller;
    },
  };
}

function asksForTrace(ctx: Koa.Context): boolean {
  return (
    /^\/search\/partition\/[^/]+\/snapshot\/?$/.test(servedPath(ctx)) ||
    (/^\/search(\/|$)/.test(servedPath(ctx)) &&
      /^(true|1|yes|y|on|enabled)$/i.test([ctx.query['include_retrieval_trace'] ?? []].flat().at(-1) ?? ''))
  );
}

function tooMany(resetMs: number): AppError {
  return new AppError('RATE_LIMITED', undefined, { retryAfterMs: Math.max(1, resetMs) });
}
