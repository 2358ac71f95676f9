import { AppError } from '../../../schemas/app-error.js';
import {
  DeferredReleased,
  DiscardWaiting,
  WaitingDiscarded,
  WatcherParams,
  WatcherSteered,
} from '../../../schemas/signals/forwarding-api.js';
import { json, route } from '../../http/route.js';
import type { PublicContext, Route } from '../../http/route.js';
import type { ProxyDeps } from '../proxy-deps.js';
import { reportFailure } from './report-failure.js';
import type { ForwardingNotifiers } from '../intake/notify-forwarding.js';

type WatcherDeps = Pick<
  ProxyDeps,
  'alerts' | 'watchers' | 'logins' | 'metrics' | 'forwarding' | 'settings' | 'now'
> & {
  notify: ForwardingNotifiers;
};

/** One request releases or discards so many signals at most, in so many writes. */
const BATCH = 1000;
const BATCHES = 10;

const ERRORS = ['BAD_REQUEST', 'NOT_FOUND', 'UNEXPECTED_ERROR'] as const;
const FAILED = 'Failed to steer forwarding';

/** An operator's word on the queue of one watcher. */
export function watcherRoutes(deps: WatcherDeps): Route[] {
  return [pause(deps), resume(deps), retry(deps), release(deps), discard(deps)];
}

const common = {
  method: 'post',
  tag: 'Proxy management',
  auth: { key: 'dashboard' },
  request: { params: WatcherParams },
  responses: { 200: { description: 'Done', schema: WatcherSteered } },
} as const;

function pause(deps: WatcherDeps): Route {
  return route({
    ...common,
    path: '/api/forwarding/{watcher}/pause',
    summary: 'Holds the signals of a watcher back; they are still taken and stored',
    errors: [...ERRORS],
    async handle(_ctx, { params: { watcher } }) {
      await assertKnown(deps, watcher);
      // The actor reads the record before each offer, so it need not be told.
      await reportFailure(FAILED, () => deps.watchers.setPaused(watcher, deps.now()));
      return json(200, { watcher, paused: true, actorTold: true });
    },
  });
}

function resume(deps: WatcherDeps): Route {
  return route({
    ...common,
    path: '/api/forwarding/{watcher}/resume',
    summary: 'Lets the signals of a paused watcher go',
    errors: [...ERRORS],
    async handle(ctx, { params: { watcher } }) {
      await assertKnown(deps, watcher);
      await reportFailure(FAILED, () => deps.watchers.setPaused(watcher, null));
      return json(200, { watcher, paused: false, actorTold: await told(deps, watcher, ctx) });
    },
  });
}

function retry(deps: WatcherDeps): Route {
  return route({
    ...common,
    path: '/api/forwarding/{watcher}/retry',
    summary: 'Ends a back-off, a cool-down or a block of logins: the next offer is made now',
    errors: [...ERRORS, 'CONFLICT', 'SERVICE_UNAVAILABLE'],
    async handle(_ctx, { params: { watcher } }) {
      await assertKnown(deps, watcher);
      const record = await reportFailure(FAILED, () => deps.watchers.get(watcher));
      if (record !== null && record.pausedAt !== null)
        throw new AppError('CONFLICT', 'The watcher is paused; resume it instead');
      // Nothing but this word would be left of it: it is refused when it cannot be handed on.
      // Within a window of the budget: places that are taken now are free after it.
      const until = new Date(deps.now().getTime() + deps.settings.loginWindowMs);
      await reportFailure(FAILED, () => deps.logins.unblock(watcher, until));
      await deps.forwarding.urge(watcher, 'retry');
      const next = await reportFailure(FAILED, () => deps.metrics.next(watcher));
      if (next !== null) await deps.forwarding.urgeMetrics(watcher);
      return json(200, { watcher, paused: false, actorTold: true });
    },
  });
}

function release(deps: WatcherDeps): Route {
  return route({
    ...common,
    path: '/api/forwarding/{watcher}/release',
    summary:
      'Sends after all what was withheld while forwarding was switched off, behind everything that waits',
    responses: { 200: { description: 'They wait', schema: DeferredReleased } },
    errors: [...ERRORS, 'CONFLICT'],
    async handle({ log }, { params: { watcher } }) {
      await assertKnown(deps, watcher);
      if (!deps.settings.forwardEnabled) throw new AppError('CONFLICT', 'Forwarding is switched off');
      let released = 0;
      let left = true;
      for (let batch = 0; left && batch < BATCHES; batch += 1) {
        const done = await reportFailure(FAILED, () => deps.alerts.releaseDeferred(watcher, BATCH));
        released += done.released;
        left = done.left;
      }
      if (released > 0) deps.notify.signals(watcher, log);
      return json(200, { watcher, released, left });
    },
  });
}

function discard(deps: WatcherDeps): Route {
  return route({
    ...common,
    path: '/api/forwarding/{watcher}/discard',
    summary:
      'Gives up what waits now; the alerts stay. What is on its way at this moment and is taken counts as forwarded',
    request: { params: WatcherParams, body: DiscardWaiting },
    responses: { 200: { description: 'They will not be sent', schema: WaitingDiscarded } },
    errors: [...ERRORS],
    async handle({ koa, log }, { params: { watcher }, body }) {
      await assertKnown(deps, watcher);
      const { reason, deferred } = body;
      // What comes from now on was not meant, nor what came since the first of several requests.
      const now = deps.now();
      const receivedUntil = body.receivedUntil && body.receivedUntil < now ? body.receivedUntil : now;
      let discarded = 0;
      let left = true;
      try {
        for (let batch = 0; left && batch < BATCHES; batch += 1) {
          const done = await reportFailure(FAILED, () =>
            deps.alerts.discardWaiting(watcher, { reason, receivedUntil, limit: BATCH, deferred }),
          );
          discarded += done.discarded;
          left = done.left;
        }
      } finally {
        // Also of a request that failed half-way.
        log.info(
          { audit: 'discard', key: koa.state['key'] as string, watcher, reason, deferred, discarded, left },
          'waiting signals were discarded',
        );
      }
      return json(200, { watcher, discarded, left, receivedUntil: receivedUntil.toISOString() });
    },
  });
}

/** A misspelt name must not make a record, or an actor that waits for ever. */
async function assertKnown({ alerts, watchers }: WatcherDeps, watcher: string): Promise<void> {
  const known = await reportFailure(
    FAILED,
    async () =>
      (await watchers.get(watcher)) !== null ||
      (await alerts.nextWaiting(watcher, 1)).length > 0 ||
      // Of a sender without a token nothing else is left when its signals were given up.
      (await alerts.keptBack()).some((kept) => kept.watcher === watcher),
  );
  if (!known) throw new AppError('NOT_FOUND', 'Watcher not found');
}

async function told(deps: WatcherDeps, watcher: string, ctx: PublicContext): Promise<boolean> {
  try {
    await deps.forwarding.urge(watcher, 'resume');
    return true;
  } catch (error) {
    ctx.log.warn({ err: error, watcher }, 'the actor could not be told; it asks again within minutes');
    return false;
  }
}
