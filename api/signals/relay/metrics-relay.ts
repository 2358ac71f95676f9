import { Readable } from 'node:stream';
import type { PassThroughAnswer } from './capi-pass-through.js';
import { splitMetrics } from './split-metrics.js';
import { isForeign } from '../../../activities/outbound/foreign-answer.js';
import { GZIP_ABOVE, zipped } from '../../../activities/signals/reading/content-encoding.js';
import type { MetricsPath } from '../../../activities/ports/held-metrics.js';
import { AppError } from '../../../schemas/app-error.js';
import { createBodyBudget } from '../../http/body-budget.js';
import { countBody } from '../../http/count-body.js';
import { json, relayed } from '../../http/route.js';
import type { Answer, PublicContext } from '../../http/route.js';
import { isDown } from './relay-target.js';
import { capExpiry } from './watcher-identity.js';
import { COME_BACK_MS, comeBack, createWatcherPlaces } from './watcher-places.js';
import { hasStanding, identifyWatcher, noteAcceptance, noteRefusal } from '../intake/identify-watcher.js';
import type { Sender } from '../intake/identify-watcher.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { readPlainBody } from '../intake/read-signal-body.js';
import type { ForwardingNotifiers } from '../intake/notify-forwarding.js';

/** Real metrics are packed to a tenth or a thirtieth. */
const UNPACKED_RATIO = 100;
/** All bodies in memory may have three times so many bytes, those of one address a third of that. */
const ADDRESS_BYTES = 32 * 1024 * 1024;

export const METRICS_RESPONSES = {
  200: {
    description: "CAPI's answer; or held, to be sent when CAPI is back (with a token that CAPI took before)",
  },
  201: { description: 'Forwarding is switched off: usage metrics are not sent' },
} as const;

export const METRICS_ERRORS = [
  'BAD_REQUEST',
  'AUTHENTICATION_ERROR',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'CAPI_UNREACHABLE',
  'SERVICE_UNAVAILABLE',
] as const;

/** What of a body was put away, and whether its token is newer than the one there was. */
interface Kept {
  ids: readonly string[];
  newer: boolean;
}
const NOTHING_KEPT: Kept = { ids: [], newer: false };

/** Whether a LAPI takes the answer for the last word on its metrics, and sends them no more. */
function isDecided(status: number): boolean {
  return (status >= 200 && status < 300) || status === 422;
}

/** Where a push of metrics goes at CAPI; null for another target. */
export function metricsPath(method: string, target: string): MetricsPath | null {
  const [, version, kind] = /^\/(v[23])\/(usage-metrics|metrics)\/?(?:\?.*)?$/.exec(target) ?? [];
  if (method !== 'POST' || version === undefined) return null;
  return `${version as 'v2' | 'v3'}/${kind === 'metrics' ? 'metrics/' : 'usage-metrics'}`;
}

/**
 * Metrics go to CAPI at once when it is there. While it is down they are stored, answered as taken, and sent later by
 * an actor; a body too large for CAPI goes in parts, the first at once and the rest likewise. That is for tokens that
 * CAPI took before. With any other the body goes to CAPI as it comes, and nothing of it is unpacked, cut or kept: a
 * LAPI sends again what was not taken.
 */
