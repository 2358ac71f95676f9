/** The interfaces of the proxy job; see `adapters.ts` for the rules that hold for all of them. */
import type { SavedRuleStore } from './saved-rules.js';
import type { ApiKeyRecord, KeyScope } from '../../schemas/signals/api-keys.js';
import type {
  Alert,
  ApiVersion,
  EvaluatedSignal,
  NewAlert,
  QuarantinedAlert,
  WaitingItem,
  WatcherRecord,
} from '../../schemas/signals/signals.js';
import type { HourAggregate, RuleMatches } from '../../schemas/signals/statistics.js';
import type { CapiClient } from './capi.js';
import type { MetricsStore } from './held-metrics.js';
import type { IpInfo } from './ip-info.js';
import type { LoginStore } from './logins.js';

export interface AlertQuery {
  limit: number;
  offset: number;
  filtered?: boolean;
  forwardedToCapi?: boolean;
  /** Literal, case-insensitive part of the scenario. */
  scenario?: string;
  country?: string;
  machineId?: string;
  ip?: string;
  since?: Date;
  until?: Date;
  newerThan?: Date;
  /** Bytes of raw signals that the answer may hold; `rawJson` of the alerts after these is null. */
  rawBytes?: number;
}

export interface QueueSummary {
  watcher: string;
  waiting: number;
  oldestReceivedAt: Date | null;
  quarantined: number;
  /** The quarantined one received last, with the reason; null when there is none. */
  lastQuarantined: { id: number; reason: string } | null;
}

/** What of a watcher's signals is stored and does not go out, but for what waits and what a rule filtered. */
export interface KeptBackSummary {
  watcher: string;
  /** Came while forwarding was off. */
  deferred: number;
  /** By the loop guard. */
  withheld: number;
  discarded: number;
  /** The discarded one received last, with the reason; null when there is none. */
  lastDiscarded: { id: number; reason: string } | null;
}

/** A waiting signal as it goes out. */
export interface WaitingSignal {
  id: number;
  raw: string;
  receivedAt: Date;
}

export interface AlertStore {
  /**
   * Stores a batch durably (majority, journal), in order, ids ever increasing. An identity that is stored already is
   * skipped: offered twice, stored once. Answers how many were new and how many of those wait to be sent.
   */
  insert(alerts: readonly NewAlert[]): Promise<{ stored: number; waiting: number }>;
  get(id: number): Promise<Alert | null>;
  /** `receivedAt` descending, then id descending. */
  list(query: AlertQuery): Promise<Alert[]>;
  /** The oldest waiting items of a watcher, by id; released items go last. */
  nextWaiting(watcher: string, limit: number): Promise<WaitingItem[]>;
  /** The items' bytes in the order of the ids; ids that wait no longer are left out. */
  readWaiting(ids: readonly number[]): Promise<WaitingSignal[]>;
  /**
   * waiting → forwarded, by id; also what was discarded while CAPI took it. Who has read the signals says when they
   * were received; else it is looked up.
   */
  markForwarded(ids: readonly number[], at: Date, receivedAt?: readonly Date[]): Promise<void>;
  /** waiting → quarantined, with CAPI's reason. */
  quarantine(id: number, reason: string): Promise<void>;
  /** What is quarantined, the latest first. */
  quarantined(query: { watcher?: string; limit: number; offset: number }): Promise<QuarantinedAlert[]>;
  /**
   * quarantined → waiting, behind everything that is stored. Answers whose it is; `not-releasable` for one that was too
   * large to be kept, null when none of this id is quarantined.
   */
  release(id: number): Promise<{ watcher: string } | 'not-releasable' | null>;
  /**
   * withheld → waiting, behind everything that is stored, in order of receipt: at most so many of those that a watcher
   * sent while forwarding was off. Answers how many, and whether there may be more, also where another call took its
   * part of them. What the loop guard holds back stays.
   */
  releaseDeferred(watcher: string, limit: number): Promise<{ released: number; left: boolean }>;
  /** quarantined → discarded, for good; the record stays. Answers whether one of this id was quarantined. */
  discard(id: number): Promise<boolean>;
  /**
   * waiting → discarded, for good; the records stay. At most so many, the first of the queue, of those that were
   * received up to a time. Answers how many it discarded, and whether there may be more.
   * @param options.deferred instead of what waits, what is withheld for a reason of `DEFERRED_REASONS`
   */
  discardWaiting(
    watcher: string,
    options: { reason: string; receivedUntil: Date; limit: number; deferred?: boolean },
  ): Promise<{ discarded: number; left: boolean }>;
  /** Stored signals from the newest backwards, below an id; those whose bytes were not kept are left out. */
  readBack(query: { belowId: number | null; limit: number }): Promise<EvaluatedSignal[]>;
  summaries(): Promise<QueueSummary[]>;
  /** Watchers with signals that were withheld or discarded. */
  keptBack(): Promise<KeptBackSummary[]>;
  /** Watchers with items that wait since before a point in time, without so many from the front; for the sweep. */
  watchersWaiting(before: Date, limit: number, offset?: number): Promise<string[]>;
  /**
   * Removes alerts received at or before a point in time, the oldest first, and answers how many. What waits for CAPI
   * or for a person (`waiting`, `quarantined`, and `withheld` for a reason of `DEFERRED_REASONS`) stays, however old.
   */
  removeOld(before: Date, limit: number): Promise<number>;
  /** quarantined → discarded, as `discardWaiting` does, of one watcher or over all. */
  discardQuarantined(options: {
    watcher?: string;
    reason: string;
    receivedUntil: Date;
    limit: number;
  }): Promise<{ discarded: number; left: boolean }>;
  /** Of those received at or before a time, counted to a limit: what `removeOld` takes, or what is in quarantine. */
  countOld(which: 'removable' | 'quarantined', before: Date, limit: number): Promise<number>;
}

