import type { EvaluationRunRecord, QuestionResult } from '../../schemas/retrieval/evaluation.js';
import type { RetrievalConfig } from '../../schemas/models/presets.js';
import { askStack } from '../support/ask-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';

type Stack = Pick<RunningStack, 'request'>;
type Run = Pick<EvaluationRunRecord, 'status' | 'summary' | 'error'> & { run_id: string };

export interface Evaluated {
  summary: NonNullable<Run['summary']>;
  /** nDCG@10 of each question, in the order of the set. */
  ndcg: number[];
}

async function ask<T>(
  stack: Stack,
  expected: number,
  [method, path, body]: [method: string, path: string, body?: object],
): Promise<T> {
  const answer = await askStack<T>(stack, method, path, body);
  if (answer.status !== expected) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.body;
}

export async function uploadQuestions(
  stack: Stack,
  partition: string,
  set: string,
  questions: readonly { id: string; question: string; relevant: string[] }[],
): Promise<void> {
  const content = questions.map((question) => JSON.stringify(question)).join('\n');
  const path = `/evaluation/partition/${partition}/question-sets/${set}`;
  await ask(stack, 201, ['POST', path, { format: 'jsonl', content }]);
}

/** A run over a set whose questions all name what is relevant; waits for its end. */
export async function evaluate(
  stack: Stack,
  partition: string,
  body: { set: string; overrides?: Partial<RetrievalConfig> },
): Promise<Evaluated> {
  const path = `/evaluation/partition/${partition}/runs`;
  const { run_id: runId } = await ask<Run>(stack, 202, ['POST', path, body]);
  const run = await until(
    'the run has ended',
    async () => {
      const now = await ask<Run>(stack, 200, ['GET', `${path}/${runId}`]);
      return now.status !== 'running' && now;
    },
    { withinMs: 30 * 60_000, everyMs: 500 },
  );
  if (run.summary === null || run.summary.failed > 0)
    throw new Error(`the run ended ${run.status}: ${JSON.stringify(run)}`);
  const { results } = await ask<{ results: QuestionResult[] }>(stack, 200, [
    'GET',
    `${path}/${runId}/results?limit=1000`,
  ]);
  return { summary: run.summary, ndcg: results.map(({ measures }) => measures.ndcg_10!) };
}