export function createMetricsRelay(
  deps: Pick<ProxyDeps, 'passThrough' | 'watchers' | 'metrics' | 'settings' | 'now'> & {
    notify: ForwardingNotifiers;
  },
) {
  const share = Math.max(ADDRESS_BYTES, 2 * deps.settings.maxMetricsBytes);
  const budget = createBodyBudget(3 * share, share);
  /** Of bodies that have come whole. */
  const places = createWatcherPlaces();

  const send = async (
    ctx: PublicContext,
    path: MetricsPath,
    text: Buffer,
  ): Promise<PassThroughAnswer | null> => {
    const zip = text.length > GZIP_ABOVE;
    const bytes = zip ? await zipped(text) : text;
    const { 'content-encoding': _e, 'content-length': _l, ...headers } = ctx.koa.req.headers;
    try {
      const answer = await deps.passThrough(
        {
          method: 'POST',
          path: `/${path}`,
          body: Readable.from([bytes], { objectMode: false }),
          headers: {
            ...headers,
            'content-length': String(bytes.length),
            ...(zip ? { 'content-encoding': 'gzip' } : {}),
          },
        },
        { signal: ctx.signal },
      );
      if (!isDown(answer.status)) return answer;
      answer.body.resume().on('error', () => undefined);
      return null;
    } catch (error) {
      if (error instanceof AppError && error.code === 'CAPI_UNREACHABLE') return null;
      throw error;
    }
  };

  const hold = async (
    { watcher, token }: Sender,
    path: MetricsPath,
    texts: readonly Buffer[],
    part: boolean,
  ): Promise<Kept> => {
    const newer =
      token !== null &&
      (await deps.watchers.saveToken(watcher, token.text, capExpiry(token.expiresAt, deps.now()))).newer;
    const items = await Promise.all(texts.map(async (text) => ({ path, part, bytes: await zipped(text) })));
    const ids = await deps.metrics.hold(watcher, items, deps.now());
    if (ids === 'full')
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many metrics of this watcher wait for the central API', {
        retryAfterMs: COME_BACK_MS * 60,
      });
    return { ids, newer };
  };

  const tell = (ctx: PublicContext, { watcher }: Sender, { newer }: Pick<Kept, 'newer'>): void => {
    if (newer) deps.notify.token(watcher, ctx.log);
    else deps.notify.metrics(watcher, ctx.log);
  };

  /** The LAPI sends all of it again, in a body that may be cut elsewhere: CAPI would count what is kept here twice. */
  const takeBack = async (ctx: PublicContext, sender: Sender, { ids, newer }: Kept): Promise<void> => {
    try {
      for (const id of ids) await deps.metrics.remove(id);
    } catch (error) {
      ctx.log.error(
        { err: error, watcher: sender.watcher },
        'parts of refused metrics could not be taken back',
      );
    }
    if (newer) tell(ctx, sender, { newer });
  };

  const read = async ({ koa }: PublicContext): Promise<Buffer> => {
    const { refused, unpacked } = countBody(koa, budget);
    const reading = readPlainBody(koa.req, deps.settings.maxMetricsBytes, UNPACKED_RATIO);
    const text = await Promise.race([reading, refused]).catch((error: unknown) => {
      koa.req.resume();
      throw error;
    });
    unpacked(text.length);
    return text;
  };

  /** A body takes its watcher's place once it has come: one that comes slowly keeps out no other. */
  const inPlace = async <Result>(watcher: string, work: () => Promise<Result>): Promise<Result> => {
    if (!places.take(watcher)) throw comeBack();
    try {
      return await work();
    } finally {
      places.give(watcher);
    }
  };

  const pass = async (
    ctx: PublicContext,
    sender: Sender,
    path: MetricsPath,
    text: Buffer,
  ): Promise<Answer> => {
    const [first = Buffer.alloc(0), ...rest] = splitMetrics(text);
    // Before the first goes out: what was answered as taken must not hang on what happens to us afterwards.
    const kept = rest.length > 0 ? await hold(sender, path, rest, true) : NOTHING_KEPT;
    try {
      const answer = await send(ctx, path, first);
      if (answer !== null) {
        const { status, headers, body } = answer;
        if (status === 401) await noteRefusal(ctx.koa.req.headers.authorization, deps.watchers, ctx.log);
        if (!isDecided(status)) await takeBack(ctx, sender, kept);
        else if (rest.length > 0) tell(ctx, sender, kept);
        return relayed(status, { headers, body });
      }
      const { newer } = await hold(sender, path, [first], rest.length > 0);
      tell(ctx, sender, { newer: newer || kept.newer });
      return json(200, { message: 'OK' });
    } catch (error) {
      await takeBack(ctx, sender, kept);
      throw error;
    }
  };

  /** The first answer of CAPI to a token: from a yes on its metrics are unpacked, and held while CAPI is down. */
  const passUnread = async (ctx: PublicContext, sender: Sender, path: MetricsPath): Promise<Answer> => {
    const { req } = ctx.koa;
    const answer = await deps.passThrough(
      { method: 'POST', path: `/${path}`, headers: req.headers, body: req },
      { signal: ctx.signal },
    );
    if (answer.status >= 200 && answer.status < 300 && !isForeign(answer.headers))
      await noteAcceptance(sender, deps.watchers, ctx.log);
    return relayed(answer.status, { headers: answer.headers, body: answer.body });
  };

  return {
    async take(ctx: PublicContext, path: MetricsPath): Promise<Answer> {
      const { forwardEnabled } = deps.settings;
      const ofUsage = path.endsWith('/usage-metrics');
      if (ofUsage && ctx.koa.get('Authorization') === '')
        throw new AppError('AUTHENTICATION_ERROR', 'Unauthorized');
      if (ofUsage && !forwardEnabled) {
        ctx.koa.req.resume();
        return json(201, { success: true });
      }
      const sender = await identifyWatcher(ctx.koa.req.headers.authorization, deps.watchers);
      // While forwarding is off nothing is held either: it would not be sent.
      if (!forwardEnabled || !(await hasStanding(sender, deps, ctx.log)))
        return passUnread(ctx, sender, path);
      const text = await read(ctx);
      return inPlace(sender.watcher, () => pass(ctx, sender, path, text));
    },
  };
}