/** Hourly numbers of the stored alerts, never out of date. */
export interface StatisticsStore {
  /**
   * The hours since a point in time, oldest first, each counted from exactly the alerts received in it; with `since`
   * in the middle of an hour, that hour is counted from there on. Null: all. Hours without alerts may be missing.
   */
  read(since: Date | null): Promise<HourAggregate[]>;
  /** How many of the stored alerts each rule matched, by its name; rules that matched none are missing. */
  ruleMatches(): Promise<Map<string, RuleMatches>>;
  /** Counts anew what has changed, at most so many segments of alerts, the latest first; `left` when there is more. */
  recompute(limit: number): Promise<{ counted: number; left: boolean }>;
  /** Removes what is kept of hours before a point in time that have come to hold nothing. */
  forget(before: Date): Promise<void>;
}

export interface WatcherStore {
  get(watcher: string): Promise<WatcherRecord | null>;
  list(): Promise<WatcherRecord[]>;
  /**
   * Keeps a token of a watcher, encrypted; a token that CAPI refused is never taken again. `newer`: than what was there
   * (by its expiry, else by arrival), so that the actor may try with it. One that CAPI took replaces any that it never
   * took, and is never replaced by such a one: any client can make up claims and expiry. `loginWanted`: whether
   * `takeLoginWanted` has to be asked, which spares each push a question.
   * @param newcomer makes a record that is not there yet one of an unknown watcher, as `admit` does
   */
  saveToken(
    watcher: string,
    token: string,
    expiresAt: Date | null,
    newcomer?: { address: string; at: Date; lifetimeMs: number },
  ): Promise<{ newer: boolean; loginWanted: boolean }>;
  /** The newest token, decrypted; null when there is none, or when CAPI refused it. */
  token(watcher: string): Promise<{ token: string; digest: string } | null>;
  /** CAPI took a token: requests with it are this watcher's. A refused one stays refused. */
  acceptToken(watcher: string, digest: string): Promise<void>;
  /** What CAPI thinks of a token, as far as we saw it. */
  standing(watcher: string, digest: string): Promise<'accepted' | 'refused' | 'unknown'>;
  /** Remembers by digest that CAPI refused a token (401) and asks for a login at the watcher's next request. */
  refuseToken(watcher: string, digest: string): Promise<void>;
  /**
   * Asks for a login when no token of the watcher is of use: also where a refusal was cut short after its first half.
   */
  wantLogin(watcher: string): Promise<void>;
  /**
   * True once after `refuseToken`: one guarded update, so that of two requests one is told. A minute later once more,
   * as long as no newer token has come: an answer may be lost on its way.
   */
  takeLoginWanted(watcher: string, now: Date): Promise<boolean>;
  /** Which watcher logged in with this token, for tokens whose claims do not tell. */
  watcherOfToken(digest: string): Promise<string | null>;
  /**
   * Whether something of a watcher may be stored. One without a record gets one and is unknown, which takes one of
   * so many places of its address until CAPI takes a token of it or its time is over; coming again prolongs that. For a
   * unknown one without a place: when to come again, and nothing is kept. A record that forwarding had to make, of a
   * watcher that is not known, takes its place at the next push.
   */
  admit(
    watcher: string,
    place: { address: string; at: Date; places: number; lifetimeMs: number },
  ): Promise<'known' | 'unknown' | Date>;
  /** Unknown watchers whose time is over, the longest first; `refused`: CAPI refused what tokens there were. */
  expiredUnknownWatchers(at: Date, limit: number): Promise<{ watcher: string; refused: boolean }[]>;
  /** Removes the record of an unknown watcher whose time is over. */
  removeUnknownWatcher(watcher: string, at: Date): Promise<void>;
  /** Gives an unknown watcher more time. */
  prolongUnknownWatcher(watcher: string, until: Date): Promise<void>;
  /** Holds the watcher's signals back, or lets them go (null). Pausing twice keeps the first time. */
  setPaused(watcher: string, at: Date | null): Promise<void>;
  recordSuccess(watcher: string, at: Date): Promise<void>;
  recordError(
    watcher: string,
    error: NonNullable<WatcherRecord['lastError']>,
    nextAttemptAt: Date | null,
  ): Promise<void>;
  /**
   * Watchers that wait for their next attempt until after a point in time, because CAPI could not be reached or failed,
   * although it has taken signals of another since; at most so many.
   */
  heldByOutage(until: Date, limit: number): Promise<string[]>;
}

