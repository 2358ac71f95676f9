import { Readable, pipeline } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import { API_VERSIONS } from '../../../schemas/signals/signals.js';
import type { PassThroughAnswer } from './capi-pass-through.js';
import { isForeign } from '../../../activities/outbound/foreign-answer.js';
import type { MetricsPath } from '../../../activities/ports/held-metrics.js';
import { clientOf } from '../../http/client-address.js';
import { relayed, route } from '../../http/route.js';
import type { Answer, PublicContext, Route } from '../../http/route.js';
import { createDecisionCache } from './decision-cache.js';
import { streamRequest } from './stream-request.js';
import { holdBack, peekBody } from './body-taps.js';
import { identifyWatcher, noteRefusal } from '../intake/identify-watcher.js';
import type { Sender } from '../intake/identify-watcher.js';
import type { AccessControl } from '../intake/access-control.js';
import { createLoginCache } from './login-cache.js';
import type { LoginAttempt } from './login-cache.js';
import { METRICS_ERRORS, METRICS_RESPONSES, createMetricsRelay, metricsPath } from './metrics-relay.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { isLogin, relayTarget, isDown } from './relay-target.js';
import type { ForwardingNotifiers } from '../intake/notify-forwarding.js';

/** A login and its answer are a few hundred bytes; larger ones pass by unread. */
const LOGIN_BYTES = 64 * 1024;

/** Answers to a login that people are told of. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429]);

type PassThroughDeps = Pick<
  ProxyDeps,
  'passThrough' | 'watchers' | 'logins' | 'copies' | 'metrics' | 'settings' | 'now'
> & { notify: ForwardingNotifiers };

interface RelayParts {
  deps: PassThroughDeps;
  access: AccessControl;
  logins: ReturnType<typeof createLoginCache>;
  decisions: ReturnType<typeof createDecisionCache>;
  metrics: ReturnType<typeof createMetricsRelay>;
}

/** Everything under the two versions but the signals: handed to CAPI and back as it comes. */
export function passThroughRoutes(deps: PassThroughDeps, access: AccessControl): Route[] {
  const parts: RelayParts = {
    deps,
    access,
    logins: createLoginCache(deps),
    decisions: createDecisionCache(deps),
    metrics: createMetricsRelay(deps),
  };
  const relayRoutes = API_VERSIONS.map((version) =>
    route({
      method: 'all',
      path: `/${version}/{+path}`,
      summary: 'Passed on to the central API as it comes, and its answer likewise',
      tag: 'Proxy relay',
      auth: { token: 'capi' },
      request: { params: z.object({ path: z.string() }) },
      responses: {
        200: { description: "CAPI's own answer, whatever its status; or what we keep while it is down" },
        201: METRICS_RESPONSES[201],
        403: { description: 'A login that CAPI refused and that is not passed on again yet' },
        429: { description: 'Logins are not passed on: CAPI shut us out, or the budget is used up' },
      },
      errors: ['NOT_FOUND', 'AUTH_ERROR', ...METRICS_ERRORS],
      handle: (ctx) => passOn(ctx, parts),
    }),
  );
  return [usageMetrics(parts), ...relayRoutes];
}

/** CAPI has usage metrics under its third version only. */
function usageMetrics(parts: RelayParts): Route {
  return route({
    method: 'post',
    path: '/v1/usage-metrics',
    summary: 'Usage metrics, passed on to the central API, or held while it is down',
    tag: 'Proxy relay',
    auth: { token: 'capi' },
    responses: METRICS_RESPONSES,
    errors: ['AUTH_ERROR', ...METRICS_ERRORS],
    async handle(ctx) {
      await admit(ctx, parts);
      return takeMetrics(ctx, parts, 'v3/usage-metrics');
    },
  });
}

// eslint-disable-next-line complexity -- one branch for each kind of request
async function passOn(ctx: PublicContext, parts: RelayParts): Promise<Answer> {
  const { req } = ctx.koa;
  const method = req.method ?? 'GET';
  const path = relayTarget(req.url ?? '/');
  parts.access.admitNetwork(ctx);
  if (isLogin(method, path)) return passLogin(ctx, parts, path);
  await admit(ctx, parts);
  const metrics = metricsPath(method, path);
  if (metrics !== null && bodyOf(req) !== null) return takeMetrics(ctx, parts, metrics);
  const asked = streamRequest(method, path);
  const answer = await ask(ctx, parts.deps, { method, path, body: bodyOf(req) }).catch((error: unknown) => {
    if (asked !== null && error instanceof AppError && error.code === 'CAPI_UNREACHABLE') return error;
    throw error;
  });
  const sender = asked === null ? null : await senderOf(ctx, parts.deps);
  const address = clientOf(ctx.koa);
  if (asked !== null && sender !== null && (answer instanceof AppError || isDown(answer.status))) {
    const copy = await parts.decisions
      .fromCopy({ ...asked, sender, address }, ctx.koa)
      .catch((error: unknown) => {
        ctx.log.error({ err: error }, 'the copy of a decision stream could not be read');
        return null;
      });
    if (copy !== null) {
      if (!(answer instanceof AppError)) answer.body.resume().on('error', () => undefined);
      if (copy instanceof AppError) throw copy;
      return copy;
    }
  }
  if (answer instanceof AppError) throw answer;
  if (answer.status === 401)
    await noteRefusal(ctx.koa.req.headers.authorization, parts.deps.watchers, ctx.log);
  const body =
    asked !== null && sender !== null && answer.status === 200
      ? parts.decisions.watch({ ...asked, sender, address }, answer, ctx.log)
      : answer.body;
  return relayed(answer.status, { headers: answer.headers, body });
}

