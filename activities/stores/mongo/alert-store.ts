import { MongoBulkWriteError } from 'mongodb';
import type { Db, Filter } from 'mongodb';
import { AppError } from '../../../schemas/app-error.js';
import { FORWARDING_WAS_OFF } from '../../../schemas/signals.js';
import type { Alert, ApiVersion, DeliveryState, NewAlert } from '../../../schemas/signals.js';
import { compactJson } from '../../capi/signals/compact-json.js';
import type { AlertQuery, AlertStore } from '../../proxy-ports.js';
import { createAlertMarks } from './alert-marks.js';
import { isDuplicateKey, withMongoErrors } from './mongo-errors.js';

/** An alert as collection `alerts` keeps it. */
interface AlertDocument {
  /** From the counter `alert`: ever increasing, never used twice. */
  _id: number;
  watcher: string;
  /** Unique per watcher. */
  identity: string;
  version: ApiVersion;
  state: DeliveryState;
  state_reason: string | null;
  /** Its place in the watcher's queue: the id, or a later number once it has been released from quarantine. */
  position: number;
  reasons: string[];
  /** Names of the rules that matched, and the version of the rules; missing in records of before. */
  matched?: string[];
  rule_set?: string;
  raw: string;
  bytes: number;
  /** There when `raw` is a note about an item too large to keep; such an alert is never released. */
  note_only?: true;
  received_at: Date;
  filtered: boolean;
  forwarded: boolean;
  forwarded_at: Date | null;
  /** For the filter: servers differ in what "case-insensitive" means. */
  scenario_folded: string;
  fields: NewAlert['fields'];
  decisions: NewAlert['decisions'];
}

interface CounterDocument {
  _id: string;
  value: number;
}

/** A counter that was restored from an older backup hands out ids that are taken; raised once, it is right again. */
const ATTEMPTS = 5;

/** What waits for CAPI, or for a person: no retention takes it. */
const KEPT_STATES: DeliveryState[] = ['waiting', 'quarantined'];

const DURABLE = { writeConcern: { w: 'majority', journal: true } } as const;

const toDocument = (alert: NewAlert, id: number): AlertDocument => ({
  _id: id,
  watcher: alert.watcher,
  identity: alert.identity,
  version: alert.version,
  state: alert.state,
  state_reason: alert.stateReason ?? null,
  position: id,
  reasons: alert.reasons,
  ...(alert.matched !== undefined && alert.matched.length > 0 ? { matched: alert.matched } : {}),
  ...(alert.ruleSet === undefined ? {} : { rule_set: alert.ruleSet }),
  raw: alert.raw,
  bytes: Buffer.byteLength(alert.raw),
  ...(alert.noteOnly === true ? { note_only: true } : {}),
  received_at: alert.receivedAt,
  filtered: alert.state === 'filtered',
  forwarded: false,
  forwarded_at: null,
  scenario_folded: alert.fields.scenario.toLowerCase(),
  fields: alert.fields,
  decisions: alert.decisions,
});

