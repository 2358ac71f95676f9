import { Context } from '@temporalio/activity';
import { AppError } from '../../../schemas/app-error.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type {
  EvaluationRunRecord,
  EvaluationStart,
  EvaluationStatus,
  QuestionResult,
} from '../../../schemas/retrieval/evaluation.js';
import type { Adapters } from '../../ports/adapters.js';
import { askQuestion } from './ask-question.js';
import type { AskingServices } from './ask-question.js';
import { summarizeRun } from './summarize-run.js';

export interface EvaluationActivityDeps extends AskingServices {
  adapters: Pick<Adapters, 'partitions' | 'questionSets' | 'evaluationRuns'>;
  /** A slice ends soon after; 5 s unless a test says otherwise. */
  sliceMs?: number;
}

export interface EvaluationSlice {
  /** Questions before this place have a result. */
  next: number;
  done: boolean;
}

const SLICE_MS = 5_000;
const PAGE = 50;
/** From this attempt on, after half a minute, an error that may lie in a question is taken for its result. */
const LAST_ATTEMPT = 8;

/**
 * Activities of an evaluation run. Each question's result is stored before the next is asked, and the first stays: a
 * slice that is repeated asks only what has no result yet.
 */
export function createEvaluationActivities(deps: EvaluationActivityDeps) {
  const { adapters, sliceMs = SLICE_MS } = deps;
  const { partitions, questionSets, evaluationRuns: runs } = adapters;

  /** @throws AppError EVALUATION_NOT_RUNNING when it was ended or removed */
  const requireRun = async (runId: string): Promise<EvaluationRunRecord> => {
    const run = await runs.get(runId);
    if (run?.status !== 'running') throw new AppError('EVALUATION_NOT_RUNNING');
    return run;
  };

  /** @throws AppError PARTITION_NOT_FOUND, also when another one has the name */
  const requirePartition = async (run: EvaluationRunRecord): Promise<PartitionRecord> => {
    const partition = await partitions.get(run.partition);
    if (partition?.partition_key !== run.partition_key)
      throw new AppError('PARTITION_NOT_FOUND', 'The partition was deleted.');
    return partition;
  };

  const everyResult = async (runId: string): Promise<QuestionResult[]> => {
    const all: QuestionResult[] = [];
    for (let from = 0; ; from += PAGE) {
      const page = await runs.results(runId, from, PAGE);
      if (page.length === 0) return all;
      all.push(...page);
    }
  };

  const beginEvaluation = (start: EvaluationStart): Promise<void> => runs.insert(start);

  /** Some seconds of a run. */
  const runEvaluationSlice = async (input: { runId: string; from: number }): Promise<EvaluationSlice> => {
    const context = Context.current();
    const signal = context.cancellationSignal;
    const endsAt = Date.now() + sliceMs;
    const run = await requireRun(input.runId);
    const { run_id: runId, version_id: versionId, settings, config, questions_total: total } = run;
    const threshold = settings.overrides.similarity_threshold ?? null;
    const reached = context.info.heartbeatDetails as number | undefined;
    let next = Math.max(input.from, reached ?? 0);
    const tried = context.info.attempt >= LAST_ATTEMPT ? next : null;
    while (next < total) {
      const from = next;
      const page = await questionSets.questions(versionId, from, PAGE);
      if (page.length === 0)
        throw new AppError('NOT_FOUND', `Version ${run.version} of '${run.set}' was deleted.`);
      const answered = new Set((await runs.results(runId, from, PAGE)).map(({ index }) => index));
      for (const [place, question] of page.entries()) {
        const index = from + place;
        if (!answered.has(index)) {
          const result = await askQuestion(deps, question, index, {
            partition: await requirePartition(run),
            config,
            chat: settings.chat,
            top_k: settings.top_k,
            givesUp: index === tried,
            ...(threshold !== null && { similarityThreshold: threshold }),
            signal,
          });
          await runs.record(runId, [result]);
        }
        next = index + 1;
        context.heartbeat(next);
        if (next < total && Date.now() >= endsAt) return { next, done: false };
      }
    }
    return { next, done: true };
  };

  /** Counts everything together. A run none of whose questions could be asked has failed. */
  const finishEvaluation = async ({
    runId,
  }: {
    runId: string;
  }): Promise<Exclude<EvaluationStatus, 'running'>> => {
    const run = await runs.get(runId);
    if (run === null) throw new AppError('EVALUATION_NOT_RUNNING');
    if (run.status !== 'running') return run.status;
    const results = await everyResult(runId);
    const summary = await summarizeRun(results);
    const [first] = results;
    const failed = first !== undefined && summary.failed === results.length;
    const status = failed ? 'failed' : 'completed';
    await runs.finish(runId, { status, error: failed ? (first.error?.message ?? null) : null, summary });
    return status;
  };

  /** Ends a run that did not come to its end. Nothing stays of one whose partition is gone. */
  const endEvaluation = async ({
    run,
    status,
    error,
  }: {
    run: Pick<EvaluationStart, 'run_id' | 'partition' | 'partition_key'>;
    status: 'failed' | 'cancelled';
    error: string | null;
  }): Promise<void> => {
    await runs.finish(run.run_id, { status, error, summary: null });
    const partition = await partitions.get(run.partition);
    if (partition?.partition_key !== run.partition_key) await runs.remove(run.run_id);
  };

  return { beginEvaluation, runEvaluationSlice, finishEvaluation, endEvaluation };
}

export type EvaluationActivities = ReturnType<typeof createEvaluationActivities>;
