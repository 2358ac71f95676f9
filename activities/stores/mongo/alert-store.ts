import { MongoBulkWriteError } from 'mongodb';
import type { Db, Filter } from 'mongodb';
import { AppError } from '../../../schemas/app-error.js';
import type { DeliveryState, NewAlert } from '../../../schemas/signals.js';
import type { AlertQuery, AlertStore } from '../../proxy-ports.js';
import { toAlert, toDocument } from './alert-document.js';
import type { AlertDocument } from './alert-document.js';
import { createAlertIds } from './alert-ids.js';
import { createAlertMarks } from './alert-marks.js';
import { createAlertQueue } from './alert-queue.js';
import { DURABLE } from './durable.js';
import { isDuplicateKeyReply, withMongoErrors } from './mongo-errors.js';

/** A counter that was restored from an older backup hands out ids that are taken; raised once, it is right again. */
const ATTEMPTS = 5;

/** What waits for CAPI, or for a person: no retention takes it. */
const KEPT_STATES: DeliveryState[] = ['waiting', 'quarantined'];

/** A pattern that finds this text and nothing else. */
const literally = (text: string): string =>
  text.replace(/[\0-\x7f]/g, (character) => {
    // A regular expression cannot hold a NUL, and a backslash before a letter or digit would mean something.
    if (character === '\0') return '\\x00';
    return /[A-Za-z0-9]/.test(character) ? character : `\\${character}`;
  });

/** The filters of the seed (proxy spec, section 2): `since` and `until` inclusive, the rest equality or substring. */
const toFilter = (query: AlertQuery): Filter<AlertDocument> => {
  const { since, until, ip } = query;
  return {
    ...(query.filtered !== undefined && { filtered: query.filtered }),
    ...(query.forwardedToCapi !== undefined && { forwarded: query.forwardedToCapi }),
    ...(query.scenario !== undefined && {
      scenario_folded: { $regex: literally(query.scenario.toLowerCase()) },
    }),
    ...(query.country !== undefined && { 'fields.geoCountryCode': query.country }),
    ...(query.machineId !== undefined && { 'fields.machineId': query.machineId }),
    ...(ip !== undefined && { $or: [{ 'fields.sourceIp': ip }, { 'fields.sourceValue': ip }] }),
    ...((since !== undefined || until !== undefined) && {
      received_at: {
        ...(since !== undefined && { $gte: since }),
        ...(until !== undefined && { $lte: until }),
      },
    }),
  };
};

/**
 * Alerts in collection `alerts`, one document each: the record and the queue are the same thing, so that neither can
 * know of an alert that the other does not. A change of state is one update guarded on `waiting`.
 */
export const createMongoAlertStore = (db: Db): AlertStore => {
  const alerts = db.collection<AlertDocument>('alerts', DURABLE);
  const alertIds = createAlertIds(db);
  const marks = createAlertMarks(db);

  const raiseCounter = async (): Promise<void> => {
    const [last] = await alerts
      .find({}, { projection: { _id: 1 } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    await alertIds.raise(last?._id ?? 0);
  };

  /** Answers which of the alerts a unique key refused, by position. */
  const insertUnordered = async (documents: AlertDocument[]): Promise<Set<number>> => {
    try {
      await alerts.insertMany(documents, { ordered: false });
      return new Set();
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError)) throw error;
      const refused = [error.writeErrors].flat();
      const onlyDuplicates = refused.length > 0 && refused.every(isDuplicateKeyReply);
      if (!onlyDuplicates || error.result.getWriteConcernError() !== undefined) throw error;
      return new Set(refused.map(({ index }) => index));
    }
  };

  /** Of the alerts refused as duplicates, those that are not stored: it was the id that was taken. */
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

  /** As many of the first ones as fit; at least the very first, which no bound may hide for good. */
  const readRaws = async (
    documents: readonly Pick<AlertDocument, '_id' | 'bytes'>[],
    most: number,
  ): Promise<Map<number, string>> => {
    let bytes = 0;
    const ids = documents.flatMap((document, index) => {
      bytes += document.bytes;
      return index === 0 || bytes <= most ? [document._id] : [];
    });
    const found = await alerts.find({ _id: { $in: ids } }, { projection: { raw: 1 } }).toArray();
    return new Map(found.map(({ _id, raw }) => [_id, raw]));
  };

  return withMongoErrors<AlertStore>({
    ...createAlertQueue({ alerts, alertIds, marks }),
    async insert(batch) {
      let [stored, waiting] = [0, 0];
      let pending: readonly NewAlert[] = batch;
      const announced = marks.open(batch.map(({ receivedAt }) => receivedAt));
      for (let attempt = 0; pending.length > 0 && attempt < ATTEMPTS; attempt += 1) {
        if (attempt > 0) await raiseCounter();
        const [first] = await Promise.all([alertIds.reserve(pending.length), announced]);
        const refused = await insertUnordered(
          pending.map((alert, index) => toDocument(alert, first + index)),
        );
        const fresh = pending.filter((_, index) => !refused.has(index));
        stored += fresh.length;
        waiting += fresh.filter(({ state }) => state === 'waiting').length;
        // Taking a duplicate id for a duplicate alert would lose the alert.
        pending = await notStored(pending.filter((_, index) => refused.has(index)));
      }
      if (pending.length > 0)
        throw new AppError('STORAGE_ERROR', 'The counter of alert ids cannot be trusted.');
      (await announced)();
      return { stored, waiting };
    },
    async get(id) {
      const document = await alerts.findOne({ _id: id });
      return document && toAlert(document, document.raw);
    },
    async list(query) {
      // A gate and not a filter: with nothing newer in the whole table the answer is empty, else it is complete.
      if (query.newerThan !== undefined) {
        const newer = await alerts.findOne(
          { received_at: { $gt: query.newerThan } },
          { projection: { _id: 1 } },
        );
        if (newer === null) return [];
      }
      const documents = await alerts
        .find(toFilter(query), { projection: { raw: 0 } })
        .sort({ received_at: -1, _id: -1 })
        .skip(query.offset)
        .limit(query.limit)
        .toArray();
      const raws = await readRaws(documents, query.rawBytes ?? Infinity);
      return documents.map((document) => toAlert(document, raws.get(document._id) ?? null));
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
        ...{ id: document._id, watcher: document.watcher, version: document.version },
        ...{ filtered: document.filtered, ruleSet: document.rule_set ?? null },
        receivedAt: document.received_at,
        ...{ raw: document.raw, fields: document.fields },
      }));
    },
    async ruleMatches(name) {
      const [count, [last]] = await Promise.all([
        alerts.countDocuments({ matched: name }),
        alerts
          .find({ matched: name }, { projection: { received_at: 1 } })
          .sort({ received_at: -1 })
          .limit(1)
          .toArray(),
      ]);
      return { count, last: last?.received_at ?? null };
    },
    async removeOld(before, limit) {
      const old = { received_at: { $lte: before }, state: { $nin: KEPT_STATES } };
      const found = await alerts
        .find(old, { projection: { received_at: 1 } })
        .sort({ received_at: 1, _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      const settle = await marks.open(found.map(({ received_at }) => received_at));
      // Asked again: what was released in between waits, and stays.
      const { deletedCount } = await alerts.deleteMany({ ...old, _id: { $in: found.map(({ _id }) => _id) } });
      settle();
      return deletedCount;
    },
  });
};
