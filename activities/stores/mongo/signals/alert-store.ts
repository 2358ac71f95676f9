import { MongoBulkWriteError } from 'mongodb';
import type { Db, Filter } from 'mongodb';
import { createLoopTurns } from '../../../loop-turns.js';
import { AppError } from '../../../../schemas/app-error.js';
import { DEFERRED_REASONS } from '../../../../schemas/signals/signals.js';
import type { DeliveryState, NewAlert } from '../../../../schemas/signals/signals.js';
import type { AlertStore } from '../../../ports/signals.js';
import { toAlert, toDocument } from './alert-document.js';
import type { AlertDocument } from './alert-document.js';
import { createAlertIds } from './alert-ids.js';
import { createAlertList } from './alert-list.js';
import { createAlertMarks, writeOf } from './alert-marks.js';
import { createAlertQueue } from './alert-queue.js';
import { groupBySegments } from './alert-segments.js';
import { oldestWindow } from './alert-window.js';
import type { Span } from './alert-window.js';
import { DURABLE } from '../counters.js';
import { isDeadlockReply, isDuplicateKeyReply, withMongoErrors } from '../mongo-errors.js';
import { createDeadlockQueue } from '../retry-deadlocks.js';
import { createScenarioNames } from './scenario-names.js';

/** Some alerts of a batch are not stored: their ids were taken, or a deadlock with the same push ended the write. */
class Unsettled extends AppError {
  constructor() {
    super(
      'STORAGE_ERROR',
      'Alerts are not stored: their ids were taken, or other writes of them were in the way.',
    );
  }
}

const DONE: DeliveryState[] = ['filtered', 'forwarded', 'discarded'];

/**
 * All but what waits for CAPI, or for a person, as what is deferred does: that no retention takes. Each part has bounds
 * of its own in the index.
 */
function removable(received_at: Span): Filter<AlertDocument> {
  return {
    $or: [
      { state: { $in: DONE }, received_at },
      { state: 'withheld', received_at, state_reason: { $nin: [...DEFERRED_REASONS] } },
    ],
  };
}

/**
 * Alerts in collection `alerts`, one document each: the record and the queue are the same thing, so that neither can
 * know of an alert that the other does not. A change of state is one update guarded on `waiting`.
 */
export function createMongoAlertStore(db: Db): AlertStore {
  const alerts = db.collection<AlertDocument>('alerts', DURABLE);
  const alertIds = createAlertIds(db);
  const marks = createAlertMarks(db);
  const scenarios = createScenarioNames(db, alerts);
  const settle = createDeadlockQueue((error) => error instanceof Unsettled);
  // Batches wait for the same mark: all of them would be turned into BSON in the round of the loop that stores it.
  const inTurn = createLoopTurns();

  const raiseCounter = async (): Promise<void> => {
    const [last] = await alerts
      .find({}, { projection: { _id: 1 } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    await alertIds.raise(last?._id ?? 0);
  };

  /** Answers which of the alerts a unique key, or a deadlock with the same push, refused, by position. */
  const insertUnordered = async (documents: AlertDocument[]): Promise<Set<number>> => {
    try {
      await alerts.insertMany(documents, { ordered: false });
      return new Set();
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError)) throw error;
      const refused = [error.writeErrors].flat();
      const onlyRefused =
        refused.length > 0 && refused.every((one) => isDuplicateKeyReply(one) || isDeadlockReply(one));
      if (!onlyRefused || error.result.getWriteConcernError() !== undefined) throw error;
      return new Set(refused.map(({ index }) => index));
    }
  };

  /** Of the alerts that were refused, those that are not stored: the id was taken, or a deadlock ended the write. */
  const notStored = async (refused: readonly NewAlert[]): Promise<NewAlert[]> => {
    if (refused.length === 0) return [];
    const keys = [...new Set(refused.map(({ watcher }) => watcher))].map((watcher) => ({
      watcher,
      identity: { $in: refused.filter((alert) => alert.watcher === watcher).map(({ identity }) => identity) },
    }));
    const found = await alerts.find({ $or: keys }, { projection: { watcher: 1, identity: 1 } }).toArray();
    const stored = new Set(found.map(({ watcher, identity }) => `${watcher}\n${identity}`));
    return refused.filter(({ watcher, identity }) => !stored.has(`${watcher}\n${identity}`));
  };

  return withMongoErrors<AlertStore>({
    ...createAlertQueue({ alerts, alertIds, marks }),
    list: createAlertList(alerts, scenarios),
    async insert(batch) {
      let [stored, waiting] = [0, 0];
      if (batch.length === 0) return { stored, waiting };
      let pending: readonly NewAlert[] = batch;
      const noted = scenarios.note(batch.map(({ fields }) => fields.scenario.toLowerCase()));
      const attempt = async (): Promise<void> => {
        // A counter that was restored from an older backup hands out ids that are taken: raised, it is right again.
        if (pending !== batch) await raiseCounter();
        const [first] = await Promise.all([alertIds.reserve(pending.length), noted]);
        const documents = pending.map((alert, index) => toDocument(alert, first + index));
        const refused = await marks.around(writeOf(documents), () =>
          inTurn(() => insertUnordered(documents)),
        );
        const fresh = pending.filter((_, index) => !refused.has(index));
        stored += fresh.length;
        waiting += fresh.filter(({ state }) => state === 'waiting').length;
        // Taking a duplicate id for a duplicate alert would lose the alert.
        pending = await notStored(pending.filter((_, index) => refused.has(index)));
        if (pending.length > 0) throw new Unsettled();
      };
      await settle(attempt);
      return { stored, waiting };
    },
    async get(id) {
      const document = await alerts.findOne({ _id: id });
      return document && toAlert(document, document.raw);
    },
    async readBack({ belowId, limit }) {
      const documents = await alerts
        .find({
          ...(belowId !== null && { _id: { $lt: belowId } }),
          note_only: { $exists: false },
          'fields.localAudit': { $ne: true },
        })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray();
      return documents.map((document) => ({
        id: document._id,
        watcher: document.watcher,
        version: document.version,
        filtered: document.filtered,
        ruleSet: document.rule_set ?? null,
        receivedAt: document.received_at,
        raw: document.raw,
        fields: document.fields,
      }));
    },
    async removeOld(before, limit) {
      const span = await oldestWindow(alerts, removable, { needed: limit, before });
      const found = await alerts
        .find(removable(span), { projection: { received_at: 1 } })
        .sort({ received_at: 1, _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) {
        await scenarios.forget(before);
        return 0;
      }
      let removed = 0;
      for (const group of groupBySegments(found, ({ _id }) => _id)) {
        const { deletedCount } = await marks.around(writeOf(group), () =>
          // Asked again: what was released in between waits, and stays.
          alerts.deleteMany({ ...removable({ $lte: before }), _id: { $in: group.map(({ _id }) => _id) } }),
        );
        removed += deletedCount;
      }
      return removed;
    },
    countOld: (which, before, limit) =>
      alerts.countDocuments(
        which === 'quarantined'
          ? { state: 'quarantined', received_at: { $lte: before } }
          : removable({ $lte: before }),
        { limit },
      ),
  });
}
