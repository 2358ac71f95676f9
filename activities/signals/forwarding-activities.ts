import { Context } from '@temporalio/activity';
import type { HoldCause } from '../../schemas/signals/signals.js';
import type { CapiClient } from '../ports/capi.js';
import type { AlertStore, WatcherStore } from '../ports/signals.js';
import type { Meter } from '../ports/meter.js';
import { rotatingShare } from './rotating-share.js';
import { TAKEN_UP, createSignalDelivery, toBatches } from './signal-delivery.js';
import type { SendReport, SeveralReport, SignalBatch } from './signal-delivery.js';

/** Why a queue stands, and until when (milliseconds since 1970). */
export interface RecordedHold {
  cause: HoldCause;
  status: number | null;
  message: string;
  untilMs: number;
}

export interface ForwardingActivityDeps {
  alerts: Pick<
    AlertStore,
    | 'nextWaiting'
    | 'readWaiting'
    | 'markForwarded'
    | 'quarantine'
    | 'watchersWaiting'
    | 'discardWaiting'
    | 'discardQuarantined'
  >;
  watchers: Pick<
    WatcherStore,
    | 'get'
    | 'token'
    | 'acceptToken'
    | 'refuseToken'
    | 'wantLogin'
    | 'recordSuccess'
    | 'recordError'
    | 'heldByOutage'
    | 'expiredUnknownWatchers'
    | 'removeUnknownWatcher'
    | 'prolongUnknownWatcher'
  >;
  capi: CapiClient;
  meter?: Pick<Meter, 'signalsForwarded'>;
  settings: {
    /** FORWARD_ENABLED: nothing leaves while it is off, also not what waited before. */
    enabled: boolean;
    /** FORWARD_PACE_MS: the least time between two batches of a watcher. */
    paceMs: number;
    /** The sweep leaves alone what is younger: its gateway is about to tell the actor. */
    graceMs: number;
  };
  now?: () => Date;
  monotonicMs?: () => number;
}

/** Each run of the sweep takes at most so many watchers, and the next one those behind them. */
const SWEEP_SHARE = 500;
/** Unknown watchers that one run of the sweep looks at, and signals of one of them that it gives up. */
const EXPIRED_SHARE = 50;
const DISCARDED_SHARE = 2_000;
const ASK_AGAIN_MS = 3_600_000;
const NEVER_LET_IN = 'the central API never let this watcher in';
/** A back-off that ends within this time is left alone. */
const SOON_MS = 5_000;

/** Activities of the forwarding workflows. */
export function createForwardingActivities(deps: ForwardingActivityDeps) {
  const { alerts, watchers, settings } = deps;
  const now = deps.now ?? (() => new Date());
  const delivery = createSignalDelivery({
    ...deps,
    now,
    monotonicMs: deps.monotonicMs ?? (() => performance.now()),
  });

  /** What waits longest, in batches; `more` when there is more than that. */
  const readNextBatches = async (watcher: string): Promise<{ batches: SignalBatch[]; more: boolean }> => {
    if (!settings.enabled) return { batches: [], more: false };
    const waiting = await alerts.nextWaiting(watcher, TAKEN_UP);
    return { batches: toBatches(waiting), more: waiting.length === TAKEN_UP };
  };

  /**
   * Offers batches one after the other, marks each on its 2xx, and ends at the first one that is not taken. Its
   * heartbeat says how far it has come.
   * @throws AppError when the store fails before the first offer
   */
  const sendBatches = async (work: { watcher: string; batches: SignalBatch[] }): Promise<SeveralReport> => {
    const context = Context.current();
    return delivery.several(work, context.cancellationSignal, (progress) => context.heartbeat(progress));
  };

  /** The oldest waiting signals that may travel together; for actors that began before `nextBatches` came. */
  const readNextBatch = async (watcher: string): Promise<SignalBatch | null> =>
    (await readNextBatches(watcher)).batches[0] ?? null;

  /**
   * Offers a batch once and marks it on a 2xx; for actors that began before `sendBatches` came.
   * @throws AppError when the store fails before the offer
   */
  const sendBatch = async (batch: SignalBatch & { watcher: string }): Promise<SendReport> =>
    delivery.one(batch, Context.current().cancellationSignal);

  /** For a batch that CAPI took and whose marks could not be set at once. */
  const markForwarded = async ({ watcher, ids }: { watcher: string; ids: number[] }): Promise<void> => {
    await alerts.markForwarded(ids, now());
    await watchers.recordSuccess(watcher, now());
  };

  /** Steps over a signal that CAPI refuses for good; it stays, with CAPI's reason, for a person to look at. */
  const quarantineSignal = async (refused: {
    watcher: string;
    id: number;
    status: number | null;
    message: string;
  }): Promise<void> => {
    const { watcher, id, status } = refused;
    const message = `CAPI answered ${status}: ${refused.message}`;
    await alerts.quarantine(id, message);
    await watchers.recordError(watcher, { at: now(), cause: 'refused', status, message }, null);
  };

  /** Tells the management side why a queue stands and when it moves again. */
  const recordHold = async ({ watcher, hold }: { watcher: string; hold: RecordedHold }): Promise<void> => {
    const { cause, status, message, untilMs } = hold;
    await watchers.recordError(watcher, { at: now(), cause, status, message }, new Date(untilMs));
  };

  /**
   * Watchers that CAPI never let in and that have not come for long leave no record, nothing for an actor to do, and
   * nothing that retention may not take. While CAPI could not be asked about what waits, it goes on waiting.
   */
  const expireUnknownWatchers = async (): Promise<void> => {
    const at = now();
    for (const { watcher, refused } of await watchers.expiredUnknownWatchers(at, EXPIRED_SHARE)) {
      const giveUp = { reason: NEVER_LET_IN, receivedUntil: at, limit: DISCARDED_SHARE };
      const [waiting] = await alerts.nextWaiting(watcher, 1);
      if (waiting === undefined) {
        const quarantined = await alerts.discardQuarantined({ watcher, ...giveUp });
        const deferred = await alerts.discardWaiting(watcher, { ...giveUp, deferred: true });
        if (quarantined.discarded + deferred.discarded === 0)
          await watchers.removeUnknownWatcher(watcher, at);
      }
      // Its record goes with a later run, when no offer is under way any more.
      else if (refused) await alerts.discardWaiting(watcher, giveUp);
      else await watchers.prolongUnknownWatcher(watcher, new Date(at.getTime() + ASK_AGAIN_MS));
    }
  };

  const nextWaitingWatchers = rotatingShare(SWEEP_SHARE, (limit, offset) =>
    alerts.watchersWaiting(new Date(now().getTime() - settings.graceMs), limit, offset),
  );

  const expireAndFindWaiting = async (): Promise<string[]> => {
    await expireUnknownWatchers();
    return settings.enabled ? nextWaitingWatchers() : [];
  };

  /** Who still backs off from an outage that is over for another; what ends in a moment ends by itself. */
  const findNeedlesslyHeld = async (): Promise<string[]> =>
    settings.enabled ? watchers.heldByOutage(new Date(now().getTime() + SOON_MS), SWEEP_SHARE) : [];

  return {
    nextBatches: readNextBatches,
    sendBatches,
    nextBatch: readNextBatch,
    sendBatch,
    markForwarded,
    quarantineSignal,
    recordHold,
    watchersWaiting: expireAndFindWaiting,
    needlesslyHeld: findNeedlesslyHeld,
  };
}

export type ForwardingActivities = ReturnType<typeof createForwardingActivities>;
