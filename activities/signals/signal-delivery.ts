import { setTimeout as sleep } from 'node:timers/promises';
import type { Meter } from '../ports/meter.js';
import type { ApiVersion, WaitingItem } from '../../schemas/signals/signals.js';
import type { CapiClient, DeliveryResult } from '../ports/capi.js';
import type { AlertStore, WaitingSignal, WatcherStore } from '../ports/signals.js';

/** What crosses between workflow and activity: ids. The signals stay in the store. */
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

/** How far the sending of several batches has come; the heartbeat of the activity. */
export interface SendProgress {
  /** Batches from the front that are over: CAPI has them, or nothing of them waits any more. */
  done: number;
  /** Signals of these that CAPI took. */
  forwarded: number;
}

/** What came of offering several batches, one after the other. */
export interface SeveralReport extends SendProgress {
  /** Ids of the last batch that is done, when CAPI took it and the store then failed: the marks are still to be set. */
  unmarked: number[];
  /** Why the batch behind those that are done was not taken; null when it was not offered. */
  report: Exclude<SendReport, { outcome: 'accepted' | 'nothing' }> | null;
  /** Before the next offer so many milliseconds have to pass (FORWARD_PACE_MS). */
  restMs: number;
}

export interface SignalDeliveryDeps {
  alerts: Pick<AlertStore, 'readWaiting' | 'markForwarded'>;
  watchers: Pick<
    WatcherStore,
    'get' | 'token' | 'acceptToken' | 'refuseToken' | 'wantLogin' | 'recordSuccess'
  >;
  capi: Pick<CapiClient, 'sendSignals'>;
  meter?: Pick<Meter, 'signalsForwarded'>;
  settings: {
    /** FORWARD_ENABLED: nothing leaves while it is off, also not what waited before. */
    enabled: boolean;
    /** FORWARD_PACE_MS: the least time between two batches of a watcher. */
    paceMs: number;
  };
  now: () => Date;
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number;
}

interface Credential {
  token: string;
  digest: string;
  /** The time at which the record of the watcher says that this token came. */
  updatedAtMs: number;
}

/** The size of a LAPI's own pushes. */
const BATCH_ITEMS = 50;
/** CAPI refuses bodies over about 10 MiB (wire contract, 6.2); a single item may be larger than this. */
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * So many signals are taken up at a time. Their ids pass through the history twice, 16 kB each; the steps of the
 * workflow that this costs are a tenth of the time in which CAPI takes them.
 */
export const TAKEN_UP = 40 * BATCH_ITEMS;

/**
 * One call offers batches for so long. Shorter than the heartbeat time-out of the activity (10 s): a worker that is
 * taken for dead, and is not, has stopped offering before another one begins with the same watcher.
 */
export const SENDING_MS = 5_000;

/** A pace is kept within the activity up to here. A longer one is a timer of the workflow and occupies no slot. */
const MAX_PACE_INSIDE_MS = 1_000;

/** The next batch is read while this one is sent, unless they are large: a hundred watchers may send at once. */
const MAX_READ_AHEAD_BYTES = 512 * 1024;

const MARK_TRIES = 3;

/** Cuts what waits into batches, in order: each of one version of the protocol, and within one body. */
export function toBatches(waiting: readonly WaitingItem[]): SignalBatch[] {
  const batches: SignalBatch[] = [];
  let bytes = 0;
  for (const item of waiting) {
    const last = batches.at(-1);
    bytes += item.bytes + 1;
    const fits =
      last !== undefined &&
      last.version === item.version &&
      last.ids.length < BATCH_ITEMS &&
      bytes <= BATCH_BYTES;
    if (fits) last.ids.push(item.id);
    else {
      batches.push({ version: item.version, ids: [item.id] });
      bytes = item.bytes + 1;
    }
  }
  return batches;
}

