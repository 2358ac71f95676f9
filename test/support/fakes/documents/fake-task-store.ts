import type { TaskStore } from '../../../../activities/ports/tasks.js';
import { AppError } from '../../../../schemas/app-error.js';
import { isFinalState } from '../../../../schemas/documents/tasks.js';
import type { TaskHead, TaskRecord } from '../../../../schemas/documents/tasks.js';
import { copyRecord } from '../copy-record.js';

function toHead({
  metadata: _metadata,
  derived_metadata: _derived,
  parse_report: _report,
  ...head
}: TaskRecord): TaskHead {
  return head;
}

/** Task records in a Map. */
export function createFakeTaskStore(): TaskStore {
  const tasks = new Map<string, TaskRecord>();
  const activeTask = (taskId: string): TaskRecord | null => {
    const task = tasks.get(taskId);
    return task === undefined || isFinalState(task.state) ? null : task;
  };
  const select = (
    keep: (task: TaskRecord) => boolean,
    by: (task: TaskRecord) => number,
    limit = Infinity,
  ): TaskRecord[] =>
    copyRecord(
      [...tasks.values()]
        .filter(keep)
        .sort((a, b) => by(a) - by(b))
        .slice(0, limit),
    );
  const endedBefore = (before: Date): TaskRecord[] =>
    [...tasks.values()].filter(
      (task) => task.cleaned_at !== null && task.finished_at !== null && task.finished_at < before,
    );

  return {
    async insert(task) {
      if (tasks.has(task.task_id)) throw new AppError('CONFLICT', `The task ${task.task_id} exists already.`);
      tasks.set(task.task_id, copyRecord(task));
    },
    async get(taskId) {
      return copyRecord(tasks.get(taskId) ?? null);
    },
    async getMany(taskIds) {
      const found = taskIds.flatMap((taskId) => tasks.get(taskId) ?? []);
      return new Map(found.map((task) => [task.task_id, copyRecord(task)]));
    },
    async begin(taskId, update = {}) {
      const task = activeTask(taskId);
      if (task === null) return null;
      const again = task.started_at === null ? {} : { attempt: Math.max(2, update?.attempt ?? 2) };
      Object.assign(task, update, again, {
        state: 'SERIALIZING',
        started_at: task.started_at ?? new Date(),
      });
      return copyRecord(task);
    },
    async advance(taskId, update) {
      const task = activeTask(taskId);
      return task === null ? null : copyRecord(Object.assign(task, update));
    },
    async report(taskId, update) {
      const task = activeTask(taskId);
      if (task === null) return false;
      Object.assign(task, update);
      return true;
    },
    async noteEnrichment(taskId, added) {
      const { derivedMetadata, contextParts, pictures, degradedStages, parseReport, relationship } = added;
      const task = tasks.get(taskId);
      if (task === undefined || isFinalState(task.state)) return;
      if (derivedMetadata !== undefined) task.derived_metadata = derivedMetadata;
      if (contextParts !== undefined) task.context_parts = contextParts;
      if (pictures !== undefined) task.pictures = pictures;
      if (degradedStages !== undefined) task.degraded_stages = degradedStages;
      if (parseReport !== undefined) task.parse_report = copyRecord(parseReport);
      if (relationship !== undefined) Object.assign(task, relationship);
    },
    async finish(taskId, state, failure) {
      const task = activeTask(taskId);
      if (task === null) return false;
      Object.assign(task, { state, error: copyRecord(failure ?? null), finished_at: new Date() });
      if (state === 'COMPLETED') Object.assign(task, { stage: 'done', progress: 1 });
      return true;
    },
    async complete(taskId, { parseReport, relationship, cleaned }) {
      const task = activeTask(taskId);
      if (task === null) return false;
      const now = new Date();
      Object.assign(task, relationship, { state: 'COMPLETED', error: null, stage: 'done', progress: 1 });
      Object.assign(task, { finished_at: now }, cleaned ? { cleaned_at: now } : {});
      if (parseReport !== undefined) task.parse_report = copyRecord(parseReport);
      return true;
    },
    async cancelMany(taskIds, failure) {
      for (const task of taskIds.map(activeTask))
        if (task !== null)
          Object.assign(task, { state: 'CANCELLED', error: copyRecord(failure), finished_at: new Date() });
    },
    async markHandedOver(taskId) {
      const task = tasks.get(taskId);
      if (task !== undefined) task.handed_over_at = new Date();
    },
    async markCleaned(fileKey, upToGeneration, fromGeneration = 0) {
      for (const task of tasks.values()) {
        const inRange = task.generation >= fromGeneration && task.generation <= upToGeneration;
        if (task.file_key === fileKey && inRange && isFinalState(task.state)) task.cleaned_at ??= new Date();
      }
    },
    async listByFile(fileKey) {
      const listed = select(
        (task) => task.file_key === fileKey,
        (task) => task.generation,
      );
      return listed.map(({ task_id, generation, state, handed_over_at, cleaned_at, upload }) => ({
        task_id,
        generation,
        state,
        handed_over_at,
        cleaned_at,
        upload: { upload_id: upload.upload_id },
      }));
    },
    async listNotHandedOver(before, limit) {
      return select(
        (task) => !isFinalState(task.state) && task.handed_over_at === null && task.created_at < before,
        (task) => task.created_at.getTime(),
        limit,
      );
    },
    async listActiveSince(before, limit, from = new Date(0)) {
      const handedOver = (task: TaskRecord) => task.handed_over_at?.getTime() ?? Infinity;
      return select(
        (task) =>
          !isFinalState(task.state) &&
          handedOver(task) >= from.getTime() &&
          handedOver(task) < before.getTime(),
        handedOver,
        limit,
      );
    },
    async listUncleaned(before, limit) {
      const finished = (task: TaskRecord) => task.finished_at?.getTime() ?? 0;
      return select(
        (task) => isFinalState(task.state) && task.cleaned_at === null && finished(task) < before.getTime(),
        finished,
        limit,
      );
    },
    async remove(taskId) {
      tasks.delete(taskId);
    },
    async list({ userId, states, partition, limit }) {
      return select(
        (task) =>
          (userId === null || task.user_id === userId) &&
          (partition === undefined || task.partition === partition) &&
          states.includes(task.state),
        (task) => -task.created_at.getTime(),
        limit,
      ).map(toHead);
    },
    async getHeads(taskIds) {
      const found = taskIds.flatMap((taskId) => tasks.get(taskId) ?? []);
      return new Map(found.map((task) => [task.task_id, toHead(copyRecord(task))]));
    },
    async readMetadata(taskIds) {
      const found = taskIds.flatMap((taskId) => tasks.get(taskId) ?? []);
      return new Map(found.map(({ task_id, metadata }) => [task_id, copyRecord({ metadata })]));
    },
    async countByState() {
      const counts = { QUEUED: 0, SERIALIZING: 0, COMPLETED: 0, FAILED: 0, CANCELLED: 0 };
      for (const task of tasks.values()) counts[task.state] += 1;
      return counts;
    },
    async countActive(userId, most) {
      const active = [...tasks.values()].filter(
        (task) => !isFinalState(task.state) && (userId === null || task.user_id === userId),
      );
      return Math.min(active.length, most);
    },
    async countRunning(userId, most) {
      const running = select(
        (task) => task.user_id === userId && !isFinalState(task.state) && task.handed_over_at !== null,
        () => 0,
        most,
      );
      return running.length;
    },
    async countTurns() {
      const turns = new Map<number, { userId: number; waiting: number; running: number }>();
      for (const task of tasks.values()) {
        if (isFinalState(task.state)) continue;
        const turn = turns.get(task.user_id) ?? { userId: task.user_id, waiting: 0, running: 0 };
        turn[task.handed_over_at === null ? 'waiting' : 'running'] += 1;
        turns.set(task.user_id, turn);
      }
      return [...turns.values()].filter(({ waiting }) => waiting > 0);
    },
    async listWaiting(userId, limit) {
      const waiting = select(
        (task) => task.user_id === userId && !isFinalState(task.state) && task.handed_over_at === null,
        (task) => task.created_at.getTime(),
        limit,
      );
      return waiting.map(toHead);
    },
    async removeEnded(before) {
      const ended = endedBefore(before);
      for (const task of ended) tasks.delete(task.task_id);
      return ended.length;
    },
    countEnded: async (before, limit) => Math.min(limit, endedBefore(before).length),
    async *scan() {
      for (const task of [...tasks.values()]) yield copyRecord(task);
    },
  };
}
