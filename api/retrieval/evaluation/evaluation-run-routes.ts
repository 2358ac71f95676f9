import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { compareRuns } from '../../../activities/retrieval/evaluation/compare-runs.js';
import { AppError } from '../../../schemas/app-error.js';
import type { EvaluationRunRecord, QuestionResult } from '../../../schemas/retrieval/evaluation.js';
import {
  ComparisonQuery,
  EvaluationComparison,
  EvaluationResultList,
  EvaluationRun,
  EvaluationRunBody,
  EvaluationRunList,
  ResultsQuery,
} from '../../../schemas/retrieval/evaluation-api.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { PartitionParams } from '../../http/identifiers.js';
import { presentRun } from '../../http/progress-events.js';
import { empty, json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import { requirePartitionKey } from './require-partition-key.js';
import { startEvaluation } from './start-evaluation.js';

const RUNS = '/evaluation/partition/{partition}/runs';
const RUN = `${RUNS}/{run_id}`;
const TAG = 'Evaluation';
const LISTED = 100;
const PAGE = 1_000;
/** A cancel is answered with what came of it, where that is known so soon. */
const CANCEL_MS = 3_000;
const LOOK_MS = 50;

const RunParams = PartitionParams.extend({ run_id: z.string() });

/** Evaluation runs: a question set asked of search, and of chat where that is wanted. */
export function evaluationRunRoutes({ adapters, workflows }: GatewayDeps): Route[] {
  const { partitions, evaluationRuns: runs } = adapters;

  /** A run of another partition is not found. */
  const requireRun = async (partition: string, runId: string): Promise<EvaluationRunRecord> => {
    const key = await requirePartitionKey(partitions, partition);
    const run = await runs.get(runId);
    if (run?.partition_key !== key) throw new AppError('EVALUATION_NOT_FOUND');
    return run;
  };

  const everyResult = async ({ run_id, questions_total }: EvaluationRunRecord): Promise<QuestionResult[]> => {
    const all: QuestionResult[] = [];
    for (let from = 0; from < questions_total; from += PAGE)
      all.push(...(await runs.results(run_id, from, PAGE)));
    return all;
  };

  const cancel = async (run: EvaluationRunRecord): Promise<EvaluationRunRecord> => {
    if (run.status !== 'running') throw new AppError('EVALUATION_NOT_RUNNING');
    // One that no workflow is at work on: it was terminated in Temporal.
    if (!(await workflows.cancelEvaluation(run)))
      await runs.finish(run.run_id, { status: 'cancelled', error: null, summary: null });
    const until = Date.now() + CANCEL_MS;
    for (;;) {
      const present = (await runs.get(run.run_id)) ?? run;
      if (present.status !== 'running' || Date.now() >= until) return present;
      await setTimeout(LOOK_MS);
    }
  };

  return [
    route({
      method: 'get',
      path: RUNS,
      summary: 'Evaluation runs of the partition',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: PartitionParams },
      responses: { 200: { description: 'The runs', schema: EvaluationRunList } },
      errors: ['PARTITION_NOT_FOUND'],
      async handle(_ctx, { params }) {
        const key = await requirePartitionKey(partitions, params.partition);
        return json(200, { runs: (await runs.list(key, LISTED)).map(present) });
      },
    }),
    route({
      method: 'post',
      path: RUNS,
      summary: 'Ask every question of a set, with a preset or settings of its own; one run at a time',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: PartitionParams, body: EvaluationRunBody },
      responses: { 202: { description: 'It has begun', schema: EvaluationRun } },
      errors: [
        'PARTITION_NOT_FOUND',
        'VALIDATION_ERROR',
        'QUESTION_SET_NOT_FOUND',
        'PRESET_NOT_FOUND',
        'MODEL_ENDPOINT_NOT_FOUND',
        'PROMPT_NOT_FOUND',
        'EVALUATION_RUNNING',
        'SERVICE_UNAVAILABLE',
      ],
      async handle({ principal }, { params, body }) {
        const { partition } = params;
        const { userId } = principal;
        return json(202, present(await startEvaluation(adapters, workflows, { partition, userId, body })));
      },
    }),
    route({
      method: 'get',
      path: RUN,
      summary: 'An evaluation run with its figures',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: RunParams },
      responses: { 200: { description: 'The run', schema: EvaluationRun } },
      errors: ['PARTITION_NOT_FOUND', 'EVALUATION_NOT_FOUND'],
      handle: async (_ctx, { params }) =>
        json(200, present(await requireRun(params.partition, params.run_id))),
    }),
    route({
      method: 'get',
      path: `${RUN}/results`,
      summary: 'What came of each question',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: RunParams, query: ResultsQuery },
      responses: { 200: { description: 'In the order of the set', schema: EvaluationResultList } },
      errors: ['PARTITION_NOT_FOUND', 'EVALUATION_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { params, query }) {
        const { run_id, questions_total: total } = await requireRun(params.partition, params.run_id);
        return json(200, { total, results: await runs.results(run_id, query.offset, query.limit) });
      },
    }),
    route({
      method: 'get',
      path: `${RUN}/comparison`,
      summary: 'This run beside an earlier one, question by question',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: RunParams, query: ComparisonQuery },
      responses: { 200: { description: 'What got better, and what worse', schema: EvaluationComparison } },
      errors: ['PARTITION_NOT_FOUND', 'EVALUATION_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle(_ctx, { params, query }) {
        const after = await requireRun(params.partition, params.run_id);
        const before = await requireRun(params.partition, query.before);
        const { measure, limit } = query;
        const [former, latter] = [await everyResult(before), await everyResult(after)];
        const compared = await compareRuns(former, latter, { measure, limit });
        return json(200, { before: present(before), after: present(after), ...compared });
      },
    }),
    route({
      method: 'post',
      path: `${RUN}/cancel`,
      summary: 'End a run; the results that there are stay',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: RunParams },
      responses: { 200: { description: 'The run', schema: EvaluationRun } },
      errors: [
        'PARTITION_NOT_FOUND',
        'EVALUATION_NOT_FOUND',
        'EVALUATION_NOT_RUNNING',
        'SERVICE_UNAVAILABLE',
      ],
      handle: async (_ctx, { params }) =>
        json(200, present(await cancel(await requireRun(params.partition, params.run_id)))),
    }),
    route({
      method: 'delete',
      path: RUN,
      summary: 'Delete a run that has ended, with its results',
      tag: TAG,
      auth: { partition: 'editor' },
      request: { params: RunParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['PARTITION_NOT_FOUND', 'EVALUATION_NOT_FOUND', 'EVALUATION_RUNNING'],
      async handle(_ctx, { params }) {
        const { run_id, status } = await requireRun(params.partition, params.run_id);
        if (status === 'running')
          throw new AppError('EVALUATION_RUNNING', 'The run must be cancelled first.');
        await runs.remove(run_id);
        return empty(204);
      },
    }),
  ];
}

function present({
  partition_key: _key,
  version_id: _version,
  config: _config,
  ...run
}: EvaluationRunRecord) {
  return presentRun(run);
}
