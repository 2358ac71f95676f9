import { setImmediate } from 'node:timers/promises';
import { EVALUATION_MEASURES } from '../../../schemas/retrieval/evaluation.js';
import type { EvaluationSummary, Latency, QuestionResult } from '../../../schemas/retrieval/evaluation.js';
import { figureOf, percentile } from './measures.js';

/** The means of a run with their intervals. The same results give the same summary, in whatever order they came. */
export async function summarizeRun(results: readonly QuestionResult[]): Promise<EvaluationSummary> {
  const inOrder = [...results].sort((one, other) => one.index - other.index);
  const measures: EvaluationSummary['measures'] = {};
  for (const measure of EVALUATION_MEASURES) {
    await setImmediate();
    const figure = figureOf(inOrder.flatMap((result) => result.measures[measure] ?? []));
    if (figure !== null) measures[measure] = figure;
  }
  const asked = inOrder.filter(({ error }) => error === null);
  return {
    failed: inOrder.length - asked.length,
    measures,
    search: latencyOf(asked.map(({ search_ms: ms }) => ms)),
    chat: latencyOf(asked.flatMap(({ chat }) => chat?.ms ?? [])),
  };
}

function latencyOf(times: readonly number[]): Latency | null {
  if (times.length === 0) return null;
  const sorted = [...times].sort((one, other) => one - other);
  return { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95) };
}
