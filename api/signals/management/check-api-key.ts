import { timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import type { ApiKeyStore } from '../../../activities/ports/signals.js';
import { allows } from '../../../schemas/signals/api-keys.js';
import type { KeyScope } from '../../../schemas/signals/api-keys.js';
import { AppError } from '../../../schemas/app-error.js';
import type { Logger } from '../../logger.js';
import { reportFailure } from './report-failure.js';
import type { ApiKeyRateLimit } from './api-key-rate-limit.js';
import { sha256Hex } from '../../../schemas/sha256.js';

/** In front of every named key, so that one is known where it should not be, and nothing else is looked up. */
export const KEY_PREFIX = 'tamis_';

/** How exact the last use of a key is. */
const TOUCH_MS = 60_000;

export const keyDigest = (key: string): string => sha256Hex(key);

export interface ApiKeyCheckDeps {
  keys: Pick<ApiKeyStore, 'find' | 'touch'>;
  unauthenticated: ApiKeyRateLimit;
  settings: { dashboardApiKey: string | null };
  now(): Date;
}

interface Holder {
  name: string;
  scopes: readonly KeyScope[];
}

/**
 * Guards the management side: `X-Api-Key` must be the configured key, which may do everything, or a named key with
 * the scope that the route asks for. Digests are compared, in constant time, so that neither the length of a key nor
 * how much of it was guessed shows. Without a configured key every request is refused.
 * @throws AppError AUTHENTICATION_ERROR (401), AUTH_ERROR (403) for a key without the scope, RATE_LIMITED (429)
 */
export const createApiKeyCheck = (
  deps: ApiKeyCheckDeps,
): ((ctx: Koa.Context, needed: KeyScope) => Promise<void>) => {
  const { keys, unauthenticated, settings, now } = deps;
  const configured = settings.dashboardApiKey === null ? null : keyDigest(settings.dashboardApiKey);

  const holderOf = async (ctx: Koa.Context, key: string, digest: string): Promise<Holder | null> => {
    if (configured === null) return null;
    if (timingSafeEqual(Buffer.from(digest), Buffer.from(configured)))
      return { name: 'DASHBOARD_API_KEY', scopes: ['admin'] };
    if (!key.startsWith(KEY_PREFIX)) return null;
    const record = await reportFailure('Failed to check the key', () => keys.find(digest, now()));
    if (record === null) return null;
    if ((record.lastUsedAt?.getTime() ?? 0) < now().getTime() - TOUCH_MS)
      // In the background: no answer depends on it.
      void keys.touch(record.id, now()).catch((error: unknown) => {
        (ctx.state['log'] as Logger).warn({ err: error }, 'the last use of a key could not be noted');
      });
    return record;
  };

  return async (ctx, needed) => {
    const key = ctx.get('X-Api-Key');
    const digest = keyDigest(key);
    await unauthenticated.ask(ctx, digest);
    const holder = await holderOf(ctx, key, digest);
    if (holder === null) {
      // Guesses made at the same time have all passed the question above: this count decides.
      await unauthenticated.count(ctx);
      throw new AppError('AUTHENTICATION_ERROR', 'Unauthorized');
    }
    unauthenticated.remember(ctx, digest);
    ctx.state['key'] = holder.name;
    if (!allows(holder.scopes, needed))
      throw new AppError('AUTH_ERROR', `This needs a key with the scope ${needed}`);
  };
};
