import { Readable } from 'node:stream';
import type { PassThroughAnswer } from './capi-pass-through.js';
import { METRICS_PART_BYTES, splitMetrics } from './split-metrics.js';
import { GZIP_ABOVE, zipped } from '../../../activities/signals/reading/content-encoding.js';
import type { MetricsPath } from '../../../activities/ports/signals.js';
import { AppError } from '../../../schemas/app-error.js';
import { json, relayed } from '../../http/route.js';
import type { Answer, PublicContext } from '../../http/route.js';
import { isDown } from './relay-target.js';
import { identifyWatcher, noteRefusal } from '../intake/identify-watcher.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { readPlainBody } from '../intake/read-signal-body.js';
import type { ForwardingNotifiers } from '../intake/notify-forwarding.js';

/** Of one body, decompressed (proxy spec, 4.5). */
const BODY_BYTES = 50 * 1024 * 1024;
/** So many bodies are in memory at once; a further request is asked to come back. */
const MAX_CONCURRENT = 8;
const COME_BACK_MS = 10_000;

export const METRICS_RESPONSES = {
  200: { description: "CAPI's answer; or held, to be sent when CAPI is back" },
  201: { description: 'Forwarding is switched off: nothing is sent' },
} as const;

export const METRICS_ERRORS = [
  ...(['BAD_REQUEST', 'AUTHENTICATION_ERROR', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const),
  ...(['CAPI_UNREACHABLE', 'SERVICE_UNAVAILABLE'] as const),
] as const;

/** Where a push of metrics goes at CAPI; null for another target. */
export const metricsPath = (method: string, target: string): MetricsPath | null => {
  const [, version, kind] = /^\/(v[23])\/(usage-metrics|metrics)\/?(?:\?.*)?$/.exec(target) ?? [];
  if (method !== 'POST' || version === undefined) return null;
  return `${version as 'v2' | 'v3'}/${kind === 'metrics' ? 'metrics/' : 'usage-metrics'}`;
};

/**
 * Metrics go to CAPI at once when it is there. While it is down they are stored, answered as taken, and sent later by
 * an actor; a body too large for CAPI goes in parts, the first at once and the rest likewise.
 */
export const createMetricsRelay = (
  deps: Pick<ProxyDeps, 'passThrough' | 'watchers' | 'metrics' | 'settings' | 'now'> & {
    notify: ForwardingNotifiers;
  },
) => {
  let underWay = 0;

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
          ...{ method: 'POST', path: `/${path}`, body: Readable.from([bytes], { objectMode: false }) },
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

  const hold = async (ctx: PublicContext, path: MetricsPath, texts: readonly Buffer[], part: boolean) => {
    const { watcher, token } = await identifyWatcher(ctx.koa.req.headers.authorization, deps.watchers);
    const newer = token !== null && (await deps.watchers.saveToken(watcher, token.text, token.expiresAt));
    const items = await Promise.all(texts.map(async (text) => ({ path, part, bytes: await zipped(text) })));
    if ((await deps.metrics.hold(watcher, items, deps.now())) === 'full')
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many metrics of this watcher wait for the central API', {
        retryAfterMs: COME_BACK_MS * 60,
      });
    if (newer) deps.notify.token(watcher, ctx.log);
    else deps.notify.metrics(watcher, ctx.log);
  };

  const pass = async (ctx: PublicContext, path: MetricsPath): Promise<Answer> => {
    const body = await readPlainBody(ctx.koa.req, BODY_BYTES);
    if (!deps.settings.forwardEnabled) return json(201, { success: true });
    const parts = body.length <= METRICS_PART_BYTES ? [body] : partsOf(body);
    const [first = body, ...rest] = parts;
    // Before the first goes out: what was answered as taken must not hang on what happens to us afterwards.
    if (rest.length > 0) await hold(ctx, path, rest, true);
    const answer = await send(ctx, path, first);
    if (answer?.status === 401) await noteRefusal(ctx.koa.req.headers.authorization, deps.watchers, ctx.log);
    if (answer !== null) return relayed(answer.status, { headers: answer.headers, body: answer.body });
    await hold(ctx, path, [first], rest.length > 0);
    return json(200, { message: 'OK' });
  };

  return {
    async take(ctx: PublicContext, path: MetricsPath): Promise<Answer> {
      if (path.endsWith('/usage-metrics') && ctx.koa.get('Authorization') === '')
        throw new AppError('AUTHENTICATION_ERROR', 'Unauthorized');
      if (underWay >= MAX_CONCURRENT) {
        ctx.koa.req.resume();
        throw new AppError('SERVICE_UNAVAILABLE', undefined, { retryAfterMs: COME_BACK_MS });
      }
      underWay += 1;
      try {
        return await pass(ctx, path);
      } finally {
        underWay -= 1;
      }
    },
  };
};

const partsOf = (body: Buffer): Buffer[] => {
  try {
    return splitMetrics(body.toString('utf8')).map((text) => Buffer.from(text));
  } catch {
    // No JSON: CAPI says so itself.
    return [body];
  }
};
