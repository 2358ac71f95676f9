import { describe, expect, test } from '@jest/globals';
import type { EvaluationRunStore } from '../../../activities/ports/evaluation.js';
import type { EvaluationSummary } from '../../../schemas/retrieval/evaluation.js';
import { until } from '../../support/until.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';
import { sampleResult, sampleRun } from './evaluation-samples.js';

const SUMMARY: EvaluationSummary = {
  failed: 0,
  measures: { ndcg_10: { mean: 0.5, low: 0.4, high: 0.6, count: 3 } },
  search: { p50: 12, p95: 20 },
  chat: null,
};

/** What every store of evaluation runs promises: a result stays, progress never goes back, a run ends once. */
export function evaluationRunStoreContract(subject: Subject<EvaluationRunStore>): void {
  describe(`evaluation run store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('a run begins once, as running', async () => {
      const run = sampleRun();
      await store().insert(run);
      await store().record(run.run_id, [sampleResult(0)]);
      await store().insert({ ...run, started_by: '2' });
      expect(await store().get(run.run_id)).toEqual({
        ...run,
        status: 'running',
        questions_done: 1,
        summary: null,
        error: null,
        started_at: expect.any(Date),
        updated_at: expect.any(Date),
        finished_at: null,
      });
      expect(await store().get('none')).toBeNull();
    });

    test('the first result of a question stays, whoever brings another, and counts once', async () => {
      const run = sampleRun();
      await store().insert(run);
      const chat = { answer: 'Yes [1].', refused: false, cited: ['f.1'], ms: 900 };
      await store().record(run.run_id, [sampleResult(2, { chat }), sampleResult(0)]);
      await Promise.all(
        [1, 2, 3].map((turn) =>
          store().record(run.run_id, [sampleResult(0, { search_ms: 100 * turn }), sampleResult(1)]),
        ),
      );
      expect(await store().results(run.run_id, 0, 10)).toEqual([
        sampleResult(0),
        sampleResult(1),
        sampleResult(2, { chat }),
      ]);
      expect(await store().results(run.run_id, 1, 1)).toEqual([sampleResult(1)]);
      expect((await store().get(run.run_id))!.questions_done).toBe(3);
    });

    test('ends once, and takes no results then', async () => {
      const run = sampleRun();
      await store().insert(run);
      await store().finish(run.run_id, { status: 'completed', error: null, summary: SUMMARY });
      await store().finish(run.run_id, { status: 'failed', error: 'late', summary: null });
      await store().record(run.run_id, [sampleResult(0)]);
      await store().record('none', [sampleResult(0)]);
      const ended = (await store().get(run.run_id))!;
      expect(ended).toMatchObject({ status: 'completed', error: null, summary: SUMMARY, questions_done: 0 });
      expect(ended.finished_at).toBeInstanceOf(Date);
      expect(await store().results(run.run_id, 0, 10)).toEqual([]);
      expect(await store().results('none', 0, 10)).toEqual([]);
    });

    test('lists those of a partition, the newest first, and removes one or all', async () => {
      const first = sampleRun();
      const second = sampleRun({ partition_key: first.partition_key });
      const foreign = sampleRun();
      for (const run of [first, second, foreign]) {
        await store().insert(run);
        await store().record(run.run_id, [sampleResult(0)]);
        const { started_at: at } = (await store().get(run.run_id))!;
        await until('a millisecond is over', async () => Date.now() > at.getTime(), { everyMs: 1 });
      }
      const listed = async (limit: number) =>
        (await store().list(first.partition_key, limit)).map(({ run_id }) => run_id);
      expect(await listed(9)).toEqual([second.run_id, first.run_id]);
      expect(await listed(1)).toEqual([second.run_id]);
      expect(await store().remove(second.run_id)).toBe(true);
      expect(await store().remove(second.run_id)).toBe(false);
      expect(await store().results(second.run_id, 0, 10)).toEqual([]);
      await store().removeAll(first.partition_key);
      expect(await listed(9)).toEqual([]);
      expect(await store().results(first.run_id, 0, 10)).toEqual([]);
      expect(await store().results(foreign.run_id, 0, 10)).toHaveLength(1);
    });
  });
}
