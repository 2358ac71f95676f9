import { compactJson } from '../../../../activities/signals/compact-json.js';
import type { AlertQuery, AlertStore } from '../../../../activities/ports/signals.js';
import { DEFERRED_REASONS } from '../../../../schemas/signals/signals.js';
import type { Alert, NewAlert } from '../../../../schemas/signals/signals.js';
import { copyRecord } from '../copy-record.js';

interface StoredAlert extends NewAlert {
  id: number;
  position: number;
  filtered: boolean;
  forwardedAt: Date | null;
}

function toAlert(stored: StoredAlert, withRaw = true): Alert {
  return {
    ...stored.fields,
    id: stored.id,
    receivedAt: stored.receivedAt.toISOString(),
    filtered: stored.filtered,
    filterReasons: stored.reasons.length === 0 ? null : JSON.stringify(stored.reasons),
    forwardedToCapi: stored.state === 'forwarded',
    forwardedAt: stored.forwardedAt?.toISOString() ?? null,
    rawJson: withRaw ? compactJson(stored.raw) : null,
  };
}

function selects(query: AlertQuery, { fields, receivedAt, ...stored }: StoredAlert): boolean {
  return (
    (query.filtered === undefined || stored.filtered === query.filtered) &&
    (query.forwardedToCapi === undefined || (stored.state === 'forwarded') === query.forwardedToCapi) &&
    (query.scenario === undefined || fields.scenario.toLowerCase().includes(query.scenario.toLowerCase())) &&
    (query.country === undefined || fields.geoCountryCode === query.country) &&
    (query.machineId === undefined || fields.machineId === query.machineId) &&
    (query.ip === undefined || fields.sourceIp === query.ip || fields.sourceValue === query.ip) &&
    (query.since === undefined || receivedAt >= query.since) &&
    (query.until === undefined || receivedAt <= query.until)
  );
}

/** What the fake of the statistics needs beside the port. */
export interface FakeAlertStore extends AlertStore {
  /** The rules that each stored alert matched. */
  matchedRules(): { name: string; receivedAt: Date }[];
}

function isDeferred({ state, stateReason }: Pick<StoredAlert, 'state' | 'stateReason'>): boolean {
  return state === 'withheld' && DEFERRED_REASONS.includes(stateReason ?? '');
}

function isRemovable(alert: Pick<StoredAlert, 'state' | 'stateReason'>): boolean {
  const { state } = alert;
  if (state === 'withheld') return !isDeferred(alert);
  return state !== 'waiting' && state !== 'quarantined';
}

