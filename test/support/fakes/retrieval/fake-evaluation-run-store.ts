import type { EvaluationRunStore } from '../../../../activities/ports/evaluation.js';
import type { EvaluationRunRecord, QuestionResult } from '../../../../schemas/retrieval/evaluation.js';
import { begunNow } from '../../../../schemas/run-record.js';
import { copyRecord } from '../copy-record.js';

/** Runs in a Map, in the order in which they began. */
export function createFakeEvaluationRunStore(): EvaluationRunStore {
  const runs = new Map<string, EvaluationRunRecord>();
  const results = new Map<string, Map<number, QuestionResult>>();
  const change = (runId: string, fields: Partial<EvaluationRunRecord>): void => {
    const run = runs.get(runId);
    if (run?.status === 'running') runs.set(runId, { ...run, ...copyRecord(fields), updated_at: new Date() });
  };
  const drop = (runId: string): boolean => {
    results.delete(runId);
    return runs.delete(runId);
  };
  return {
    async insert(given) {
      if (runs.has(given.run_id)) return;
      runs.set(given.run_id, {
        ...copyRecord(given),
        status: 'running',
        questions_done: 0,
        summary: null,
        ...begunNow(),
      });
    },
    async get(runId) {
      return copyRecord(runs.get(runId) ?? null);
    },
    async list(partitionKey, limit) {
      const newest = [...runs.values()].reverse();
      return copyRecord(newest.filter((run) => run.partition_key === partitionKey).slice(0, limit));
    },
    async record(runId, given) {
      if (runs.get(runId)?.status !== 'running') return;
      const kept = results.get(runId) ?? new Map<number, QuestionResult>();
      results.set(runId, kept);
      for (const result of given) if (!kept.has(result.index)) kept.set(result.index, copyRecord(result));
      change(runId, { questions_done: kept.size });
    },
    async results(runId, from, limit) {
      const kept = [...(results.get(runId)?.values() ?? [])];
      return copyRecord(
        kept
          .filter(({ index }) => index >= from && index < from + limit)
          .sort((one, other) => one.index - other.index),
      );
    },
    async finish(runId, end) {
      change(runId, { ...end, finished_at: new Date() });
    },
    async remove(runId) {
      return drop(runId);
    },
    async removeAll(partitionKey) {
      for (const { run_id, partition_key } of [...runs.values()])
        if (partition_key === partitionKey) drop(run_id);
    },
  };
}
