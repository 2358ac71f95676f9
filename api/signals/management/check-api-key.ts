import { timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import type { ApiKeyStore } from '../../../activities/ports/signals.js';
import { allows } from '../../../schemas/signals/api-keys.js';
import type { KeyHolder, KeyScope } from '../../../schemas/signals/api-keys.js';
import { AppError } from '../../../schemas/app-error.js';
import type { Logger } from '../../logger.js';
import { reportFailure } from './report-failure.js';
import type { ApiKeyRateLimit } from './api-key-rate-limit.js';
import { sha256Hex } from '../../../schemas/sha256.js';
import { cookieDigest, sessionCookie } from '../../session/session-cookie.js';
import type { Sessions } from '../../session/sessions.js';

/** In front of every named key, so that one is known where it should not be, and nothing else is looked up. */
export const KEY_PREFIX = 'tamis_';

/** How exact the last use of a key is. */
const TOUCH_MS = 60_000;

export function keyDigest(key: string): string {
  return sha256Hex(key);
}

export interface ApiKeyCheckDeps {
  keys: Pick<ApiKeyStore, 'find' | 'touch'>;
  unauthenticated: ApiKeyRateLimit;
  settings: { dashboardApiKey: string | null };
  now(): Date;
}

/** @param isNamed whether it may be a named key: of a text that cannot be one, nothing is looked up */
type FindHolder = (ctx: Koa.Context, digest: string, isNamed?: boolean) => Promise<KeyHolder | null>;

/**
 * Whose key this is, by its digest: the configured key may do everything, a named one what it was given for. Digests
 * are compared, in constant time, so that neither the length of a key nor how much of it was guessed shows. Without a
 * configured key there is no holder at all.
 */
export function createFindHolder(deps: Omit<ApiKeyCheckDeps, 'unauthenticated'>): FindHolder {
  const { keys, settings, now } = deps;
  const configured = settings.dashboardApiKey === null ? null : keyDigest(settings.dashboardApiKey);
  return async (ctx, digest, isNamed = true) => {
    if (configured === null) return null;
    if (timingSafeEqual(Buffer.from(digest), Buffer.from(configured)))
      return { name: 'DASHBOARD_API_KEY', scopes: ['admin'] };
    if (!isNamed) return null;
    const record = await reportFailure('Failed to check the key', () => keys.find(digest, now()));
    if (record === null) return null;
    if ((record.lastUsedAt?.getTime() ?? 0) < now().getTime() - TOUCH_MS)
      // In the background: no answer depends on it.
      void keys.touch(record.id, now()).catch((error: unknown) => {
        (ctx.state['log'] as Logger).warn({ err: error }, 'the last use of a key could not be noted');
      });
    return record;
  };
}

/**
 * Guards the management side: `X-Api-Key`, or the key that a session was opened with, must have the scope that the
 * route asks for. A request that was admitted before and is asked `again` counts in no limit.
 * @throws AppError AUTHENTICATION_ERROR (401), AUTH_ERROR (403) for a key without the scope, RATE_LIMITED (429)
 */
export function createApiKeyCheck(
  deps: ApiKeyCheckDeps,
  sessions: Pick<Sessions, 'identify'>,
): (ctx: Koa.Context, needed: KeyScope, again?: boolean) => Promise<void> {
  const { unauthenticated } = deps;
  const findHolder = createFindHolder(deps);

  const byHeader = async (ctx: Koa.Context): Promise<KeyHolder> => {
    const key = ctx.get('X-Api-Key');
    const digest = keyDigest(key);
    await unauthenticated.ask(ctx, digest);
    const holder = await findHolder(ctx, digest, key.startsWith(KEY_PREFIX));
    if (holder === null) {
      // Guesses made at the same time have all passed the question above: this count decides.
      await unauthenticated.count(ctx);
      throw unauthorized();
    }
    unauthenticated.remember(ctx, digest);
    return holder;
  };

  /** A page whose session has ended is no client that guesses keys: it has a budget of its own. */
  const bySession = async (ctx: Koa.Context, cookie: string): Promise<KeyHolder> => {
    const digest = cookieDigest(cookie);
    await unauthenticated.ask(ctx, digest, 'session');
    const session = await sessions.identify(ctx).catch((error: unknown) => {
      if (error instanceof AppError && error.status < 500) throw error;
      return reportFailure('Failed to check the session', () => Promise.reject(error as Error));
    });
    if (session?.holder == null) {
      await unauthenticated.count(ctx, 'session');
      throw unauthorized();
    }
    unauthenticated.remember(ctx, digest);
    return session.holder;
  };

  const still = async (ctx: Koa.Context): Promise<KeyHolder> => {
    const key = ctx.get('X-Api-Key');
    const holder =
      sessionCookie(ctx) === null
        ? await findHolder(ctx, keyDigest(key), key.startsWith(KEY_PREFIX))
        : (await sessions.identify(ctx, { again: true }))?.holder;
    if (holder == null) throw unauthorized();
    return holder;
  };

  return async (ctx, needed, again = false) => {
    const cookie = sessionCookie(ctx);
    const first = () => (cookie === null ? byHeader(ctx) : bySession(ctx, cookie));
    const holder = await (again ? still(ctx) : first());
    ctx.state['key'] = holder.name;
    if (!allows(holder.scopes, needed))
      throw new AppError('AUTH_ERROR', `This needs a key with the scope ${needed}`);
  };
}

/**
 * A key that is used to sign in is looked at within the limits of wrong keys, which a user's own token neither uses
 * up nor has to keep to.
 */
export function createTakeKey(
  deps: ApiKeyCheckDeps,
): (ctx: Koa.Context, key: string, isUsers: boolean) => Promise<KeyHolder | null> {
  const { unauthenticated } = deps;
  const findHolder = createFindHolder(deps);
  return async (ctx, key, isUsers) => {
    const digest = keyDigest(key);
    if (isUsers && !(await unauthenticated.admits(ctx, digest))) return null;
    if (!isUsers) await unauthenticated.ask(ctx, digest);
    const holder = await findHolder(ctx, digest, key.startsWith(KEY_PREFIX));
    if (holder !== null) unauthenticated.remember(ctx, digest);
    else if (!isUsers) await unauthenticated.count(ctx);
    return holder;
  };
}

function unauthorized(): AppError {
  return new AppError('AUTHENTICATION_ERROR', 'Unauthorized');
}
