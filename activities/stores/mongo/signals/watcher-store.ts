import type { Db } from 'mongodb';
import { OUTAGE_CAUSES } from '../../../../schemas/signals/signals.js';
import type { WatcherStore } from '../../../ports/signals.js';
import { createEncryption } from '../encryption.js';
import { withMongoErrors } from '../mongo-errors.js';
import { createUnknownWatchers } from './unknown-watchers.js';
import { toRecord } from './watcher-document.js';
import type { WatcherDocument } from './watcher-document.js';
import { createWatcherRecords } from './watcher-records.js';
import { createWatcherTokens } from './watcher-tokens.js';

/**
 * Watchers in collection `watchers`: the newest token, sealed with SECRETS_KEY, digests of older and refused ones,
 * and how the forwarding goes. Tokens of different watchers never mix: a box opens for its own watcher only.
 * @param former keys that open tokens as well
 * @throws AppError CONFIG_ERROR when the key is not 32 bytes long
 */
export function createMongoWatcherStore(db: Db, secretsKey: Buffer, former: readonly Buffer[]): WatcherStore {
  const watchers = db.collection<WatcherDocument>('watchers');
  const box = createEncryption(secretsKey, former);
  const records = createWatcherRecords(watchers);
  const { ensure, update } = records;

  return withMongoErrors<WatcherStore>({
    ...createUnknownWatchers(watchers),
    ...createWatcherTokens(watchers, box, records),
    async get(watcher) {
      const document = await watchers.findOne({ _id: watcher });
      return document && toRecord(document);
    },
    async list() {
      return (await watchers.find().sort({ _id: 1 }).toArray()).map(toRecord);
    },
    async setPaused(watcher, at) {
      await ensure(watcher);
      await watchers.updateOne(
        at === null ? { _id: watcher } : { _id: watcher, paused_at: null },
        { $set: { paused_at: at } },
        { writeConcern: { w: 'majority', journal: true } },
      );
    },
    recordSuccess: (watcher, at) =>
      update(watcher, {
        $max: { last_success_at: at },
        $set: { next_attempt_at: null },
        $unset: { stranger: '' },
      }),
    recordError: (watcher, error, nextAttemptAt) =>
      update(watcher, { $set: { last_error: error, next_attempt_at: nextAttemptAt } }),
    async heldByOutage(until, limit) {
      const held = { next_attempt_at: { $gt: until }, 'last_error.cause': { $in: [...OUTAGE_CAUSES] } };
      // Hardly ever is one: only then it matters when CAPI last took something.
      const found = await watchers
        .find(held, { projection: { 'last_error.at': 1 } })
        .limit(limit)
        .toArray();
      if (found.length === 0) return [];
      const [newest] = await watchers
        .find({}, { projection: { last_success_at: 1 } })
        .sort({ last_success_at: -1 })
        .limit(1)
        .toArray();
      const success = newest?.last_success_at ?? null;
      if (success === null) return [];
      return found.flatMap(({ _id, last_error }) => (last_error!.at < success ? [_id] : []));
    },
  });
}
