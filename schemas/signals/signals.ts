import type { DecisionCount } from './statistics.js';

/** The records of the proxy job: what a local API server (LAPI) pushes, and what we keep of it. */

/** The two spellings of the protocol; a signal is forwarded on the version on which it was received. */
export const API_VERSIONS = ['v2', 'v3'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

/**
 * Where a stored alert stands on its way to the central API (CAPI): `filtered` by a rule, `withheld` by the loop guard
 * or because forwarding was off, `waiting` to be sent, `forwarded` on a 2xx, `quarantined` when CAPI refuses it for
 * good or its shape is wrong, `discarded` when an operator gave it up, quarantined or waiting.
 */
export type DeliveryState = 'filtered' | 'withheld' | 'waiting' | 'forwarded' | 'quarantined' | 'discarded';

/** Why an alert that arrived while forwarding was off is `withheld`; an operator may let such ones go later. */
export const FORWARDING_WAS_OFF = 'forwarding is disabled';

/** Why an alert that waited when a backup was made is `withheld` once it is restored; released likewise. */
export const RESTORED_WHILE_WAITING = 'restored from a backup: it may have been sent since';

/** Reasons of what an operator may let go. */
export const DEFERRED_REASONS: readonly string[] = [FORWARDING_WAS_OFF, RESTORED_WHILE_WAITING];

/** In front of the digest that names a sender whose token, if it has any, does not tell a watcher. */
export const NAMELESS = 'hash:';

/** Between two answers that ask for the same login; any LAPI has logged in by then. */
export const LOGIN_REMINDER_MS = 60_000;

/** The 41 fields of the management API, always all of them (proxy seed, "Alert"). Times are ISO 8601 in UTC. */
export interface Alert {
  id: number;
  uuid: string | null;
  machineId: string | null;
  scenario: string;
  scenarioHash: string | null;
  scenarioVersion: string | null;
  message: string | null;
  eventsCount: number | null;
  capacity: number | null;
  leakspeed: string | null;
  startAt: string | null;
  stopAt: string | null;
  createdAt: string | null;
  receivedAt: string;
  simulated: boolean | null;
  remediation: boolean | null;
  hasDecisions: boolean | null;
  replicated: boolean | null;
  sourceScope: string | null;
  sourceValue: string | null;
  sourceIp: string | null;
  sourceRange: string | null;
  sourceAsNumber: string | null;
  sourceAsName: string | null;
  sourceCn: string | null;
  geoCountryCode: string | null;
  geoCountryName: string | null;
  geoCity: string | null;
  geoRegion: string | null;
  geoLatitude: number | null;
  geoLongitude: number | null;
  geoTimezone: string | null;
  geoIsp: string | null;
  geoOrg: string | null;
  filtered: boolean | null;
  filterReasons: string | null;
  forwardedToCapi: boolean | null;
  forwardedAt: string | null;
  localAudit: boolean | null;
  actor: string | null;
  rawJson: string | null;
}

/** A signal that has been validated and evaluated, on its way into the store. */
export interface NewAlert {
  /** Unique per watcher: the uuid, or a digest of the item where the client gives none (LAPI before 1.5). */
  identity: string;
  watcher: string;
  version: ApiVersion;
  state: DeliveryState;
  /** Of the rules that match, in rule order; what passes in allow mode has them too. They become `filterReasons`. */
  reasons: string[];
  /** The names of the rules that match, in rule order. */
  matched?: string[];
  /** The version of the rules that were evaluated. */
  ruleSet?: string;
  /** Why it is withheld or quarantined, for `summaries()`: the 41 fields have no column for it. */
  stateReason?: string;
  /** The item as it goes out, byte for byte: numbers and unknown fields kept as the client wrote them. */
  raw: string;
  /**
   * Set when the item was too large to be kept: `raw` is then a JSON note with its size, digest and beginning. Such
   * an alert is always quarantined and must never be sent.
   */
  noteOnly?: true;
  /** Everything of the alert that the signal itself tells. */
  fields: Omit<
    Alert,
    'id' | 'receivedAt' | 'filtered' | 'filterReasons' | 'forwardedToCapi' | 'forwardedAt' | 'rawJson'
  >;
  /** What the statistics count of its decisions. */
  decisions: DecisionCount[];
  receivedAt: Date;
}

/** What waits to be sent, in order of receipt: ids and sizes only. */
export interface WaitingItem {
  id: number;
  version: ApiVersion;
  bytes: number;
}

/** Why a watcher's queue stands still. */
export type HoldCause =
  'network' | 'server-error' | 'rate-limited' | 'forbidden' | 'unauthorized' | 'no-token' | 'paused';

/** Causes that are the same for every watcher: over for one, they are over for all. */
export const OUTAGE_CAUSES = ['network', 'server-error'] as const satisfies readonly HoldCause[];

/** A stored signal as a rule is tried on it. */
export interface EvaluatedSignal {
  id: number;
  watcher: string;
  version: ApiVersion;
  filtered: boolean;
  /** The version of the rules that were evaluated; null: none did. */
  ruleSet: string | null;
  receivedAt: Date;
  raw: string;
  fields: NewAlert['fields'];
}

/** A signal that is stepped over until an operator decides. */
export interface QuarantinedAlert {
  id: number;
  watcher: string;
  version: ApiVersion;
  scenario: string;
  sourceValue: string | null;
  receivedAt: Date;
  reason: string;
  bytes: number;
  /** False for one that was too large to be kept: there is nothing to send. */
  releasable: boolean;
}

/** A LAPI as CAPI knows it, by its login; not the `machineId` inside a signal. */
export interface WatcherRecord {
  watcher: string;
  /** Decrypted only at the moment of sending. */
  hasToken: boolean;
  tokenExpiresAt: Date | null;
  tokenUpdatedAt: Date | null;
  /** The next signals request of this watcher is answered 401 once, after storing, so that the LAPI logs in again. */
  loginWanted: boolean;
  lastSuccessAt: Date | null;
  lastError: { at: Date; cause: HoldCause | 'refused'; status: number | null; message: string } | null;
  nextAttemptAt: Date | null;
  /** Since when an operator holds its signals back; null: they go out. */
  pausedAt: Date | null;
}
