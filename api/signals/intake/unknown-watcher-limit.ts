import { AppError } from '../../../schemas/app-error.js';
import { clientOf } from '../../http/client-address.js';
import type { PublicContext } from '../../http/route.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { withinTimeout } from './within-timeout.js';

/** Names that are remembered as known, so that their pushes need not ask. */
const MAX_KNOWN = 10_000;
const COME_AGAIN_AT_LATEST_MS = 3_600_000;

/**
 * Names of watchers can be made up, and each gets a record and a workflow. So of those that CAPI never let in, each
 * address may have so many. When the store cannot be asked the push goes on: what it cannot keep it refuses itself.
 */
export function createUnknownWatcherLimit({
  watchers,
  settings,
  now,
}: Pick<ProxyDeps, 'watchers' | 'settings' | 'now'>) {
  const { unknownPerAddress: places, unknownLifetimeMs: lifetimeMs } = settings;
  /** Only unknown watchers ever lose their record. */
  const known = new Set<string>();

  return {
    /** @throws AppError RATE_LIMITED when the watcher is one too many; then nothing may be stored of it */
    async admit({ koa, log }: PublicContext, watcher: string): Promise<void> {
      if (places === 0 || known.has(watcher)) return;
      const at = now();
      const asked = watchers.admit(watcher, { address: clientOf(koa), at, places, lifetimeMs });
      const verdict = await withinTimeout(asked, 'unknown', log, 'a watcher could not be looked up');
      if (verdict === 'known') {
        if (known.size >= MAX_KNOWN) known.clear();
        known.add(watcher);
      }
      if (!(verdict instanceof Date)) return;
      throw new AppError('RATE_LIMITED', 'Too many unknown watchers', {
        retryAfterMs: Math.min(COME_AGAIN_AT_LATEST_MS, Math.max(1000, verdict.getTime() - at.getTime())),
        details: {
          message:
            'The central API has not let this watcher in, nor others at its address; nothing of this request is stored',
        },
      });
    },
  };
}

export type UnknownWatcherLimit = ReturnType<typeof createUnknownWatcherLimit>;
