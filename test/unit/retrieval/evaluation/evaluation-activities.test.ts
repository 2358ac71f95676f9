import { describe, expect, it } from '@jest/globals';
import { createEvaluationActivities } from '../../../../activities/retrieval/evaluation/evaluation-activities.js';
import { AppError } from '../../../../schemas/app-error.js';
import type { EvaluationStart } from '../../../../schemas/retrieval/evaluation.js';
import { inActivity } from '../../../support/activity-bench.js';
import { openEvaluationStage } from '../../../support/evaluation-stage.js';

async function openStage(more: Partial<EvaluationStart> = {}, sliceMs = 60_000) {
  const stage = await openEvaluationStage({ files: 4, ...more });
  const activities = createEvaluationActivities({ ...stage, sliceMs });
  await activities.beginEvaluation(stage.start);
  const { run_id: runId } = stage.start;
  const slice = (from = 0, info: Parameters<typeof inActivity>[1] = {}) =>
    inActivity(() => activities.runEvaluationSlice({ runId, from }), info);
  return { ...stage, activities, runId, slice };
}

function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );
}

describe('a slice', () => {
  it('ends when its time is over, and goes on where it is told', async () => {
    const { slice, asked, questions, run } = await openStage({}, 0);
    expect(await slice().result).toEqual({ next: 1, done: false });
    expect(await slice(1).result).toEqual({ next: 2, done: false });
    expect(asked).toEqual(questions.slice(0, 2));
    expect((await run())!.questions_done).toBe(2);
    await slice(2).result;
    expect(await slice(3).result).toEqual({ next: 4, done: true });
  });

  it('asks nothing twice: neither what it beat for, nor what has a result', async () => {
    const { slice, asked, questions, results } = await openStage();
    const first = slice();
    await first.result;
    expect(first.beats).toEqual([1, 2, 3, 4]);
    const before = await results();
    // A worker that died between the result and the beat.
    expect(await slice(0, { attempt: 2, heartbeatDetails: 2 }).result).toEqual({ next: 4, done: true });
    expect(await slice().result).toEqual({ next: 4, done: true });
    expect(asked).toEqual(questions);
    expect(await results()).toEqual(before);
  });

  it('finds each file first, in the partition alone', async () => {
    const { slice, results, activities, runId, run } = await openStage();
    await slice().result;
    for (const { measures, found, question_id: id } of await results()) {
      expect(measures).toEqual({ ndcg_10: 1, recall_10: 1, recall_50: 1, mrr: 1 });
      expect(found[0]).toBe(id);
    }
    expect(await activities.finishEvaluation({ runId })).toBe('completed');
    expect(await activities.finishEvaluation({ runId })).toBe('completed');
    expect((await run())!.summary!.measures.mrr).toEqual({ mean: 1, low: 1, high: 1, count: 4 });
  });

  it('asks chat as well where that is wanted', async () => {
    const settings = { chat: true, top_k: 5, preset: null, overrides: {} };
    const { slice, results } = await openStage({ settings });
    await slice().result;
    for (const { chat, measures, question_id: id } of await results()) {
      expect(chat!.answer).toContain(id);
      expect(chat!.cited).toContain(id);
      expect(measures).toMatchObject({ citation_recall: 1, refused_wrong: 0, verified: 1 });
    }
  });

  it('asks again what an engine that is away could not answer, and keeps what failed for good', async () => {
    const stage = await openStage();
    const { adapters, search, chat, runId, results, run } = stage;
    const failing = (code: 'VDB_CONNECTION_ERROR' | 'CONTEXT_TOO_LONG', text: string) =>
      createEvaluationActivities({
        adapters,
        chat,
        search: {
          search: async (request) => {
            if (request.text.includes(text)) throw new AppError(code);
            return search.search(request);
          },
        },
      });
    const away = failing('VDB_CONNECTION_ERROR', 'violin');
    const first = inActivity(() => away.runEvaluationSlice({ runId, from: 0 })).result;
    expect(await codeOf(first)).toBe('VDB_CONNECTION_ERROR');
    expect(await results()).toHaveLength(2);
    const refusing = failing('CONTEXT_TOO_LONG', 'violin');
    await inActivity(() => refusing.runEvaluationSlice({ runId, from: 0 })).result;
    expect((await results())[2]).toMatchObject({
      question_id: 'violin',
      error: { code: 'CONTEXT_TOO_LONG' },
      measures: { ndcg_10: 0, mrr: 0 },
    });
    expect(await refusing.finishEvaluation({ runId })).toBe('completed');
    expect((await run())!.summary).toMatchObject({ failed: 1, measures: { mrr: { mean: 0.75 } } });
  });

  it('gives a question up that fails again and again, and never for an engine that is away', async () => {
    const { adapters, chat, search, runId, results } = await openStage();
    const failing = (code: 'VDB_CONNECTION_ERROR' | 'INFERENCE_ERROR') => {
      const activities = createEvaluationActivities({
        adapters,
        chat,
        search: {
          search: async (request) => {
            if (request.text.includes('quartz')) throw new AppError(code);
            return search.search(request);
          },
        },
      });
      return (attempt: number) =>
        inActivity(() => activities.runEvaluationSlice({ runId, from: 1 }), { attempt }).result;
    };
    expect(await codeOf(failing('VDB_CONNECTION_ERROR')(99))).toBe('VDB_CONNECTION_ERROR');
    expect(await codeOf(failing('INFERENCE_ERROR')(7))).toBe('INFERENCE_ERROR');
    expect(await results()).toEqual([]);
    expect(await failing('INFERENCE_ERROR')(8)).toEqual({ next: 4, done: true });
    expect((await results())[0]).toMatchObject({ question_id: 'quartz', error: { code: 'INFERENCE_ERROR' } });
  });

  it('fails when no question at all could be asked', async () => {
    const { adapters, chat, runId, run } = await openStage();
    const search = {
      search: async () => {
        throw new AppError('MODEL_ENDPOINT_NOT_FOUND', 'The reranker is gone.');
      },
    };
    const activities = createEvaluationActivities({ adapters, chat, search });
    await inActivity(() => activities.runEvaluationSlice({ runId, from: 0 })).result;
    expect(await activities.finishEvaluation({ runId })).toBe('failed');
    expect(await run()).toMatchObject({ status: 'failed', error: 'The reranker is gone.' });
  });

  it('stops when it is cancelled, and when the run, its set or its partition is gone', async () => {
    const stage = await openStage();
    const stopped = stage.slice();
    stopped.cancel();
    await expect(stopped.result).rejects.toThrow();
    await stage.adapters.questionSets.removeAll(stage.start.partition_key);
    expect(await codeOf(stage.slice().result)).toBe('NOT_FOUND');

    const other = await openStage();
    await other.adapters.partitions.removeDeleted((await other.adapters.partitions.markDeleted('library'))!);
    await other.adapters.partitions.create({ partition: 'library', embedder: 'builtin-hash', ownerId: 2 });
    expect(await codeOf(other.slice().result)).toBe('PARTITION_NOT_FOUND');
    const { start, activities, runId } = other;
    await activities.endEvaluation({ run: start, status: 'failed', error: 'The partition was deleted.' });
    expect(await other.run()).toBeNull();
    expect(await codeOf(other.slice().result)).toBe('EVALUATION_NOT_RUNNING');
    expect(await codeOf(activities.finishEvaluation({ runId }))).toBe('EVALUATION_NOT_RUNNING');
  });
});