/**
 * @throws AppError AUTHENTICATION_ERROR for metrics whose token does not stand client validation (proxy spec,
 * 4.3)
 */
async function takeMetrics(ctx: PublicContext, parts: RelayParts, path: MetricsPath): Promise<Answer> {
  const { req } = ctx.koa;
  if (parts.access.validates) {
    const sender = await identifyWatcher(req.headers.authorization, parts.deps.watchers);
    await parts.access.validate(ctx, sender, path.startsWith('v2') ? 'v2' : 'v3').catch((error: unknown) => {
      req.resume();
      throw error;
    });
  }
  return parts.metrics.take(ctx, path);
}

/** @throws AppError CAPI_UNREACHABLE with words for the LAPI's log */
async function ask(
  ctx: PublicContext,
  deps: Pick<PassThroughDeps, 'passThrough'>,
  request: { method: string; path: string; body: Readable | null },
  onConnected?: () => void,
): Promise<PassThroughAnswer> {
  try {
    return await deps.passThrough(
      { ...request, headers: ctx.koa.req.headers },
      { signal: ctx.signal, onConnected },
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'CAPI_UNREACHABLE')
      throw new AppError('CAPI_UNREACHABLE', undefined, {
        cause: error,
        details: { message: 'The central API cannot be reached, or does not answer in time' },
      });
    throw error;
  }
}

/** A login that passes by tells which watcher holds which token. */
// eslint-disable-next-line complexity -- one login from its guards to its answer
async function passLogin(ctx: PublicContext, parts: RelayParts, path: string): Promise<Answer> {
  const { req } = ctx.koa;
  const { logins } = parts;
  const peeked = await peekBody(req, LOGIN_BYTES);
  const bytes = 'whole' in peeked ? peeked.whole : null;
  const asked = bytes === null ? null : { bytes, encoding: req.headers['content-encoding'] };
  const login = asked === null ? null : await logins.read(asked);
  // A body without a machine id has no watcher: an allow-list refuses it.
  if (parts.access.asksForWatcher) parts.access.admitWatcher(login?.machineId ?? '');
  const attempt: LoginAttempt = { login, address: clientOf(ctx.koa), places: null, exemptUntil: null };
  const own = await logins.answerFor(attempt, ctx.log);
  if (own !== null) {
    if ('stream' in peeked) peeked.stream.resume().on('error', () => undefined);
    return own;
  }
  const body = 'stream' in peeked ? peeked.stream : Readable.from([peeked.whole], { objectMode: false });
  let answer: PassThroughAnswer;
  let connected = false;
  try {
    answer = await ask(ctx, parts.deps, { method: 'POST', path, body }, () => (connected = true));
  } catch (error) {
    // From a connection on CAPI may have counted it, whatever became of the answer.
    if (!connected) await logins.neverSent(attempt, ctx.log);
    const down = error instanceof AppError && error.code === 'CAPI_UNREACHABLE';
    const known = down && login !== null ? await logins.fallback(login, ctx.log) : null;
    if (known !== null) return known;
    throw error;
  }
  const { status, headers } = answer;
  const shutOut = status === 403 || status === 429;
  if (login !== null && shutOut) await logins.shutOut(login, answer, ctx.log);
  const foreign = status === 200 && isForeign(headers);
  if (login !== null && (shutOut || foreign || isDown(status))) {
    const known = await logins.fallback(login, ctx.log);
    if (known !== null) {
      answer.body.resume().on('error', () => undefined);
      return known;
    }
  }
  if (login !== null && REFUSALS.has(status)) await logins.refusedByCapi(login, status, ctx.log);
  if (status !== 200 || foreign || asked === null) return relayed(status, { headers, body: answer.body });
  const encoding = [headers['content-encoding']].flat()[0];
  const held = holdBack(LOGIN_BYTES, (said) =>
    logins.accepted(asked, { bytes: said, encoding }, attempt, ctx.log),
  );
  // A break on one side breaks the other; the reader of the stream gets the error.
  pipeline(answer.body, held, () => {});
  return relayed(status, { headers, body: held });
}

/** @throws AppError AUTH_ERROR for a network or a watcher that is not on the list */
async function admit(ctx: PublicContext, { access, deps }: RelayParts): Promise<void> {
  access.admitNetwork(ctx);
  if (!access.asksForWatcher) return;
  const { watcher } = await identifyWatcher(ctx.koa.req.headers.authorization, deps.watchers);
  try {
    access.admitWatcher(watcher);
  } catch (error) {
    ctx.koa.req.resume();
    throw error;
  }
}

async function senderOf(ctx: PublicContext, { watchers }: PassThroughDeps): Promise<Sender | null> {
  try {
    return await identifyWatcher(ctx.koa.req.headers.authorization, watchers);
  } catch (error) {
    ctx.log.error({ err: error }, 'a watcher could not be told');
    return null;
  }
}

function bodyOf(req: IncomingMessage): Readable | null {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
    ? req
    : null;
}