/** The named keys of the management side, by the SHA-256 of each. */
export interface ApiKeyStore {
  /** Answers false when the name is taken. */
  create(key: {
    id: string;
    name: string;
    scopes: readonly KeyScope[];
    digest: string;
    at: Date;
  }): Promise<boolean>;
  /** By name. */
  list(): Promise<ApiKeyRecord[]>;
  /** Whose key this is: a present one, or one that was rotated away and is still valid. */
  find(digest: string, now: Date): Promise<ApiKeyRecord | null>;
  /** Null when there is no such key. */
  rotate(
    id: string,
    next: { digest: string; previousUntil: Date | null; at: Date },
  ): Promise<ApiKeyRecord | null>;
  /** Answers what is gone now. */
  remove(id: string): Promise<ApiKeyRecord | null>;
  /** Notes a use. */
  touch(id: string, at: Date): Promise<void>;
}

/** The decisions of a watcher, aggregated into a full set, as compressed bytes. */
/** The full set of a watcher's decisions. */
export interface DecisionCopy {
  bytes: Buffer;
  at: Date;
  /** An answer went to the watcher, or is on its way to it, that is not in the copy. */
  behind: boolean;
}

export interface DecisionCopyStore {
  read(watcher: string, version: ApiVersion): Promise<(DecisionCopy & { revision: number }) | null>;
  /** Replaces the copy of that revision (0: there was none); false when it was replaced meanwhile. */
  write(watcher: string, version: ApiVersion, copy: DecisionCopy, revision: number): Promise<boolean>;
  /** Of a copy that is there. Whether it was behind before. */
  setBehind(watcher: string, version: ApiVersion, behind: boolean): Promise<boolean>;
  /** What cannot be kept whole must not be served. */
  drop(watcher: string, version: ApiVersion): Promise<void>;
}

/** What the gateway asks of Temporal for the proxy. Failing is harmless: the sweep hands over what was stored. */
export interface ForwardingStarter {
  notifySignals(watcher: string): Promise<void>;
  /** Likewise for metrics that are held. */
  notifyMetrics(watcher: string): Promise<void>;
  /**
   * Ends the actor's wait: `resume` the one of a pause, `retry` whatever it waits for. Starts it when there is none.
   * @throws AppError SERVICE_UNAVAILABLE when Temporal cannot be reached
   */
  urge(watcher: string, word: 'resume' | 'retry'): Promise<void>;
  /** `retry` for metrics that are held. @throws AppError likewise */
  urgeMetrics(watcher: string): Promise<void>;
}

export interface SignalStores {
  alerts: AlertStore;
  statistics: StatisticsStore;
  watchers: WatcherStore;
  metrics: MetricsStore;
}

export interface GatewayProxyAdapters extends SignalStores {
  keys: ApiKeyStore;
  savedRules: SavedRuleStore;
  ipInfo: IpInfo;
  logins: LoginStore;
  copies: DecisionCopyStore;
}

export interface WorkerProxyAdapters extends SignalStores {
  capi: CapiClient;
}
