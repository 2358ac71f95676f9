import type { WatcherRecord } from '../../../../schemas/signals/signals.js';

/** A watcher as collection `watchers` keeps it. Only records of unknown watchers are deleted. */
export interface WatcherDocument {
  /** The watcher's name. */
  _id: string;
  /** The newest token. */
  token: {
    digest: string;
    box: string;
    expires_at: Date | null;
    updated_at: Date;
    /** CAPI took it. */
    taken?: boolean;
  } | null;
  /** Digests of the tokens seen with this watcher, the newest last. */
  history: string[];
  /** Digests of those that CAPI refused. */
  refused: string[];
  /** Digests of those that CAPI took; missing in records of before. */
  accepted?: string[];
  login_wanted: boolean;
  /** When the watcher was last told; missing in records of before. */
  login_told_at?: Date | null;
  last_success_at: Date | null;
  last_error: WatcherRecord['lastError'];
  next_attempt_at: Date | null;
  /** Missing in records of before. */
  paused_at?: Date | null;
  /**
   * CAPI never took a token of it: where it came from, since when, and until when its record is kept. Without an
   * address it has no place yet: forwarding made the record.
   */
  stranger?: { address: string; since: Date; until: Date };
}

export function newWatcher(): Omit<WatcherDocument, '_id'> {
  return {
    token: null,
    history: [],
    refused: [],
    login_wanted: false,
    login_told_at: null,
    last_success_at: null,
    last_error: null,
    next_attempt_at: null,
    paused_at: null,
  };
}

export function toRecord(document: WatcherDocument): WatcherRecord {
  return {
    watcher: document._id,
    hasToken: document.token !== null,
    tokenExpiresAt: document.token?.expires_at ?? null,
    tokenUpdatedAt: document.token?.updated_at ?? null,
    loginWanted: document.login_wanted,
    lastSuccessAt: document.last_success_at,
    lastError: document.last_error,
    nextAttemptAt: document.next_attempt_at,
    pausedAt: document.paused_at ?? null,
  };
}
