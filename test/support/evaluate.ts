import type { EvaluationRunRecord, QuestionResult } from '../../schemas/retrieval/evaluation.js';
import type { RetrievalConfig } from '../../schemas/models/presets.js';
import { askStack } from './ask-stack.js';
import type { RunningStack } from './running-stack.js';
import { until } from './until.js';

type Stack = Pick<RunningStack, 'request'>;
export type Run = Pick<EvaluationRunRecord, 'status' | 'questions_done' | 'summary' | 'error'> & {
  run_id: string;
};

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
  questions: readonly { id: string; question: string; relevant: readonly string[] }[],
): Promise<void> {
  const content = questions.map((question) => JSON.stringify(question)).join('\n');
  const path = `/evaluation/partition/${partition}/question-sets/${set}`;
  await ask(stack, 201, ['POST', path, { format: 'jsonl', content }]);
}

function runsOf(partition: string): string {
  return `/evaluation/partition/${partition}/runs`;
}

/** @returns its id */
export async function startRun(
  stack: Stack,
  partition: string,
  body: { set: string; chat?: boolean; overrides?: Partial<RetrievalConfig> },
): Promise<string> {
  return (await ask<Run>(stack, 202, ['POST', runsOf(partition), body])).run_id;
}

export function readRun(stack: Stack, partition: string, runId: string): Promise<Run> {
  return ask<Run>(stack, 200, ['GET', `${runsOf(partition)}/${runId}`]);
}

export function endOfRun(stack: Stack, partition: string, runId: string): Promise<Run> {
  return until(
    'the run has ended',
    async () => {
      const run = await readRun(stack, partition, runId);
      return run.status !== 'running' && run;
    },
    { withinMs: 30 * 60_000, everyMs: 50 },
  );
}

/** Of at most a thousand questions. */
export async function readResults(stack: Stack, partition: string, runId: string): Promise<QuestionResult[]> {
  const path = `${runsOf(partition)}/${runId}/results?limit=1000`;
  return (await ask<{ results: QuestionResult[] }>(stack, 200, ['GET', path])).results;
}

/** A run over a set whose questions all name what is relevant; waits for its end. */
export async function evaluate(
  stack: Stack,
  partition: string,
  body: Parameters<typeof startRun>[2],
): Promise<Evaluated> {
  const runId = await startRun(stack, partition, body);
  const run = await endOfRun(stack, partition, runId);
  if (run.summary === null || run.summary.failed > 0)
    throw new Error(`the run ended ${run.status}: ${JSON.stringify(run)}`);
  const results = await readResults(stack, partition, runId);
  return { summary: run.summary, ndcg: results.map(({ measures }) => measures.ndcg_10!) };
}
