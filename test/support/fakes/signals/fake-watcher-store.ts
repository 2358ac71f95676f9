import { createHash } from 'node:crypto';
import type { WatcherStore } from '../../../../activities/ports/signals.js';
import { LOGIN_REMINDER_MS, OUTAGE_CAUSES } from '../../../../schemas/signals/signals.js';
import type { WatcherRecord } from '../../../../schemas/signals/signals.js';
import { copyRecord } from '../copy-record.js';

interface StoredWatcher extends WatcherRecord {
  token: { token: string; digest: string } | null;
  history: Set<string>;
  refused: Set<string>;
  accepted: Set<string>;
  loginToldAt: Date | null;
  stranger: { address: string; until: Date } | null;
}

const WITHOUT_PLACE_MS = 72 * 3_600_000;

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function toRecord({
  token,
  history: _h,
  refused: _r,
  accepted: _a,
  loginToldAt: _t,
  stranger: _s,
  ...record
}: StoredWatcher): WatcherRecord {
  return copyRecord({ ...record, hasToken: token !== null });
}

function isOutage(cause: string | undefined): boolean {
  return OUTAGE_CAUSES.some((outage) => outage === cause);
}

/** Watchers in a Map; tokens as they are. */
export function createFakeWatcherStore(): WatcherStore {
  const watchers = new Map<string, StoredWatcher>();
  const ensure = (watcher: string, stranger: StoredWatcher['stranger'] = null): StoredWatcher => {
    const known = watchers.get(watcher) ?? {
      watcher,
      hasToken: false,
      tokenExpiresAt: null,
      tokenUpdatedAt: null,
      loginWanted: false,
      lastSuccessAt: null,
      lastError: null,
      nextAttemptAt: null,
      pausedAt: null,
      token: null,
      history: new Set(),
      refused: new Set(),
      accepted: new Set(),
      loginToldAt: null,
      stranger,
    };
    watchers.set(watcher, known);
    return known;
  };
  const ensureUnknown = (watcher: string): StoredWatcher =>
    ensure(watcher, { address: '', until: new Date(Date.now() + WITHOUT_PLACE_MS) });
  return {
    async admit(watcher, { address, at, places, lifetimeMs }) {
      const known = watchers.get(watcher);
      if (known?.stranger === null) return 'known';
      const placed = known !== undefined && known.stranger.address !== '' ? known : null;
      const from = placed?.stranger?.address ?? address;
      const strangers = [...watchers.values()]
        .filter(({ stranger }) => stranger?.address === from)
        .slice(0, places);
      const full = placed === null ? strangers.length >= places : !strangers.includes(placed);
      if (full) return new Date(Math.min(...strangers.map(({ stranger }) => stranger!.until.getTime())));
      const until = new Date(at.getTime() + lifetimeMs);
      const { stranger } = ensure(watcher);
      if (
        placed === null ||
        stranger === null ||
        stranger.until.getTime() - at.getTime() <= lifetimeMs * 0.98
      )
        ensure(watcher).stranger = { address: from, until };
      return 'unknown';
    },
    async expiredUnknownWatchers(at, limit) {
      return [...watchers.values()]
        .filter(({ stranger, pausedAt }) => stranger !== null && stranger.until <= at && pausedAt === null)
        .sort((a, b) => a.stranger!.until.getTime() - b.stranger!.until.getTime())
        .slice(0, limit)
        .map(({ watcher, token, refused }) => ({ watcher, refused: token === null && refused.size > 0 }));
    },
    async removeUnknownWatcher(watcher, at) {
      const stranger = watchers.get(watcher)?.stranger ?? null;
      if (stranger !== null && stranger.until <= at) watchers.delete(watcher);
    },
    async prolongUnknownWatcher(watcher, until) {
      const stranger = watchers.get(watcher)?.stranger ?? null;
      if (stranger !== null) stranger.until = new Date(until);
    },
    async get(watcher) {
      const known = watchers.get(watcher);
      return known === undefined ? null : toRecord(known);
    },
    async list() {
      return [...watchers.keys()].sort().map((watcher) => toRecord(ensure(watcher)));
    },
    async saveToken(watcher, token, expiresAt, newcomer) {
      const { address = '', at, lifetimeMs = 0 } = newcomer ?? {};
      const stranger = at === undefined ? null : { address, until: new Date(at.getTime() + lifetimeMs) };
      const known = ensure(watcher, stranger);
      const old = { newer: false, loginWanted: known.loginWanted };
      const digest = digestOf(token);
      const taken = known.accepted.has(digest);
      const holdsTaken = known.token !== null && known.accepted.has(known.token.digest);
      if (holdsTaken && !taken) return old;
      const seen = known.history.has(digest);
      known.history.add(digest);
      if (known.refused.has(digest) || known.token?.digest === digest) return old;
      if (known.token !== null && !(taken && !holdsTaken)) {
        const age = (expiresAt?.getTime() ?? 0) - (known.tokenExpiresAt?.getTime() ?? 0);
        const comparable = expiresAt !== null && known.tokenExpiresAt !== null && age !== 0;
        if (comparable ? age < 0 : seen) return old;
      }
      Object.assign(known, {
        token: { token, digest },
        tokenExpiresAt: copyRecord(expiresAt),
        tokenUpdatedAt: new Date(),
        loginWanted: false,
        loginToldAt: null,
      });
      return { newer: true, loginWanted: false };
    },
    async token(watcher) {
      return copyRecord(watchers.get(watcher)?.token ?? null);
    },
    async acceptToken(watcher, digest) {
      const known = ensure(watcher);
      known.accepted.add(digest);
      known.stranger = null;
    },
    async standing(watcher, digest) {
      const known = watchers.get(watcher);
      if (known?.refused.has(digest) === true) return 'refused';
      return known?.accepted.has(digest) === true ? 'accepted' : 'unknown';
    },
    async refuseToken(watcher, digest) {
      const known = ensureUnknown(watcher);
      const isNews = !known.refused.has(digest);
      known.refused.add(digest);
      if (known.token?.digest === digest)
        Object.assign(known, { token: null, tokenExpiresAt: null, tokenUpdatedAt: null, loginWanted: true });
      else if (isNews && known.token === null) known.loginWanted = true;
    },
    async wantLogin(watcher) {
      const known = ensureUnknown(watcher);
      if (known.token === null) known.loginWanted = true;
    },
    async takeLoginWanted(watcher, now) {
      const known = watchers.get(watcher);
      if (known?.loginWanted !== true) return false;
      const { loginToldAt } = known;
      if (loginToldAt !== null && now.getTime() - loginToldAt.getTime() < LOGIN_REMINDER_MS) return false;
      known.loginToldAt = now;
      return true;
    },
    async watcherOfToken(digest) {
      return [...watchers.values()].find(({ history }) => history.has(digest))?.watcher ?? null;
    },
    async setPaused(watcher, at) {
      const known = ensure(watcher);
      known.pausedAt = at === null ? null : (known.pausedAt ?? new Date(at));
    },
    async recordSuccess(watcher, at) {
      const known = ensure(watcher);
      if (known.lastSuccessAt === null || known.lastSuccessAt < at) known.lastSuccessAt = new Date(at);
      known.nextAttemptAt = null;
      known.stranger = null;
    },
    async heldByOutage(until, limit) {
      const known = [...watchers.values()];
      const newest = Math.max(...known.map(({ lastSuccessAt }) => lastSuccessAt?.getTime() ?? 0));
      return known
        .filter(
          ({ nextAttemptAt, lastError }) =>
            nextAttemptAt !== null && nextAttemptAt > until && isOutage(lastError?.cause),
        )
        .slice(0, limit)
        .flatMap(({ watcher, lastError }) => (lastError!.at.getTime() < newest ? [watcher] : []));
    },
    async recordError(watcher, error, nextAttemptAt) {
      Object.assign(ensureUnknown(watcher), {
        lastError: copyRecord(error),
        nextAttemptAt: copyRecord(nextAttemptAt),
      });
    },
  };
}
