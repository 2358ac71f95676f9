import { describe, expect, it } from '@jest/globals';
import { compareRuns } from '../../../../activities/retrieval/evaluation/compare-runs.js';
import { summarizeRun } from '../../../../activities/retrieval/evaluation/summarize-run.js';
import type { Measured, QuestionResult } from '../../../../schemas/retrieval/evaluation.js';

function result(id: string, measures: Measured, more: Partial<QuestionResult> = {}): QuestionResult {
  return {
    index: Number(id),
    question_id: id,
    question: `What is ${id}?`,
    measures,
    found: [],
    search_ms: 10 * (Number(id) + 1),
    chat: null,
    error: null,
    ...more,
  };
}

const ALL = { measure: 'ndcg_10', limit: 10 } as const;

describe('compareRuns', () => {
  it('says what got better and what worse, the largest changes first', async () => {
    const before = [0.5, 0.5, 0.5, 0.5, 0.5].map((ndcg_10, id) => result(String(id), { ndcg_10 }));
    const after = [0.6, 0.1, 0.5, 1, 0.4].map((ndcg_10, id) => result(String(id), { ndcg_10 }));
    const compared = await compareRuns(before, after, ALL);
    expect(compared.better.map(({ question_id: id }) => id)).toEqual(['3', '0']);
    expect(compared.worse.map(({ question_id: id }) => id)).toEqual(['1', '4']);
    expect(compared.measures.ndcg_10).toEqual({
      before: 0.5,
      after: expect.closeTo(0.52, 9),
      difference: expect.objectContaining({ mean: expect.closeTo(0.02, 9), count: 5 }),
      better: 2,
      worse: 2,
      same: 1,
    });
    const { low, high } = compared.measures.ndcg_10!.difference;
    expect(low).toBeLessThan(0);
    expect(high).toBeGreaterThan(0);
    expect((await compareRuns(before, after, { ...ALL, limit: 1 })).better).toHaveLength(1);
    expect(await compareRuns(before, before, ALL)).toMatchObject({ better: [], worse: [], questions: 5 });
  });

  it('pairs questions by id and text, and counts the others', async () => {
    const before = [result('0', { mrr: 1 }), result('1', { mrr: 1 }), result('2', { mrr: 1 })];
    const after = [
      result('1', { mrr: 0.5 }, { index: 0 }),
      result('0', { mrr: 1 }, { question: 'Another one?' }),
    ];
    const compared = await compareRuns(before, after, { measure: 'mrr', limit: 10 });
    expect(compared).toMatchObject({ questions: 1, only_before: 2, only_after: 1, better: [] });
    expect(compared.worse).toEqual([
      { question_id: '1', question: 'What is 1?', before: { mrr: 1 }, after: { mrr: 0.5 }, gain: -0.5 },
    ]);
  });

  it('compares a measure over questions that have it in both, and knows that fewer wrong refusals are better', async () => {
    const before = [result('0', { refused_wrong: 1 }), result('1', { refused_wrong: 0, verified: 1 })];
    const after = [result('0', { refused_wrong: 0 }), result('1', { refused_wrong: 0 })];
    const compared = await compareRuns(before, after, { measure: 'refused_wrong', limit: 10 });
    expect(compared.measures.verified).toBeUndefined();
    expect(compared.measures.refused_wrong).toMatchObject({ before: 0.5, after: 0, better: 1, worse: 0 });
    expect(compared.better).toEqual([expect.objectContaining({ question_id: '0', gain: 1 })]);
    expect(await compareRuns([], [], ALL)).toMatchObject({ questions: 0, measures: {} });
  });
});

describe('summarizeRun', () => {
  it('is the same in whatever order the results come', async () => {
    const results = Array.from({ length: 30 }, (_, id) => result(String(id), { ndcg_10: (id % 7) / 7 }));
    const shuffled = [...results.slice(11), ...results.slice(0, 11).reverse()];
    expect(await summarizeRun(shuffled)).toEqual(await summarizeRun(results));
  });

  it('counts failures, and leaves their times out', async () => {
    const error = { code: 'INVALID_FILTER', message: 'No.' };
    const chat = { answer: '', refused: true, cited: [], ms: 700 };
    const summary = await summarizeRun([
      result('0', { mrr: 1 }, { chat }),
      result('1', { mrr: 0 }, { error, search_ms: 0 }),
      result('2', {}),
    ]);
    expect(summary).toEqual({
      failed: 1,
      measures: { mrr: { mean: 0.5, low: 0, high: 1, count: 2 } },
      search: { p50: 10, p95: 30 },
      chat: { p50: 700, p95: 700 },
    });
    expect(await summarizeRun([])).toEqual({ failed: 0, measures: {}, search: null, chat: null });
  });
});
