import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Adapters } from '../../../activities/ports/adapters.js';
import type { EvaluationStarter } from '../../../activities/ports/evaluation.js';
import { retrievalConfig } from '../../../activities/retrieval/search/retrieval-preset.js';
import { AppError } from '../../../schemas/app-error.js';
import type { RetrievalConfig } from '../../../schemas/models/presets.js';
import type { EvaluationRunRecord, EvaluationStart } from '../../../schemas/retrieval/evaluation.js';
import type { EvaluationRunBody } from '../../../schemas/retrieval/evaluation-api.js';
import { requireNamesInConfig } from '../../../activities/models/require-names.js';
import { requireSet } from './add-questions.js';

type Stores = Pick<
  Adapters,
  'partitions' | 'presets' | 'endpoints' | 'prompts' | 'questionSets' | 'evaluationRuns'
>;

/** Of a partition: with each run beyond, the oldest goes. */
const KEPT_RUNS = 100;

/**
 * Starts a run over a question set. The preset is read once: changing it changes no run that is under way.
 * @throws AppError PARTITION_NOT_FOUND, QUESTION_SET_NOT_FOUND, PRESET_NOT_FOUND, MODEL_ENDPOINT_NOT_FOUND,
 *   PROMPT_NOT_FOUND, EVALUATION_RUNNING; SERVICE_UNAVAILABLE when Temporal is away
 */
export async function startEvaluation(
  stores: Stores,
  workflows: EvaluationStarter,
  asked: { partition: string; userId: number; body: z.output<typeof EvaluationRunBody> },
): Promise<EvaluationRunRecord> {
  const { body } = asked;
  const { evaluationRuns: runs } = stores;
  const partition = await stores.partitions.get(asked.partition);
  if (partition === null) throw new AppError('PARTITION_NOT_FOUND', undefined, { plain: true });
  const { partition_key: key } = partition;
  const set = await requireSet(stores.questionSets, key, body.set, body.version);
  const overrides = Object.fromEntries(
    Object.entries(body.overrides).filter(([, value]) => value !== undefined),
  ) as Partial<RetrievalConfig>;
  await requireNamesInConfig(stores, 'retrieval', overrides);
  const preset = await presetOf(stores, body.preset ?? null, partition.retrieval_preset);
  const start: EvaluationStart = {
    run_id: randomUUID(),
    partition: partition.partition,
    partition_key: key,
    set: set.name,
    version: set.version,
    version_id: set.version_id,
    label: body.label ?? null,
    settings: { chat: body.chat, top_k: body.top_k, preset: body.preset ?? null, overrides },
    config: preset === null ? null : { ...preset, ...overrides },
    questions_total: set.questions,
    started_by: String(asked.userId),
  };
  await workflows.startEvaluation(start);
  // The workflow does the same; whichever comes first.
  await runs.insert(start);
  const run = await runs.get(start.run_id);
  if (run === null) throw new AppError('UNEXPECTED_ERROR');
  await forgetOldRuns(runs, key);
  return run;
}

/** A preset that is named must be there; the partition's own may have gone, and then the default one holds. */
async function presetOf(
  { presets }: Pick<Stores, 'presets'>,
  named: string | null,
  own: string | null,
): Promise<RetrievalConfig | null> {
  if (named !== null && (await presets.get('retrieval', named)) === null)
    throw new AppError('PRESET_NOT_FOUND', `The preset '${named}' does not exist.`);
  return retrievalConfig(presets, named ?? own);
}

async function forgetOldRuns(runs: Stores['evaluationRuns'], partitionKey: string): Promise<void> {
  const listed = await runs.list(partitionKey, KEPT_RUNS * 2);
  for (const { run_id, status } of listed.slice(KEPT_RUNS))
    if (status !== 'running') await runs.remove(run_id);
}
