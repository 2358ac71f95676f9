import type { Collection } from 'mongodb';
import { DEFERRED_REASONS } from '../../../../schemas/signals/signals.js';
import type { DeliveryState } from '../../../../schemas/signals/signals.js';
import type { AlertStore, KeptBackSummary } from '../../../ports/signals.js';
import type { AlertDocument } from './alert-document.js';
import type { createAlertIds } from './alert-ids.js';
import type { createAlertMarks } from './alert-marks.js';
import { createWaitingLook } from './look-at-waiting.js';
import { createForwardedMarker } from './mark-forwarded.js';
import { watchersByAge } from './watchers-by-age.js';

type QueueSide = Pick<
  AlertStore,
  | 'nextWaiting'
  | 'readWaiting'
  | 'markForwarded'
  | 'quarantine'
  | 'quarantined'
  | 'release'
  | 'releaseDeferred'
  | 'discard'
  | 'discardWaiting'
  | 'discardQuarantined'
  | 'summaries'
  | 'keptBack'
  | 'watchersWaiting'
>;

/** Withheld, to be sent or given up when a person says so. */
const DEFERRED = { state: 'withheld' as const, state_reason: { $in: [...DEFERRED_REASONS] } };

/** What waits for CAPI, watcher by watcher, and how it leaves the queue. */
export function createAlertQueue({
  alerts,
  alertIds,
  marks,
}: {
  alerts: Collection<AlertDocument>;
  alertIds: ReturnType<typeof createAlertIds>;
  marks: ReturnType<typeof createAlertMarks>;
}): QueueSide {
  const discardMany = async (
    which: { watcher?: string; state: 'waiting' | 'quarantined' } | (typeof DEFERRED & { watcher: string }),
    order: Record<string, 1>,
    { reason, receivedUntil, limit }: { reason: string; receivedUntil: Date; limit: number },
  ): Promise<{ discarded: number; left: boolean }> => {
    const found = await alerts
      .find({ ...which, received_at: { $lte: receivedUntil } }, { projection: { _id: 1 } })
      .sort(order)
      .limit(limit)
      .toArray();
    if (found.length === 0) return { discarded: 0, left: false };
    // Of two operators at once each alert listens to one; what CAPI took in between is forwarded.
    const { modifiedCount } = await alerts.updateMany(
      { _id: { $in: found.map(({ _id }) => _id) }, ...which },
      { $set: { state: 'discarded', state_reason: reason } },
    );
    return { discarded: modifiedCount, left: found.length === limit };
  };
  return {
    nextWaiting: createWaitingLook(alerts),
    async readWaiting(ids) {
      const documents = await alerts
        .find({ _id: { $in: [...ids] }, state: 'waiting' }, { projection: { raw: 1, received_at: 1 } })
        .toArray();
      const found = new Map(documents.map((document) => [document._id, document]));
      return ids.flatMap((id) => {
        const document = found.get(id);
        return document === undefined ? [] : [{ id, raw: document.raw, receivedAt: document.received_at }];
      });
    },
    markForwarded: createForwardedMarker({ alerts, marks }),
    async quarantine(id, reason) {
      await alerts.updateOne(
        { _id: id, state: 'waiting' },
        { $set: { state: 'quarantined', state_reason: reason } },
      );
    },
    async quarantined({ watcher, limit, offset }) {
      const documents = await alerts
        .find({ state: 'quarantined', ...(watcher !== undefined && { watcher }) }, { projection: { raw: 0 } })
        .sort({ received_at: -1, _id: -1 })
        .skip(offset)
        .limit(limit)
        .toArray();
      return documents.map((document) => ({
        id: document._id,
        watcher: document.watcher,
        version: document.version,
        scenario: document.fields.scenario,
        sourceValue: document.fields.sourceValue,
        receivedAt: document.received_at,
        reason: document.state_reason ?? '',
        bytes: document.bytes,
        releasable: document.note_only !== true,
      }));
    },
    async release(id) {
      const found = await alerts.findOne(
        { _id: id, state: 'quarantined' },
        { projection: { watcher: 1, note_only: 1 } },
      );
      if (found === null) return null;
      if (found.note_only === true) return 'not-releasable';
      // A number that no alert will have: behind all that are stored, in front of all that come.
      const position = await alertIds.reserve(1);
      const { matchedCount } = await alerts.updateOne(
        { _id: id, state: 'quarantined' },
        { $set: { state: 'waiting', state_reason: null, position } },
      );
      return matchedCount === 1 ? { watcher: found.watcher } : null;
    },
    async releaseDeferred(watcher, limit) {
      const found = await alerts
        .find({ watcher, ...DEFERRED }, { projection: { _id: 1 } })
        .sort({ position: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return { released: 0, left: false };
      const first = await alertIds.reserve(found.length);
      // Of two operators at once each alert listens to one.
      const { modifiedCount } = await alerts.bulkWrite(
        found.map(({ _id }, index) => ({
          updateOne: {
            filter: { _id, state: 'withheld' as const },
            update: { $set: { state: 'waiting' as const, state_reason: null, position: first + index } },
          },
        })),
        { ordered: false },
      );
      return { released: modifiedCount, left: found.length === limit };
    },
    async discard(id) {
      const { matchedCount } = await alerts.updateOne(
        { _id: id, state: 'quarantined' },
        { $set: { state: 'discarded' } },
      );
      return matchedCount === 1;
    },
    discardWaiting: (watcher, { deferred = false, ...options }) =>
      discardMany(
        deferred ? { watcher, ...DEFERRED } : { watcher, state: 'waiting' },
        { position: 1 },
        options,
      ),
    discardQuarantined: ({ watcher, ...options }) =>
      watcher === undefined
        ? discardMany({ state: 'quarantined' }, { received_at: 1 }, options)
        : discardMany({ watcher, state: 'quarantined' }, { position: 1 }, options),
    async summaries() {
      const groups = await alerts
        .aggregate<{
          _id: { watcher: string; state: DeliveryState };
          count: number;
          oldest: Date;
          last: number;
        }>([
          { $match: { state: { $in: ['waiting', 'quarantined'] } } },
          {
            $group: {
              _id: { watcher: '$watcher', state: '$state' },
              count: { $sum: 1 },
              oldest: { $min: '$received_at' },
              last: { $max: '$_id' },
            },
          },
        ])
        .toArray();
      const bad = new Map(
        groups.flatMap((group) => (group._id.state === 'quarantined' ? [[group._id.watcher, group]] : [])),
      );
      const good = new Map(
        groups.flatMap((group) => (group._id.state === 'waiting' ? [[group._id.watcher, group]] : [])),
      );
      const reasons = await alerts
        .find(
          { _id: { $in: [...bad.values()].map(({ last }) => last) } },
          { projection: { state_reason: 1 } },
        )
        .toArray();
      const reasonOf = new Map(reasons.map(({ _id, state_reason }) => [_id, state_reason ?? '']));
      return [...new Set([...good.keys(), ...bad.keys()])].sort().map((watcher) => {
        const last = bad.get(watcher)?.last;
        return {
          watcher,
          waiting: good.get(watcher)?.count ?? 0,
          oldestReceivedAt: good.get(watcher)?.oldest ?? null,
          quarantined: bad.get(watcher)?.count ?? 0,
          lastQuarantined: last === undefined ? null : { id: last, reason: reasonOf.get(last) ?? '' },
        };
      });
    },
    async keptBack() {
      const groups = await alerts
        .aggregate<{
          _id: { watcher: string; state: DeliveryState; off: boolean };
          count: number;
          last: number;
        }>([
          { $match: { state: { $in: ['withheld', 'discarded'] } } },
          {
            $group: {
              _id: {
                watcher: '$watcher',
                state: '$state',
                off: { $in: ['$state_reason', [...DEFERRED_REASONS]] },
              },
              count: { $sum: 1 },
              last: { $max: '$_id' },
            },
          },
        ])
        .toArray();
      const found = new Map<string, KeptBackSummary>();
      const lastOf = new Map<string, number>();
      for (const { _id, count, last } of groups) {
        const { watcher, state, off } = _id;
        const none = { deferred: 0, withheld: 0, discarded: 0, lastDiscarded: null };
        const summary = found.get(watcher) ?? { watcher, ...none };
        found.set(watcher, summary);
        if (state === 'discarded') {
          summary.discarded += count;
          lastOf.set(watcher, Math.max(last, lastOf.get(watcher) ?? 0));
        } else if (off) summary.deferred += count;
        else summary.withheld += count;
      }
      const lasts = await alerts
        .find({ _id: { $in: [...lastOf.values()] } }, { projection: { watcher: 1, state_reason: 1 } })
        .toArray();
      for (const { _id, watcher, state_reason } of lasts) {
        const summary = found.get(watcher);
        if (summary !== undefined) summary.lastDiscarded = { id: _id, reason: state_reason ?? '' };
      }
      return [...found.values()].sort((a, b) => (a.watcher < b.watcher ? -1 : 1));
    },
    watchersWaiting: (before, limit, offset) =>
      watchersByAge(alerts, { state: 'waiting', before, limit, offset }),
  };
}
