import { createHash } from 'node:crypto';
import { Binary } from 'mongodb';
import type { Db } from 'mongodb';
import type { HeldMetrics, MetricsPath, MetricsStore } from '../../../ports/held-metrics.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';
import { watchersByAge } from './watchers-by-age.js';

interface HeldDocument {
  /** Digest of watcher, path and body: the same one twice is kept once. */
  _id: string;
  watcher: string;
  state: 'held' | 'refused';
  path: MetricsPath;
  bytes: Binary;
  part: boolean;
  /** Among those received together. */
  place: number;
  received_at: Date;
  reason?: string;
  refused_at?: Date;
}

/** A LAPI sends one or two bodies in half an hour: three weeks of them. */
const MAX_HELD = 2_000;

/** Metrics in collection `held_metrics`, one document each, until CAPI takes them. */
export function createMongoMetricsStore(db: Db): MetricsStore {
  const held = db.collection<HeldDocument>('held_metrics', {
    writeConcern: { w: 'majority', journal: true },
  });
  /** CAPI refused such a body before, and may take this one. Answers whether one was there. */
  const holdAnew = async (
    id: string,
    fields: Pick<HeldDocument, 'part' | 'place' | 'received_at'>,
  ): Promise<boolean> => {
    const { modifiedCount } = await held.updateOne(
      { _id: id, state: 'refused' },
      { $set: { state: 'held', ...fields }, $unset: { reason: '', refused_at: '' } },
    );
    return modifiedCount === 1;
  };

  return withMongoErrors<MetricsStore>({
    async hold(watcher, items, at) {
      const present = await held.countDocuments({ watcher, state: 'held' }, { limit: MAX_HELD });
      if (present + items.length > MAX_HELD) return 'full';
      const kept: string[] = [];
      for (const [place, { path, bytes, part }] of items.entries()) {
        const digest = createHash('sha256').update(`${watcher}\n${path}\n`).update(bytes).digest('hex');
        try {
          await held.insertOne({
            _id: digest,
            watcher,
            state: 'held',
            path,
            bytes: new Binary(bytes),
            part,
            place,
            received_at: at,
          });
          kept.push(digest);
        } catch (error) {
          if (isDuplicateKey(error)) {
            if (await holdAnew(digest, { part, place, received_at: at })) kept.push(digest);
            continue;
          }
          // The sender is told that nothing was taken.
          await held.deleteMany({ _id: { $in: kept } }).catch(() => undefined);
          throw error;
        }
      }
      return kept;
    },
    async next(watcher) {
      const [first] = await held
        .find({ watcher, state: 'held' }, { projection: { part: 1 } })
        .sort({ received_at: 1, place: 1 })
        .limit(1)
        .toArray();
      return first === undefined ? null : { id: first._id, part: first.part };
    },
    async read(id) {
      const document = await held.findOne({ _id: id, state: 'held' });
      if (document === null) return null;
      const { path, bytes, part } = document;
      return {
        id,
        path,
        bytes: Buffer.from(bytes.buffer.subarray(0, bytes.position)),
        part,
      } satisfies HeldMetrics;
    },
    async remove(id) {
      await held.deleteOne({ _id: id });
    },
    async refuse(id, reason) {
      await held.updateOne(
        { _id: id, state: 'held' },
        { $set: { state: 'refused', reason, refused_at: new Date() } },
      );
    },
    async dropHeld(before) {
      await held.deleteMany({ state: 'held', received_at: { $lt: before } });
    },
    watchersHolding: (before, limit, offset) => watchersByAge(held, { state: 'held', before, limit, offset }),
    async queues() {
      const groups = await held
        .aggregate<{ _id: { watcher: string; state: 'held' | 'refused' }; count: number; oldest: Date }>([
          {
            $group: {
              _id: { watcher: '$watcher', state: '$state' },
              count: { $sum: 1 },
              oldest: { $min: '$received_at' },
            },
          },
        ])
        .toArray();
      return [...new Set(groups.map(({ _id }) => _id.watcher))].sort().map((watcher) => {
        const of = (state: string) =>
          groups.find(({ _id }) => _id.watcher === watcher && _id.state === state);
        const waiting = of('held');
        return {
          watcher,
          held: waiting?.count ?? 0,
          oldest: waiting?.oldest ?? null,
          refused: of('refused')?.count ?? 0,
        };
      });
    },
  });
}
