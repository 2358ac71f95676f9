import { Readable } from 'node:stream';
import { isForeign } from '../../../activities/outbound/foreign-answer.js';
import { cidrRanges } from '../../../activities/signals/rules/cidr-range.js';
import { AppError } from '../../../schemas/app-error.js';
import type { ApiVersion } from '../../../schemas/signals/signals.js';
import type { PublicContext } from '../../http/route.js';
import type { Logger } from '../../logger.js';
import { noteAcceptance, noteRefusal } from './identify-watcher.js';
import type { Sender } from './identify-watcher.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { withinTimeout } from './within-timeout.js';
import { sha256Hex } from '../../../schemas/sha256.js';

/** Said with `message` beside it, which a LAPI logs. */
function refusal(code: 'AUTHENTICATION_ERROR' | 'AUTH_ERROR', error: string, message: string): AppError {
  return new AppError(code, error, { details: { message } });
}

/**
 * The allow-lists and the client validation (proxy spec, 4.3). A watcher's name comes from unverified claims:
 * an allow-list is safe only together with validation, for which CAPI checks the token.
 */
export function createAccessControl({
  settings,
  passThrough,
  validated,
  addressOf,
  watchers: store,
  now,
}: Pick<ProxyDeps, 'settings' | 'passThrough' | 'validated' | 'addressOf' | 'watchers' | 'now'>) {
  const { watchers, networks, validation } = settings.access;
  const ranges = networks === null ? null : cidrRanges(networks);
  const allowed = watchers === null ? null : new Set(watchers);

  /** Asks with no signals at all, on the version that the client speaks. Null: no answer of CAPI. */
  const askCapi = async (authorization: string, version: ApiVersion): Promise<number | null> => {
    try {
      const answer = await passThrough(
        {
          method: 'POST',
          path: `/${version}/signals`,
          headers: { authorization, 'content-type': 'application/json', 'content-length': '2' },
          body: Readable.from([Buffer.from('[]')], { objectMode: false }),
        },
        { signal: AbortSignal.timeout(validation.timeoutMs) },
      );
      answer.body.resume().on('error', () => undefined);
      return isForeign(answer.headers) ? null : answer.status;
    } catch {
      return null;
    }
  };

  const standingOf = (sender: Sender, digest: string, log: Logger) =>
    withinTimeout(
      store.standing(sender.watcher, digest),
      'unknown' as const,
      log,
      'a token could not be looked up',
    );

  return {
    /** @throws AppError AUTH_ERROR (403) when the request comes from elsewhere */
    admitNetwork({ koa }: PublicContext): void {
      if (ranges === null) return;
      const address = addressOf(koa);
      if (ranges.find(address) !== null) return;
      koa.req.resume();
      throw refusal('AUTH_ERROR', 'Forbidden', 'Requests from this network are not allowed');
    },

    /** @throws AppError AUTH_ERROR (403) */
    admitWatcher(watcher: string): void {
      if (allowed !== null && !allowed.has(watcher))
        throw refusal('AUTH_ERROR', 'Forbidden', 'This watcher is not allowed');
    },

    asksForWatcher: allowed !== null,

    validates: validation.enabled,

    /** @throws AppError AUTHENTICATION_ERROR (401) for a token that has ended or that CAPI refuses */
    // eslint-disable-next-line complexity -- the checks of one token in their order
    async validate({ koa, log }: PublicContext, sender: Sender, version: ApiVersion): Promise<void> {
      if (!validation.enabled) return;
      const { token } = sender;
      const refused = refusal('AUTHENTICATION_ERROR', 'Unauthorized', 'Client validation failed');
      const at = now().getTime();
      const end = token?.expiresAt?.getTime() ?? Infinity;
      if (token === null || end <= at) throw refused;
      const digest = sha256Hex(token.text);
      const standing = await standingOf(sender, digest, log);
      if (standing === 'refused') throw refused;
      if ((await validated.get(digest)) !== null) return;
      const status = await askCapi(koa.get('Authorization'), version);
      if (status === 401) {
        await noteRefusal(koa.get('Authorization'), store, log);
        throw refused;
      }
      const answered = status !== null && status >= 200 && status < 300;
      // CAPI is away, or its 403 shuts our address out: what it took before, and has not refused since, is good.
      const isGood = answered || standing === 'accepted';
      if (!isGood && (status === 403 || validation.failClosed)) throw refused;
      if (answered) await noteAcceptance(sender, store, log);
      const ttlMs = answered ? validation.ttlMs : validation.ttlOnErrorMs;
      await validated.set(digest, '1', Math.min(end - at, ttlMs));
    },
  };
}

export type AccessControl = ReturnType<typeof createAccessControl>;
