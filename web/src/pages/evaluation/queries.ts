import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client';
import type { components } from '../../api/schema.gen';

export type QuestionSetVersion = components['schemas']['QuestionSetVersion'];
export type Run = components['schemas']['EvaluationRun'];
export type Result = components['schemas']['EvaluationResultList']['results'][number];
export type Feedback = components['schemas']['Feedback'];

/** In the order in which they are shown. */
export const MEASURES = [
  'ndcg_10',
  'recall_10',
  'recall_50',
  'mrr',
  'citation_precision',
  'citation_recall',
  'verified',
  'answer_recall',
  'refused_right',
  'refused_wrong',
] as const;
export type Measure = (typeof MEASURES)[number];

export const RUN_COLOURS = {
  running: 'blue',
  completed: 'green',
  failed: 'red',
  cancelled: 'gray',
} as const;

const RUNNING_MS = 1_000;
const RESULTS_PAGE = 1_000;
const MORE_RESULTS_MS = 5_000;

async function readRuns(partition: string) {
  return (
    await bodyOf(api.GET('/evaluation/partition/{partition}/runs', { params: { path: { partition } } }))
  ).runs;
}

export function setsQuery(partition: string) {
  return queryOptions({
    queryKey: ['evaluation', partition, 'sets'],
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/evaluation/partition/{partition}/question-sets', { params: { path: { partition } } }),
        )
      ).question_sets,
  });
}

export function runsQuery(partition: string) {
  return queryOptions({
    queryKey: ['evaluation', partition, 'runs'],
    queryFn: () => readRuns(partition),
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ status }) => status === 'running') === true ? RUNNING_MS : false,
  });
}

export function runQuery(partition: string, run: string) {
  return queryOptions({
    queryKey: ['evaluation', partition, 'run', run],
    queryFn: () =>
      bodyOf(
        api.GET('/evaluation/partition/{partition}/runs/{run_id}', {
          params: { path: { partition, run_id: run } },
        }),
      ),
    refetchInterval: ({ state: { data } }) => (data?.status === 'running' ? RUNNING_MS : false),
  });
}

/** Every question of a run that has been asked; those that are known stay as they are. */
async function readResults(
  partition: string,
  run: string,
  known: readonly Result[],
  signal: AbortSignal,
): Promise<Result[]> {
  const results = [...known];
  for (;;) {
    const page = await bodyOf(
      api.GET('/evaluation/partition/{partition}/runs/{run_id}/results', {
        params: {
          path: { partition, run_id: run },
          query: { offset: results.length, limit: RESULTS_PAGE },
        },
        signal,
      }),
    );
    results.push(...page.results);
    if (page.results.length < RESULTS_PAGE) return results;
  }
}

/** @param done how many were asked by now: what is missing of them is read soon */
export function resultsQuery(partition: string, run: string, done: number | undefined) {
  const queryKey = ['evaluation', partition, 'results', run];
  return queryOptions({
    queryKey,
    enabled: done !== undefined,
    queryFn: ({ client, signal }) =>
      readResults(partition, run, client.getQueryData<Result[]>(queryKey) ?? [], signal),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && data.length < (done ?? 0) ? MORE_RESULTS_MS : false,
  });
}

export function comparisonQuery(partition: string, before: string, after: string) {
  return queryOptions({
    queryKey: ['evaluation', partition, 'comparison', before, after],
    queryFn: () =>
      bodyOf(
        api.GET('/evaluation/partition/{partition}/runs/{run_id}/comparison', {
          params: { path: { partition, run_id: after }, query: { before, limit: 0 } },
        }),
      ),
  });
}

export function feedbackQuery(partition: string, rating: Feedback['rating'] | null) {
  return queryOptions({
    queryKey: ['evaluation', partition, 'feedback', rating],
    queryFn: async () =>
      (
        await bodyOf(
          api.GET('/evaluation/partition/{partition}/feedback', {
            params: { path: { partition }, query: { limit: 1_000, ...(rating === null ? {} : { rating }) } },
          }),
        )
      ).feedback,
  });
}