/** Offers a watcher's batches to CAPI, one request at a time. The same ids give the same bytes. */
export function createSignalDelivery(deps: SignalDeliveryDeps) {
  const { alerts, watchers, capi, settings, now, monotonicMs } = deps;

  /**
   * Offers a batch once and, on a 2xx, marks it before anything else happens.
   * @param read reads the signals, or has read them ahead
   * @param known the token of the offer before; asked for again as soon as the record of the watcher names another
   * @throws AppError when the store fails before the offer
   */
  // eslint-disable-next-line complexity -- one offer from its guards to its outcome
  async function offer(
    { watcher, version }: { watcher: string; version: ApiVersion },
    read: () => Promise<readonly WaitingSignal[]>,
    { known = null, signal, whileSending }: OfferOptions,
  ): Promise<{ report: SendReport; unmarked: number[]; credential: Credential | null }> {
    if (!settings.enabled) return { report: { outcome: 'nothing' }, unmarked: [], credential: null };
    // Asked of the store before each offer, so that a pause outlives the actor that was told of it.
    const record = await watchers.get(watcher);
    if (record !== null && record.pausedAt !== null)
      return { report: { outcome: 'paused' }, unmarked: [], credential: null };
    const items = await read();
    if (items.length === 0) return { report: { outcome: 'nothing' }, unmarked: [], credential: known };
    const updatedAtMs = record?.tokenUpdatedAt?.getTime() ?? 0;
    const credential =
      known !== null && known.updatedAtMs === updatedAtMs ? known : await readToken(watcher, updatedAtMs);
    if (credential === null) {
      await watchers.wantLogin(watcher);
      return { report: { outcome: 'no-token' }, unmarked: [], credential };
    }

    const body = `[${items.map((item) => item.raw).join(',')}]`;
    const sending = capi.sendSignals(version, body, credential.token, signal);
    whileSending?.(body.length);
    const result = await sending;
    if (result.outcome === 'accepted') {
      // Once for each token that is read: from now on no token that CAPI never took displaces it.
      if (credential !== known) await succeeds(1, () => watchers.acceptToken(watcher, credential.digest));
      const ids = items.map(({ id }) => id);
      deps.meter?.signalsForwarded(ids.length);
      const receivedAt = items.map((item) => item.receivedAt);
      const marked = await succeeds(MARK_TRIES, () => alerts.markForwarded(ids, now(), receivedAt));
      const report: SendReport = { outcome: 'accepted', status: result.status, count: ids.length, marked };
      return { report, unmarked: marked ? [] : ids, credential };
    }
    if (result.outcome === 'rejected' && result.status === 401)
      await watchers.refuseToken(watcher, credential.digest);
    return { report: result, unmarked: [], credential };
  }

  async function readToken(watcher: string, updatedAtMs: number): Promise<Credential | null> {
    const found = await watchers.token(watcher);
    return found === null ? null : { ...found, updatedAtMs };
  }

  async function recordSuccess(watcher: string): Promise<void> {
    await succeeds(1, () => watchers.recordSuccess(watcher, now()));
  }

  return {
    async one(
      { watcher, version, ids }: SignalBatch & { watcher: string },
      signal: AbortSignal,
    ): Promise<SendReport> {
      const { report } = await offer({ watcher, version }, () => alerts.readWaiting(ids), { signal });
      if (report.outcome === 'accepted') await recordSuccess(watcher);
      return report;
    },

    /**
     * Offers batches one after the other until one is not taken, or until another call has to go on. Each is marked
     * before the next one is offered, so at most one batch can have reached CAPI without being marked in the store.
     * @throws AppError when the store fails before the first offer; later that ends the call, and the next one throws
     */
    async several(
      { watcher, batches }: { watcher: string; batches: readonly SignalBatch[] },
      signal: AbortSignal,
      heartbeat: (progress: SendProgress) => void,
    ): Promise<SeveralReport> {
      const from = monotonicMs();
      const result: SeveralReport = { done: 0, forwarded: 0, unmarked: [], report: null, restMs: 0 };
      const readAt = (index: number) => alerts.readWaiting(batches[index]?.ids ?? []);
      let credential: Credential | null = null;
      const readAhead = new Map<number, Promise<readonly WaitingSignal[]>>();

      for (const [index, { version }] of batches.entries()) {
        if (signal.aborted || (index > 0 && monotonicMs() - from >= SENDING_MS)) break;
        const items = readAhead.get(index);
        readAhead.delete(index);
        let offered;
        try {
          offered = await offer({ watcher, version }, () => items ?? readAt(index), {
            known: credential,
            signal,
            whileSending(bytes) {
              if (index + 1 === batches.length || bytes > MAX_READ_AHEAD_BYTES) return;
              const next = readAt(index + 1);
              // Whether it failed matters when it is used.
              next.catch(() => undefined);
              readAhead.set(index + 1, next);
            },
          });
        } catch (error) {
          if (index === 0) throw error;
          break;
        }
        credential = offered.credential;
        const { report, unmarked } = offered;
        if (report.outcome !== 'accepted' && report.outcome !== 'nothing') {
          result.report = report;
          break;
        }
        result.done += 1;
        if (report.outcome === 'nothing') continue;
        result.forwarded += report.count;
        heartbeat({ done: result.done, forwarded: result.forwarded });
        // The next batch must not overtake these marks: the workflow sets them, however long the store is away.
        if (unmarked.length > 0) {
          result.unmarked = unmarked;
          break;
        }
        if (settings.paceMs > MAX_PACE_INSIDE_MS) {
          result.restMs = settings.paceMs;
          break;
        }
        if (settings.paceMs > 0) await sleep(settings.paceMs, undefined, { signal }).catch(() => undefined);
      }
      // Once for all of them, and before the workflow notes what came of the others.
      if (result.forwarded > 0) await recordSuccess(watcher);
      return result;
    },
  };
}

interface OfferOptions {
  known?: Credential | null;
  signal: AbortSignal;
  whileSending?: (bytes: number) => void;
}

/** What follows a 2xx must not throw: the report that CAPI took the batch is worth more. */
async function succeeds(tries: number, write: () => Promise<void>): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await write();
      return true;
    } catch {
      if (attempt >= tries) return false;
      await sleep(200 * attempt);
    }
  }
}