/** @param raw null when it is left out of a long list */
const toAlert = (document: Omit<AlertDocument, 'raw'>, raw: string | null): Alert => ({
  ...document.fields,
  id: document._id,
  receivedAt: document.received_at.toISOString(),
  filtered: document.filtered,
  filterReasons: document.reasons.length === 0 ? null : JSON.stringify(document.reasons),
  forwardedToCapi: document.forwarded,
  forwardedAt: document.forwarded_at?.toISOString() ?? null,
  rawJson: raw === null ? null : compactJson(raw),
});

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
  const counters = db.collection<CounterDocument>('counters', DURABLE);
  const marks = createAlertMarks(db);

  /** Reserves ids in one step and answers the first one. Those of a batch that fails are never used. */
  const reserveIds = async (count: number): Promise<number> => {
    const reserve = () =>
      counters.findOneAndUpdate(
        { _id: 'alert' },
        { $inc: { value: count } },
        { upsert: true, returnDocument: 'after' },
      );
    const document = await reserve().catch((error: unknown) => {
      // Only the very first call can collide, with another one that inserts the counter.
      if (isDuplicateKey(error)) return reserve();
      throw error;
    });
    if (document === null) throw new Error('an upsert answers a document');
    return document.value - count + 1;
  };

  const raiseCounter = async (): Promise<void> => {
    const [last] = await alerts
      .find({}, { projection: { _id: 1 } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    await counters.updateOne({ _id: 'alert' }, { $max: { value: last?._id ?? 0 } });
  };

  /** Answers which of the alerts a unique key refused, by position. */
  const insertUnordered = async (documents: AlertDocument[]): Promise<Set<number>> => {
    try {
      await alerts.insertMany(documents, { ordered: false });
      return new Set();
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError)) throw error;
      const refused = [error.writeErrors].flat();
      const onlyDuplicates = refused.length > 0 && refused.every(({ code }) => code === 11000);
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
    async insert(batch) {
      let [stored, waiting] = [0, 0];
      let pending: readonly NewAlert[] = batch;
      const announced = marks.open(batch.map(({ receivedAt }) => receivedAt));
      for (let attempt = 0; pending.length > 0 && attempt < ATTEMPTS; attempt += 1) {
        if (attempt > 0) await raiseCounter();
        const [first] = await Promise.all([reserveIds(pending.length), announced]);
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
    async nextWaiting(watcher, limit) {
      const documents = await alerts
        .find({ watcher, state: 'waiting' }, { projection: { version: 1, bytes: 1 } })
        .sort({ position: 1 })
        .limit(limit)
        .toArray();
      return documents.map(({ _id, version, bytes }) => ({ id: _id, version, bytes }));
    },
    async readWaiting(ids) {
      const documents = await alerts
        .find({ _id: { $in: [...ids] }, state: 'waiting' }, { projection: { raw: 1 } })
        .toArray();
      const raws = new Map(documents.map(({ _id, raw }) => [_id, raw]));
      return ids.flatMap((id) => {
        const raw = raws.get(id);
        return raw === undefined ? [] : [{ id, raw }];
      });
    },
    async markForwarded(ids, at) {
      const waiting = { _id: { $in: [...ids] }, state: 'waiting' } as const;
      const found = await alerts.find(waiting, { projection: { received_at: 1 } }).toArray();
      const settle = await marks.open(found.map(({ received_at }) => received_at));
      await alerts.updateMany(waiting, {
        $set: { state: 'forwarded', forwarded: true, forwarded_at: at },
      });
      settle();
    },
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
      const position = await reserveIds(1);
      const { matchedCount } = await alerts.updateOne(
        { _id: id, state: 'quarantined' },
        { $set: { state: 'waiting', state_reason: null, position } },
      );
      return matchedCount === 1 ? { watcher: found.watcher } : null;
    },
    async releaseWithheld(watcher, limit) {
      const found = await alerts
        .find({ watcher, state: 'withheld', state_reason: FORWARDING_WAS_OFF }, { projection: { _id: 1 } })
        .sort({ position: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      const first = await reserveIds(found.length);
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
      return modifiedCount;
    },
    async discard(id) {
      const { matchedCount } = await alerts.updateOne(
        { _id: id, state: 'quarantined' },
        { $set: { state: 'discarded' } },
      );
      return matchedCount === 1;
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
    async watchersWaiting(before, limit) {
      const groups = await alerts
        .aggregate<{ _id: string }>([
          { $match: { state: 'waiting', received_at: { $lt: before } } },
          { $group: { _id: '$watcher', oldest: { $min: '$received_at' } } },
          { $sort: { oldest: 1, _id: 1 } },
          { $limit: limit },
        ])
        .toArray();
      return groups.map(({ _id }) => _id);
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
