import { Context } from '@temporalio/activity';
import { rotatingShare } from './rotating-share.js';
import type { SendReport } from './signal-delivery.js';
import type { CapiClient } from '../ports/capi.js';
import type { MetricsStore } from '../ports/held-metrics.js';
import type { WatcherStore } from '../ports/signals.js';

export interface MetricsActivityDeps {
  metrics: MetricsStore;
  watchers: Pick<WatcherStore, 'token' | 'refuseToken'>;
  capi: Pick<CapiClient, 'sendMetrics'>;
  settings: {
    /** FORWARD_ENABLED: nothing leaves while it is off. */
    enabled: boolean;
    /** The sweep leaves alone what is younger: its gateway is about to tell the actor. */
    graceMs: number;
  };
  now?: () => Date;
}

/** CAPI has read them and keeps them not: sending them again would change nothing (wire contract, 6.2). */
const UNPROCESSABLE = 422;
const SWEEP_SHARE = 500;
/** As long as what CAPI refused. Of a machine that is gone they are never sent, and by then they tell nothing. */
const HELD_FOR_MS = 30 * 24 * 3_600_000;

/** Activities of the workflow that sends held metrics. The workflow gets ids only. */
export function createMetricsActivities(deps: MetricsActivityDeps) {
  const { metrics, watchers, capi, settings } = deps;
  const now = deps.now ?? (() => new Date());

  const readNextMetrics = async (watcher: string): Promise<{ id: string; part: boolean } | null> =>
    settings.enabled ? metrics.next(watcher) : null;

  /**
   * Offers one body once and removes it on a 2xx or a 422.
   * @throws AppError when the store fails before the offer
   */
  const sendMetrics = async ({ watcher, id }: { watcher: string; id: string }): Promise<SendReport> => {
    const signal = Context.current().cancellationSignal;
    if (!settings.enabled) return { outcome: 'nothing' };
    const held = await metrics.read(id);
    if (held === null) return { outcome: 'nothing' };
    const credential = await watchers.token(watcher);
    if (credential === null) return { outcome: 'no-token' };
    const result = await capi.sendMetrics(held.path, held.bytes, credential.token, signal);
    const delivered =
      result.outcome === 'accepted' || (result.outcome === 'rejected' && result.status === UNPROCESSABLE);
    if (delivered) {
      const marked = await metrics.remove(id).then(
        () => true,
        () => false,
      );
      return { outcome: 'accepted', status: result.status, count: 1, marked };
    }
    if (result.outcome === 'rejected' && result.status === 401)
      await watchers.refuseToken(watcher, credential.digest);
    return result;
  };

  /** For a body that CAPI took and that could not be removed at once. */
  const removeMetrics = (id: string): Promise<void> => metrics.remove(id);

  const refuseMetrics = (id: string, reason: string): Promise<void> => metrics.refuse(id, reason);

  const nextHoldingWatchers = rotatingShare(SWEEP_SHARE, (limit, offset) =>
    metrics.watchersHolding(new Date(now().getTime() - settings.graceMs), limit, offset),
  );

  /** Drops what has been held for too long first: this is asked by each sweep. */
  const dropOldAndFindHolding = async (): Promise<string[]> => {
    await metrics.dropHeld(new Date(now().getTime() - HELD_FOR_MS));
    return settings.enabled ? nextHoldingWatchers() : [];
  };

  return {
    nextMetrics: readNextMetrics,
    sendMetrics,
    removeMetrics,
    refuseMetrics,
    watchersHolding: dropOldAndFindHolding,
  };
}

export type MetricsActivities = ReturnType<typeof createMetricsActivities>;
