import type { CallbackStore } from '../../../../activities/ports/tasks.js';
import type { CallbackRecord } from '../../../../schemas/documents/tasks.js';
import { copyRecord } from '../copy-record.js';

/** Callbacks in a Map. */
export function createFakeCallbackStore(): CallbackStore {
  const callbacks = new Map<string, CallbackRecord>();
  return {
    async insert({ taskId, url, token }) {
      const now = new Date();
      callbacks.set(taskId, {
        task_id: taskId,
        url,
        token,
        state: 'waiting',
        attempts: 0,
        last_status: null,
        last_error: null,
        created_at: now,
        updated_at: now,
      });
    },
    async get(taskId) {
      return copyRecord(callbacks.get(taskId) ?? null);
    },
    async noteAttempt(taskId, { status, error }) {
      const callback = callbacks.get(taskId);
      if (callback === undefined) return;
      callback.attempts += 1;
      Object.assign(callback, { last_status: status, last_error: error, updated_at: new Date() });
    },
    async end(taskId, state) {
      const callback = callbacks.get(taskId);
      if (callback?.state === 'waiting') Object.assign(callback, { state, updated_at: new Date() });
    },
    async listUntried(before, limit) {
      return [...callbacks.values()]
        .filter(
          ({ state, attempts, created_at }) => state === 'waiting' && attempts === 0 && created_at < before,
        )
        .slice(0, limit)
        .map((callback) => ({ ...copyRecord(callback), token: null }));
    },
    async listStalled(before, limit) {
      return [...callbacks.values()]
        .filter(
          ({ state, attempts, updated_at }) => state === 'waiting' && attempts > 0 && updated_at < before,
        )
        .slice(0, limit)
        .map((callback) => ({ ...copyRecord(callback), token: null }));
    },
    async remove(taskId) {
      callbacks.delete(taskId);
    },
    countEnded: async (before, limit) =>
      [...callbacks.values()]
        .filter(({ state, updated_at }) => state !== 'waiting' && updated_at < before)
        .slice(0, limit).length,
    async removeEnded(before) {
      const ended = [...callbacks.values()].filter(
        ({ state, updated_at }) => state !== 'waiting' && updated_at < before,
      );
      for (const { task_id: taskId } of ended) callbacks.delete(taskId);
      return ended.length;
    },
  };
}
