import type { Db, Filter } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import { ACTIVE_STATES, FINAL_STATES } from '../../../../schemas/documents/tasks.js';
import type { TaskHead, TaskRecord, TaskState } from '../../../../schemas/documents/tasks.js';
import type { FileTask, ReadingFacts, TaskStore } from '../../../ports/tasks.js';
import { createBoundedLook } from '../bounded-look.js';
import { metadataFromText, metadataToText, withMetadata } from './metadata-json.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';
import { newestSince } from '../newest-since.js';

type TaskDocument = Omit<TaskRecord, 'task_id' | 'metadata' | 'derived_metadata'> & {
  _id: string;
  metadata: string;
  derived_metadata?: string;
};

function toDocument({ task_id, derived_metadata: derived, ...rest }: TaskRecord): TaskDocument {
  return {
    ...rest,
    _id: task_id,
    metadata: metadataToText(rest.metadata),
    ...(derived === undefined ? {} : { derived_metadata: metadataToText(derived) }),
  };
}

function toRecord({ _id, derived_metadata: derived, ...rest }: TaskDocument): TaskRecord {
  return {
    ...rest,
    task_id: _id,
    metadata: metadataFromText(rest.metadata),
    ...(derived === undefined ? {} : { derived_metadata: metadataFromText(derived) }),
  };
}

/** What a list of tasks leaves out. */
const LARGE_FIELDS = { metadata: 0, derived_metadata: 0, parse_report: 0 } as const;

type TaskHeadDocument = Omit<TaskDocument, keyof typeof LARGE_FIELDS>;

function toHead({ _id, ...rest }: TaskHeadDocument): TaskHead {
  return { ...rest, task_id: _id };
}

function readingFields({ parseReport, relationship }: ReadingFacts): Partial<TaskDocument> {
  return { ...(parseReport === undefined ? {} : { parse_report: parseReport }), ...relationship };
}

type FileTaskDocument = Omit<FileTask, 'task_id'> & { _id: string };
const OF_FILE = { generation: 1, state: 1, handed_over_at: 1, cleaned_at: 1, 'upload.upload_id': 1 };

const ACTIVE = { state: { $in: [...ACTIVE_STATES] } };
const FINAL = { state: { $in: [...FINAL_STATES] } };

/** A range of times, which an index answers: all but null, as `$ne` would say, is none. */
const HANDED_OVER = { $gt: new Date(0) };
/** So many are sorted within milliseconds, by whatever server. */
const LARGE = 1_000;

