import type Koa from 'koa';
import type { RateLimits, RateVerdict } from '../../../activities/ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import type { Rate } from '../../../schemas/config/rate.js';
import { createKnownCallers } from '../../http/middleware/known-callers.js';

/** What came in the place of a valid key: a wrong one or none, or the cookie of a session that has ended. */
type Credential = 'key' | 'session';

export interface ApiKeyRateLimit {
  /** Counts a request without a valid key. @throws AppError RATE_LIMITED (429) */
  count(ctx: Koa.Context, credential?: Credential): Promise<void>;
  /** Checked before a key is. @throws AppError RATE_LIMITED when requests without a valid key have used up the limit */
  ask(ctx: Koa.Context, keyDigest: string, credential?: Credential): Promise<void>;
  /** The same question, answered. */
  admits(ctx: Koa.Context, keyDigest: string): Promise<boolean>;
  /** Remembers that the key was valid from this address. */
  remember(ctx: Koa.Context, keyDigest: string): void;
}

const NAMES: Readonly<Record<Credential, string>> = {
  key: 'management-unauthenticated',
  session: 'management-ended-session',
};

/**
 * What an address may ask of the management side without a valid key: `/health`, and wrong keys. A valid key is not
 * limited (wire contract of the proxy, section 2). Once the limit is reached no key is looked at any more, or
 * guessing would go on behind the refusals, but for keys that were right from this address lately: one wrong client
 * must not lock a dashboard out. The headers are the peer service's.
 */
export function createApiKeyRateLimit(options: {
  limits: Pick<RateLimits, 'take' | 'peek'>;
  rate: Rate;
  addressOf(ctx: Koa.Context): string;
}): ApiKeyRateLimit {
  const { limits, rate, addressOf } = options;
  const known = createKnownCallers();

  const show = (ctx: Koa.Context, { remaining, resetMs }: RateVerdict): void => {
    ctx.set({
      'X-RateLimit-Limit': String(rate.points),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(Math.ceil(resetMs / 1000)),
    });
  };
  const enforce = (ctx: Koa.Context, verdict: RateVerdict): void => {
    show(ctx, verdict);
    if (verdict.allowed) return;
    throw new AppError('RATE_LIMITED', `Rate limit exceeded, retry in ${inWords(rate.seconds)}`, {
      retryAfterMs: Math.max(1, verdict.resetMs),
    });
  };

  return {
    async count(ctx, credential = 'key') {
      enforce(ctx, await limits.take(NAMES[credential], rate, addressOf(ctx)));
    },
    async admits(ctx, keyDigest) {
      return (
        known.has(addressOf(ctx), keyDigest) || (await limits.peek(NAMES.key, rate, addressOf(ctx))).allowed
      );
    },
    async ask(ctx, keyDigest, credential = 'key') {
      const verdict = await limits.peek(NAMES[credential], rate, addressOf(ctx));
      if (known.has(addressOf(ctx), keyDigest)) show(ctx, verdict);
      else enforce(ctx, verdict);
    },
    remember(ctx, keyDigest) {
      known.add(addressOf(ctx), keyDigest);
    },
  };
}

function inWords(seconds: number): string {
  const [count, unit] = seconds % 60 === 0 ? [seconds / 60, 'minute'] : [seconds, 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
