import { pipeline } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { readLogin } from '../../activities/capi/watcher-identity.js';
import { AppError } from '../../schemas/app-error.js';
import { API_VERSIONS } from '../../schemas/signals.js';
import { relayed, route } from '../route.js';
import type { Answer, PublicContext, Route } from '../route.js';
import { holdBack } from './hold-back.js';
import type { ProxyDeps } from './proxy-deps.js';
import { isLogin, relayTarget } from './relay-target.js';
import type { createWaker } from './wake-actor.js';

/** A login and its answer are a few hundred bytes; larger ones pass by unread. */
const LOGIN_BYTES = 64 * 1024;
/** A watcher gets its answer soon, whatever the store does. */
const LEARN_MS = 1000;

type PassThroughDeps = Pick<ProxyDeps, 'passThrough' | 'watchers'> & { wake: ReturnType<typeof createWaker> };

/** Everything under the two versions but the signals: handed to CAPI and back as it comes. */
export const passThroughRoutes = (deps: PassThroughDeps): Route[] =>
  API_VERSIONS.map((version) =>
    route({
      method: 'all',
      path: `/${version}/{+path}`,
      summary: 'Passed on to the central API as it comes, and its answer likewise',
      tag: 'Proxy relay',
      auth: { token: 'capi' },
      request: { params: z.object({ path: z.string() }) },
      responses: { 200: { description: "CAPI's own answer, whatever its status" } },
      errors: ['BAD_REQUEST', 'NOT_FOUND', 'CAPI_UNREACHABLE'],
      handle: (ctx) => passOn(ctx, deps),
    }),
  );

const passOn = async (ctx: PublicContext, deps: PassThroughDeps): Promise<Answer> => {
  const { req } = ctx.koa;
  const method = req.method ?? 'GET';
  const path = relayTarget(req.url ?? '/');
  const body = bodyOf(req);
  const login = isLogin(method, path) && body !== null ? watchLogin(ctx, deps, body) : null;
  try {
    const answer = await deps.passThrough(
      { method, path, headers: req.headers, body: login?.body ?? body },
      { signal: ctx.signal },
    );
    const { status, headers } = answer;
    return relayed(status, { headers, body: login === null ? answer.body : login.read(answer) });
  } catch (error) {
    if (error instanceof AppError && error.code === 'CAPI_UNREACHABLE')
      throw new AppError('CAPI_UNREACHABLE', undefined, {
        cause: error,
        details: { message: 'The central API cannot be reached, or does not answer in time' },
      });
    throw error;
  }
};

const bodyOf = (req: IncomingMessage): Readable | null =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
    ? req
    : null;

/**
 * A login that passes by tells which watcher holds which token. The answer is let go only when that is stored: the
 * watcher's next signals may come with it at once.
 */
const watchLogin = (ctx: PublicContext, deps: PassThroughDeps, body: Readable) => {
  const { req } = ctx.koa;
  let asked: Buffer | null = null;
  const learn = async (bytes: Buffer, encoding: string | undefined): Promise<void> => {
    if (asked === null) return;
    const login = readLogin({ bytes: asked, encoding: req.headers['content-encoding'] }, { bytes, encoding });
    if (login === null) return;
    try {
      const newer = await deps.watchers.saveToken(login.watcher, login.token, login.expiresAt);
      if (newer) deps.wake(login.watcher, ctx.log);
    } catch (error) {
      ctx.log.error({ err: error, watcher: login.watcher }, 'a token that passed by could not be kept');
    }
  };
  return {
    body: flow(
      body,
      holdBack(LOGIN_BYTES, (bytes) => {
        asked = bytes;
      }),
    ),
    read: ({ status, headers, body: answer }: Awaited<ReturnType<PassThroughDeps['passThrough']>>) =>
      status === 200
        ? flow(
            answer,
            holdBack(LOGIN_BYTES, (bytes) => soon(learn(bytes, [headers['content-encoding']].flat()[0]))),
          )
        : answer,
  };
};

const soon = (work: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LEARN_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};

/** What breaks on one side breaks on the other; who reads the end of it hears of it. */
const flow = (from: Readable, through: ReturnType<typeof holdBack>): Readable => {
  pipeline(from, through, () => {});
  return through;
};