/** Alerts in a Map, by id. */
export function createFakeAlertStore(): FakeAlertStore {
  const alerts = new Map<number, StoredAlert>();
  const identities = new Set<string>();
  let lastId = 0;
  const inState = (state: NewAlert['state']): StoredAlert[] =>
    [...alerts.values()].filter((alert) => alert.state === state).sort((a, b) => a.position - b.position);
  const waitingItem = (id: number): StoredAlert | null => {
    const alert = alerts.get(id);
    return alert?.state === 'waiting' ? alert : null;
  };
  return {
    async insert(batch) {
      let [stored, waiting] = [0, 0];
      for (const alert of batch) {
        lastId += 1;
        const key = `${alert.watcher}\n${alert.identity}`;
        if (identities.has(key)) continue;
        identities.add(key);
        alerts.set(
          lastId,
          copyRecord({
            ...alert,
            id: lastId,
            position: lastId,
            filtered: alert.state === 'filtered',
            forwardedAt: null,
          }),
        );
        stored += 1;
        if (alert.state === 'waiting') waiting += 1;
      }
      return { stored, waiting };
    },
    async get(id) {
      const alert = alerts.get(id);
      return alert === undefined ? null : toAlert(alert);
    },
    async list(query) {
      const { newerThan } = query;
      if (newerThan !== undefined && ![...alerts.values()].some((alert) => alert.receivedAt > newerThan))
        return [];
      let bytes = 0;
      return [...alerts.values()]
        .filter((alert) => selects(query, alert))
        .sort((a, b) => b.receivedAt.getTime() - a.receivedAt.getTime() || b.id - a.id)
        .slice(query.offset, query.offset + query.limit)
        .map((alert, index) => {
          bytes += Buffer.byteLength(alert.raw);
          return toAlert(alert, index === 0 || bytes <= (query.rawBytes ?? Infinity));
        });
    },
    async nextWaiting(watcher, limit) {
      return inState('waiting')
        .filter((alert) => alert.watcher === watcher)
        .slice(0, limit)
        .map(({ id, version, raw }) => ({ id, version, bytes: Buffer.byteLength(raw) }));
    },
    async readWaiting(ids) {
      return ids.flatMap((id) => {
        const alert = waitingItem(id);
        return alert === null ? [] : [{ id, raw: alert.raw, receivedAt: new Date(alert.receivedAt) }];
      });
    },
    async markForwarded(ids, at) {
      for (const id of ids) {
        const alert = alerts.get(id);
        if (alert?.state !== 'waiting' && alert?.state !== 'discarded') continue;
        Object.assign(alert, { state: 'forwarded', forwardedAt: new Date(at) });
        delete alert.stateReason;
      }
    },
    async quarantine(id, reason) {
      const alert = waitingItem(id);
      if (alert !== null) Object.assign(alert, { state: 'quarantined', stateReason: reason });
    },
    async quarantined({ watcher, limit, offset }) {
      return inState('quarantined')
        .filter((alert) => watcher === undefined || alert.watcher === watcher)
        .sort((a, b) => b.receivedAt.getTime() - a.receivedAt.getTime() || b.id - a.id)
        .slice(offset, offset + limit)
        .map((alert) => ({
          id: alert.id,
          watcher: alert.watcher,
          version: alert.version,
          scenario: alert.fields.scenario,
          sourceValue: alert.fields.sourceValue,
          receivedAt: new Date(alert.receivedAt),
          reason: alert.stateReason ?? '',
          bytes: Buffer.byteLength(alert.raw),
          releasable: alert.noteOnly !== true,
        }));
    },
    async release(id) {
      const alert = alerts.get(id);
      if (alert?.state !== 'quarantined') return null;
      if (alert.noteOnly === true) return 'not-releasable';
      lastId += 1;
      Object.assign(alert, { state: 'waiting', position: lastId });
      delete alert.stateReason;
      return { watcher: alert.watcher };
    },
    async releaseDeferred(watcher, limit) {
      const found = inState('withheld')
        .filter((alert) => alert.watcher === watcher && DEFERRED_REASONS.includes(alert.stateReason ?? ''))
        .slice(0, limit);
      for (const alert of found) {
        lastId += 1;
        Object.assign(alert, { state: 'waiting', position: lastId });
        delete alert.stateReason;
      }
      return { released: found.length, left: found.length === limit };
    },
    async discard(id) {
      const alert = alerts.get(id);
      if (alert?.state !== 'quarantined') return false;
      alert.state = 'discarded';
      return true;
    },
    async discardWaiting(watcher, { reason, receivedUntil, limit, deferred = false }) {
      const found = (deferred ? inState('withheld').filter(isDeferred) : inState('waiting'))
        .filter((alert) => alert.watcher === watcher && alert.receivedAt <= receivedUntil)
        .slice(0, limit);
      for (const alert of found) Object.assign(alert, { state: 'discarded', stateReason: reason });
      return { discarded: found.length, left: found.length === limit };
    },
    async discardQuarantined({ watcher, reason, receivedUntil, limit }) {
      const found = inState('quarantined')
        .filter((alert) => watcher === undefined || alert.watcher === watcher)
        .filter(({ receivedAt }) => receivedAt <= receivedUntil)
        .slice(0, limit);
      for (const alert of found) Object.assign(alert, { state: 'discarded', stateReason: reason });
      return { discarded: found.length, left: found.length === limit };
    },
    async countOld(which, before, limit) {
      const old = [...alerts.values()].filter(
        (alert) =>
          alert.receivedAt <= before &&
          (which === 'quarantined' ? alert.state === 'quarantined' : isRemovable(alert)),
      );
      return Math.min(limit, old.length);
    },
    async readBack({ belowId, limit }) {
      return [...alerts.values()]
        .filter((alert) => (belowId === null || alert.id < belowId) && alert.noteOnly !== true)
        .sort((a, b) => b.id - a.id)
        .slice(0, limit)
        .map((alert) =>
          copyRecord({
            id: alert.id,
            watcher: alert.watcher,
            version: alert.version,
            filtered: alert.filtered,
            ruleSet: alert.ruleSet ?? null,
            receivedAt: alert.receivedAt,
            raw: alert.raw,
            fields: alert.fields,
          }),
        );
    },
    matchedRules: () =>
      [...alerts.values()].flatMap(({ matched, receivedAt }) =>
        [...new Set(matched)].map((name) => ({ name, receivedAt })),
      ),
    async summaries() {
      const [waiting, quarantined] = [inState('waiting'), inState('quarantined')];
      const watchers = new Set([...waiting, ...quarantined].map(({ watcher }) => watcher));
      return [...watchers].sort().map((watcher) => {
        const queue = waiting.filter((alert) => alert.watcher === watcher);
        const bad = quarantined.filter((alert) => alert.watcher === watcher);
        const last = bad.at(-1);
        const oldest = Math.min(...queue.map(({ receivedAt }) => receivedAt.getTime()));
        return {
          watcher,
          waiting: queue.length,
          oldestReceivedAt: queue.length === 0 ? null : new Date(oldest),
          quarantined: bad.length,
          lastQuarantined: last === undefined ? null : { id: last.id, reason: last.stateReason ?? '' },
        };
      });
    },
    async keptBack() {
      const [withheld, discarded] = [inState('withheld'), inState('discarded')];
      const watchers = new Set([...withheld, ...discarded].map(({ watcher }) => watcher));
      return [...watchers].sort().map((watcher) => {
        const held = withheld.filter((alert) => alert.watcher === watcher);
        const deferred = held.filter(({ stateReason }) =>
          DEFERRED_REASONS.includes(stateReason ?? ''),
        ).length;
        const gone = discarded.filter((alert) => alert.watcher === watcher).sort((a, b) => a.id - b.id);
        const last = gone.at(-1);
        return {
          watcher,
          deferred,
          withheld: held.length - deferred,
          discarded: gone.length,
          lastDiscarded: last === undefined ? null : { id: last.id, reason: last.stateReason ?? '' },
        };
      });
    },
    async watchersWaiting(before, limit, offset = 0) {
      const late = inState('waiting')
        .filter(({ receivedAt }) => receivedAt < before)
        .sort((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime());
      return [...new Set(late.map(({ watcher }) => watcher))].slice(offset, offset + limit);
    },
    async removeOld(before, limit) {
      const old = [...alerts.values()]
        .filter((alert) => isRemovable(alert) && alert.receivedAt <= before)
        .sort((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime() || a.id - b.id)
        .slice(0, limit);
      for (const { id, watcher, identity } of old) {
        alerts.delete(id);
        identities.delete(`${watcher}\n${identity}`);
      }
      return old.length;
    },
  };
}
