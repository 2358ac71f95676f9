import type { Db, Filter } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { CallbackRecord, CallbackState } from '../../../../schemas/documents/tasks.js';
import type { CallbackStore } from '../../../ports/tasks.js';
import { withMongoErrors } from '../mongo-errors.js';
import { createEncryption } from '../encryption.js';

type CallbackDocument = Omit<CallbackRecord, 'task_id' | 'token'> & {
  _id: string;
  sealed_token: string | null;
};

const ENDED: CallbackState[] = ['delivered', 'failed', 'withdrawn'];

function endedBefore(before: Date): Filter<CallbackDocument> {
  return { state: { $in: ENDED }, updated_at: { $lt: before } };
}

/**
 * Callbacks in collection `callbacks`, by task.
 * @param key the bytes of SECRETS_KEY, which tokens are sealed with; null when it is not set
 * @param former keys that open tokens as well
 */
export function createMongoCallbackStore(
  db: Db,
  key: Buffer | null,
  former: readonly Buffer[],
): CallbackStore {
  const callbacks = db.collection<CallbackDocument>('callbacks');
  const box = key === null ? null : createEncryption(key, former);

  const toRecord = (
    { _id, sealed_token: _sealed, ...rest }: CallbackDocument,
    token: string | null,
  ): CallbackRecord => ({
    ...rest,
    task_id: _id,
    token,
  });
  const opened = (document: CallbackDocument): CallbackRecord => {
    const { sealed_token: sealed } = document;
    if (sealed === null) return toRecord(document, null);
    if (box === null) throw new AppError('CONFIG_ERROR', 'SECRETS_KEY is not set: a token cannot be read.');
    return toRecord(document, box.open(sealed, document._id));
  };

  return withMongoErrors<CallbackStore>({
    async insert({ taskId, url, token }) {
      if (token !== null && box === null)
        throw new AppError('SERVICE_UNAVAILABLE', 'SECRETS_KEY is not set: a callback_token cannot be kept');
      const now = new Date();
      const document: CallbackDocument = {
        _id: taskId,
        url,
        state: 'waiting',
        attempts: 0,
        last_status: null,
        last_error: null,
        sealed_token: token === null ? null : (box?.seal(token, taskId) ?? null),
        created_at: now,
        updated_at: now,
      };
      await callbacks.replaceOne({ _id: taskId }, document, { upsert: true });
    },
    async get(taskId) {
      const document = await callbacks.findOne({ _id: taskId });
      return document && opened(document);
    },
    async noteAttempt(taskId, { status, error }) {
      await callbacks.updateOne(
        { _id: taskId },
        { $inc: { attempts: 1 }, $set: { last_status: status, last_error: error, updated_at: new Date() } },
      );
    },
    async end(taskId, state) {
      await callbacks.updateOne(
        { _id: taskId, state: 'waiting' },
        { $set: { state, updated_at: new Date() } },
      );
    },
    async listUntried(before, limit) {
      const documents = await callbacks
        .find({ state: 'waiting', attempts: 0, created_at: { $lt: before } })
        .sort({ created_at: 1 })
        .limit(limit)
        .toArray();
      // Callbacks are not sent from here: the token stays encrypted.
      return documents.map((document) => toRecord(document, null));
    },
    async listStalled(before, limit) {
      const documents = await callbacks
        .find({ state: 'waiting', attempts: { $gt: 0 }, updated_at: { $lt: before } })
        .limit(limit)
        .toArray();
      return documents.map((document) => toRecord(document, null));
    },
    async remove(taskId) {
      await callbacks.deleteOne({ _id: taskId });
    },
    async removeEnded(before) {
      return (await callbacks.deleteMany(endedBefore(before))).deletedCount;
    },
    countEnded: (before, limit) => callbacks.countDocuments(endedBefore(before), { limit }),
  });
}