/** Task records in collection `tasks`. A final state never changes: every change of state is guarded on `ACTIVE`. */
export function createMongoTaskStore(db: Db): TaskStore {
  const tasks = db.collection<TaskDocument>('tasks');
  const lookAtWaiting = createBoundedLook(
    (userId: number, limit, below) =>
      tasks
        .find({
          user_id: userId,
          ...ACTIVE,
          handed_over_at: null,
          ...(below === null ? {} : { created_at: { $lt: new Date(below) } }),
        })
        .project<TaskHeadDocument>(LARGE_FIELDS)
        .sort({ created_at: 1 })
        .limit(limit)
        .toArray(),
    (task) => task.created_at.getTime(),
  );
  const change = (taskId: string, update: Partial<TaskDocument>) =>
    tasks.findOneAndUpdate({ _id: taskId, ...ACTIVE }, { $set: update }, { returnDocument: 'after' });
  const isLarge = async (filter: Filter<TaskDocument>) =>
    (await tasks.countDocuments(filter, { limit: LARGE })) === LARGE;

  /** Cleaned up after, and ended before. */
  const endedBefore = (before: Date): Filter<TaskDocument> => ({
    ...FINAL,
    // A task ends after it was created; said for the index, which has this time and not that of the end.
    created_at: { $lt: before },
    finished_at: { $lt: before },
    // A negation, so that no server reads the whole index of what is cleaned up for it.
    $nor: [{ cleaned_at: null }],
  });

  return withMongoErrors<TaskStore>({
    async insert(task) {
      try {
        await tasks.insertOne(toDocument(task));
      } catch (error) {
        if (isDuplicateKey(error)) throw new AppError('CONFLICT', `The task ${task.task_id} exists already.`);
        throw error;
      }
    },
    async get(taskId) {
      const document = await tasks.findOne({ _id: taskId });
      return document && toRecord(document);
    },
    async getMany(taskIds) {
      const found = await tasks.find({ _id: { $in: [...taskIds] } }).toArray();
      return new Map(found.map((document) => [document._id, toRecord(document)]));
    },
    async begin(taskId, update = {}) {
      const begun = { state: 'SERIALIZING', ...update } as const;
      const first = await tasks.findOneAndUpdate(
        { _id: taskId, ...ACTIVE, started_at: null },
        { $set: { ...begun, started_at: new Date() } },
        { returnDocument: 'after' },
      );
      // Begun before: a retried activity or a restarted worker.
      const task = first ?? (await change(taskId, { ...begun, attempt: Math.max(2, update.attempt ?? 2) }));
      return task && toRecord(task);
    },
    async advance(taskId, update) {
      const task = await change(taskId, update);
      return task && toRecord(task);
    },
    async report(taskId, update) {
      if (Object.keys(update).length === 0)
        return (await tasks.countDocuments({ _id: taskId, ...ACTIVE }, { limit: 1 })) === 1;
      const { matchedCount } = await tasks.updateOne({ _id: taskId, ...ACTIVE }, { $set: update });
      return matchedCount === 1;
    },
    async noteEnrichment(taskId, added) {
      const { derivedMetadata, contextParts, pictures, degradedStages } = added;
      const set = {
        ...readingFields(added),
        ...(derivedMetadata === undefined ? {} : { derived_metadata: metadataToText(derivedMetadata) }),
        ...(contextParts === undefined ? {} : { context_parts: contextParts }),
        ...(pictures === undefined ? {} : { pictures }),
        ...(degradedStages === undefined ? {} : { degraded_stages: degradedStages }),
      };
      await tasks.updateOne({ _id: taskId, ...ACTIVE }, { $set: set });
    },
    async finish(taskId, state, failure) {
      const done = state === 'COMPLETED' ? { stage: 'done' as const, progress: 1 } : {};
      const { matchedCount } = await tasks.updateOne(
        { _id: taskId, ...ACTIVE },
        { $set: { state, error: failure ?? null, finished_at: new Date(), ...done } },
      );
      return matchedCount === 1;
    },
    async complete(taskId, { cleaned, ...facts }) {
      const now = new Date();
      const set = {
        ...readingFields(facts),
        state: 'COMPLETED' as const,
        error: null,
        stage: 'done' as const,
        progress: 1,
        finished_at: now,
        ...(cleaned ? { cleaned_at: now } : {}),
      };
      const { matchedCount } = await tasks.updateOne({ _id: taskId, ...ACTIVE }, { $set: set });
      return matchedCount === 1;
    },
    async cancelMany(taskIds, failure) {
      await tasks.updateMany(
        { _id: { $in: [...taskIds] }, ...ACTIVE },
        { $set: { state: 'CANCELLED', error: failure, finished_at: new Date() } },
      );
    },
    async markHandedOver(taskId) {
      await tasks.updateOne({ _id: taskId }, { $set: { handed_over_at: new Date() } });
    },
    async markCleaned(fileKey, upToGeneration, fromGeneration = 0) {
      const generation = { $gte: fromGeneration, $lte: upToGeneration };
      await tasks.updateMany(
        { file_key: fileKey, generation, ...FINAL, cleaned_at: null },
        { $set: { cleaned_at: new Date() } },
      );
    },
    async listByFile(fileKey) {
      const documents = await tasks
        .find({ file_key: fileKey })
        .project<FileTaskDocument>(OF_FILE)
        .sort({ generation: 1 })
        .toArray();
      return documents.map(({ _id, ...rest }) => ({ ...rest, task_id: _id }));
    },
    async listNotHandedOver(before, limit) {
      const documents = await tasks
        .find({ ...ACTIVE, handed_over_at: null, created_at: { $lt: before } })
        .sort({ created_at: 1 })
        .limit(limit)
        .toArray();
      return documents.map(toRecord);
    },
    async listActiveSince(before, limit, from = new Date(0)) {
      const documents = await tasks
        .find({ ...ACTIVE, handed_over_at: { $gte: from, $lt: before } })
        .sort({ handed_over_at: 1 })
        .limit(limit)
        .toArray();
      return documents.map(toRecord);
    },
    async listUncleaned(before, limit) {
      const documents = await tasks
        .find({ ...FINAL, cleaned_at: null, finished_at: { $lt: before } })
        .sort({ finished_at: 1 })
        .limit(limit)
        .toArray();
      return documents.map(toRecord);
    },
    async remove(taskId) {
      await tasks.deleteOne({ _id: taskId });
    },
    async list({ userId, states, partition, limit }) {
      const wanted = {
        ...(userId === null ? {} : { user_id: userId }),
        ...(partition === undefined ? {} : { partition }),
        state: { $in: [...states] },
      };
      const since = (await isLarge(wanted))
        ? await newestSince(
            (time) => tasks.countDocuments({ ...wanted, created_at: { $gte: time } }, { limit }),
            limit,
          )
        : null;
      const documents = await tasks
        .find(
          { ...wanted, ...(since === null ? {} : { created_at: { $gte: since } }) },
          { projection: LARGE_FIELDS },
        )
        .sort({ created_at: -1 })
        .limit(limit)
        .toArray();
      return documents.map(toHead);
    },
    async getHeads(taskIds) {
      const documents = await tasks
        .find({ _id: { $in: [...taskIds] } }, { projection: LARGE_FIELDS })
        .toArray();
      return new Map(documents.map((document) => [document._id, toHead(document)]));
    },
    async readMetadata(taskIds) {
      const documents = await tasks
        .find({ _id: { $in: [...taskIds] } }, { projection: { metadata: 1 } })
        .toArray();
      return new Map(documents.map(({ _id, metadata }) => [_id, withMetadata({}, metadata)]));
    },
    async countByState() {
      const counts = { QUEUED: 0, SERIALIZING: 0, COMPLETED: 0, FAILED: 0, CANCELLED: 0 };
      const groups = tasks.aggregate<{ _id: TaskState; count: number }>([
        { $group: { _id: '$state', count: { $sum: 1 } } },
      ]);
      for await (const { _id, count } of groups) counts[_id] = count;
      return counts;
    },
    async countActive(userId, most) {
      return tasks.countDocuments(
        { ...(userId === null ? {} : { user_id: userId }), ...ACTIVE },
        { limit: most },
      );
    },
    async countRunning(userId, most) {
      return tasks.countDocuments(
        { user_id: userId, ...ACTIVE, handed_over_at: HANDED_OVER },
        { limit: most },
      );
    },
    async countTurns() {
      const count = async (handedOver: null | typeof HANDED_OVER): Promise<Map<number, number>> => {
        const groups = await tasks
          .aggregate<{ _id: number; count: number }>([
            { $match: { ...ACTIVE, handed_over_at: handedOver } },
            { $group: { _id: '$user_id', count: { $sum: 1 } } },
          ])
          .toArray();
        return new Map(groups.map((group) => [group._id, group.count]));
      };
      const [waiting, running] = await Promise.all([count(null), count(HANDED_OVER)]);
      return [...waiting].map(([userId, number]) => ({
        userId,
        waiting: number,
        running: running.get(userId) ?? 0,
      }));
    },
    async listWaiting(userId, limit) {
      return (await lookAtWaiting(userId, limit)).map(toHead);
    },
    async removeEnded(before) {
      const { deletedCount } = await tasks.deleteMany(endedBefore(before));
      return deletedCount;
    },
    countEnded: (before, limit) => tasks.countDocuments(endedBefore(before), { limit }),
    async *scan() {
      for await (const document of tasks.find({}, { batchSize: 500 })) yield toRecord(document);
    },
  });
}
