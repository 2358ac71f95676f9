import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { ApiVersion, HoldCause, WaitingItem } from '../schemas/signals.js';
import type { AlertStore, CapiClient, DeliveryResult, WatcherStore } from './proxy-ports.js';

/** What crosses from plan to hands: ids. The signals stay in the store. */
export interface SignalBatch {
  version: ApiVersion;
  ids: number[];
}

/** What came of offering a batch, in plain JSON. */
export type SendReport =
  /** `marked` is false when CAPI took it and the store then failed: the marks are still to be set. */
  | { outcome: 'accepted'; status: number; count: number; marked: boolean }
  /** Nothing of it waits any more, or forwarding is switched off. */
  | { outcome: 'nothing' }
  /** An operator holds this watcher's signals back. */
  | { outcome: 'paused' }
  | { outcome: 'no-token' }
  | Exclude<DeliveryResult, { outcome: 'accepted' }>;

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
    'nextWaiting' | 'readWaiting' | 'markForwarded' | 'quarantine' | 'watchersWaiting'
  >;
  watchers: Pick<
    WatcherStore,
    'get' | 'token' | 'refuseToken' | 'wantLogin' | 'recordSuccess' | 'recordError'
  >;
  capi: CapiClient;
  settings: {
    /** FORWARD_ENABLED: nothing leaves while it is off, also not what waited before. */
    enabled: boolean;
    /** The sweep leaves alone what is younger: its gateway is about to tell the actor. */
    graceMs: number;
  };
  now?: () => Date;
}

/** The size of a LAPI's own pushes. */
const BATCH_ITEMS = 50;
/** CAPI refuses bodies over about 10 MiB (wire contract, 6.2); a single item may be larger than this. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Each run of the sweep takes at most so many watchers. */
const SWEEP_SHARE = 500;
const MARK_TRIES = 3;

/** The hands of the forwarding plans. */
export const createForwardingActivities = (deps: ForwardingActivityDeps) => {
  const { alerts, watchers, capi, settings } = deps;
  const now = deps.now ?? (() => new Date());

  /** The oldest waiting signals that may travel together. */
  const nextBatch = async (watcher: string): Promise<SignalBatch | null> => {
    if (!settings.enabled) return null;
    return batchOf(await alerts.nextWaiting(watcher, BATCH_ITEMS));
  };

  /**
   * Offers a batch once and, on a 2xx, marks it in the same breath. The same ids give the same bytes.
   * @throws AppError when the store fails before the offer
   */
  const sendBatch = async ({
    watcher,
    version,
    ids,
  }: SignalBatch & { watcher: string }): Promise<SendReport> => {
    const signal = Context.current().cancellationSignal;
    if (!settings.enabled) return { outcome: 'nothing' };
    // Asked of the store before each offer, so that a pause outlives the actor that was told of it.
    const record = await watchers.get(watcher);
    if (record !== null && record.pausedAt !== null) return { outcome: 'paused' };
    const items = await alerts.readWaiting(ids);
    if (items.length === 0) return { outcome: 'nothing' };
    const credential = await watchers.token(watcher);
    if (credential === null) {
      await watchers.wantLogin(watcher);
      return { outcome: 'no-token' };
    }

    const body = `[${items.map((item) => item.raw).join(',')}]`;
    const result = await capi.sendSignals(version, body, credential.token, signal);
    if (result.outcome === 'accepted') {
      const taken = items.map((item) => item.id);
      const marked = await succeeds(MARK_TRIES, () => alerts.markForwarded(taken, now()));
      await succeeds(1, () => watchers.recordSuccess(watcher, now()));
      return { outcome: 'accepted', status: result.status, count: taken.length, marked };
    }
    if (result.outcome === 'rejected' && result.status === 401)
      await watchers.refuseToken(watcher, credential.digest);
    return result;
  };

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

  const watchersWaiting = async (): Promise<string[]> =>
    settings.enabled ? alerts.watchersWaiting(new Date(now().getTime() - settings.graceMs), SWEEP_SHARE) : [];

  return { nextBatch, sendBatch, markForwarded, quarantineSignal, recordHold, watchersWaiting };
};

export type ForwardingActivities = ReturnType<typeof createForwardingActivities>;

/** As many from the front as share one version of the protocol and fit one body; the first one always. */
const batchOf = (waiting: readonly WaitingItem[]): SignalBatch | null => {
  const first = waiting[0];
  if (first === undefined) return null;
  const ids: number[] = [];
  let bytes = 0;
  for (const item of waiting) {
    bytes += item.bytes + 1;
    if (ids.length > 0 && (item.version !== first.version || bytes > BATCH_BYTES)) break;
    ids.push(item.id);
  }
  return { version: first.version, ids };
};

/** What follows a 2xx must not throw: the report that CAPI took the batch is worth more. */
const succeeds = async (tries: number, write: () => Promise<void>): Promise<boolean> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await write();
      return true;
    } catch {
      if (attempt >= tries) return false;
      await sleep(200 * attempt);
    }
  }
};
