import { Context } from '@temporalio/activity';
import { AppError } from '../../schemas/app-error.js';
import type { Chunk } from '../../schemas/documents/documents.js';
import type { IndexationConfig } from '../../schemas/models/presets.js';
import type { EnrichmentStage, TaskRecord } from '../../schemas/documents/tasks.js';
import { countChunks, readChunkBatches } from './chunk-list.js';
import { readActiveTask } from './task-ref.js';
import type { DocumentRef } from './task-ref.js';
import { CONTEXTS_PER_PART, countContextParts, writeContexts } from './enrichment/context-list.js';
import { contextualizeChunk, openingOf } from './enrichment/contextualize-chunk.js';
import { describePictures } from './enrichment/describe-pictures.js';
import { enrichmentsOf, presetOf } from './enrichment/enrichment-plan.js';
import { topicTags } from './enrichment/topic-tags.js';
import type { LanguageModel } from '../ports/models.js';
import { isBuiltin } from '../models/builtin/builtin-endpoints.js';
import type { Adapters } from '../ports/adapters.js';
import { UNMEASURED } from '../ports/meter.js';
import type { Meter } from '../ports/meter.js';
import { placeOf } from './place-of.js';
import { timed } from './timed.js';

export interface EnrichmentActivityDeps {
  adapters: Pick<
    Adapters,
    'files' | 'tasks' | 'blobs' | 'models' | 'partitions' | 'presets' | 'promptSource'
  >;
  meter?: Pick<Meter, 'stageTook'>;
  /** One question to a model may take so long. */
  settings: { timeoutMs: number };
}

/** Chunks that a model is asked about at once. */
const AT_ONCE = 4;
/** So many questions in a row without an answer, and the rest of the document is left as it is. */
const MAX_FAILURES = 3;
/** Not the model's fault and not ours either, and still there at the fifth try: the document goes on without. */
const TRIES = 5;

/** Activities that have a model describe a document before it is embedded. */
export function createEnrichmentActivities(deps: EnrichmentActivityDeps) {
  const { tasks, blobs, models, promptSource } = deps.adapters;
  const { meter = UNMEASURED } = deps;

  const timeLimit = (signal: AbortSignal): AbortSignal =>
    AbortSignal.any([signal, AbortSignal.timeout(deps.settings.timeoutMs)]);

  /** The built-in model quotes; it follows no instructions. */
  const capableModel = async (name: string | null): Promise<LanguageModel> => {
    const model = await models.languageModel(name ?? undefined);
    if (isBuiltin(model)) throw new AppError('CONFIG_ERROR', 'The built-in language model cannot do this.');
    return model;
  };

  /** The document's beginning, from its first chunks. */
  const opening = async (task: TaskRecord): Promise<string> => {
    const batches = readChunkBatches(blobs, task.task_id, { skip: 0, size: CONTEXTS_PER_PART });
    for await (const { chunks } of batches) return openingOf(chunks);
    return '';
  };

  /**
   * Part by part, each put down before the next is begun: a retry goes on after the last one, and nothing is paid
   * for twice but the part that was interrupted. Throws once the model keeps failing; what there is by then stays.
   */
  const contextualize = async (
    task: TaskRecord,
    config: IndexationConfig,
    signal: AbortSignal,
  ): Promise<number> => {
    const owner = { taskId: task.task_id, fileKey: task.file_key, generation: task.generation };
    let part = await countContextParts(blobs, task.task_id);
    const model = await capableModel(config.contextualization_llm);
    const template = await promptSource.text('chunk_contextualizer', config.contextualization_prompt_name);
    const around = { filename: task.upload.filename, opening: await opening(task) };
    let failures = 0;
    // Some chunks of an earlier attempt's parts go without: what is stored of them does not tell that from a model that
    // had nothing to say.
    const wasDegraded = part > 0 && task.degraded_stages?.includes('contextualize') === true;
    let failed: unknown = wasDegraded ? new AppError('INFERENCE_CONNECTION_ERROR') : undefined;
    let isNoted = wasDegraded;
    const noteFailure = async (): Promise<void> => {
      if (failed === undefined || isNoted) return;
      const others = (task.degraded_stages ?? []).filter((stage) => stage !== 'contextualize');
      await tasks.noteEnrichment(task.task_id, { degradedStages: [...others, 'contextualize'] });
      isNoted = true;
    };

    const ask = async (chunk: Chunk, previous: Chunk | null): Promise<string | null> => {
      if (failures >= MAX_FAILURES) return null;
      try {
        const said = await contextualizeChunk(model, {
          template,
          mode: config.contextualization_mode,
          chunk,
          around: { ...around, previous },
          signal: timeLimit(signal),
        });
        failures = 0;
        return said;
      } catch (error) {
        signal.throwIfAborted();
        failures += 1;
        failed = error;
        return null;
      }
    };

    let last: Chunk | null = null;
    const size = CONTEXTS_PER_PART;
    for await (const { chunks: batch } of readChunkBatches(blobs, task.task_id, {
      skip: part * size,
      size,
    })) {
      const contexts: (string | null)[] = [];
      for (let from = 0; from < batch.length; from += AT_ONCE) {
        const group = batch.slice(from, from + AT_ONCE);
        const before = last;
        contexts.push(
          ...(await Promise.all(
            group.map((chunk, index) => ask(chunk, index === 0 ? before : (group[index - 1] ?? null))),
          )),
        );
        last = group.at(-1) ?? last;
      }
      if (failures >= MAX_FAILURES) break;
      // Before the part: with that the failure is over for every later attempt.
      await noteFailure();
      await writeContexts(blobs, owner, part, contexts, signal);
      part += 1;
      Context.current().heartbeat({ parts: part });
      if (!(await tasks.report(task.task_id, { stage: 'contextualize' })))
        throw new AppError('TASK_CANCELLED');
    }
    await tasks.noteEnrichment(task.task_id, { contextParts: part });
    if (failed !== undefined) throw failed;
    return part;
  };

  const tag = async (task: TaskRecord, config: IndexationConfig, signal: AbortSignal): Promise<void> => {
    if (task.derived_metadata?.['topic_tags'] !== undefined) return;
    const model = await capableModel(config.topic_tagging_llm ?? config.contextualization_llm);
    const tags = await topicTags(model, {
      template: await promptSource.text('topic_tagger', config.topic_tagging_prompt_name),
      filename: task.upload.filename,
      opening: await opening(task),
      most: config.max_topic_tags,
      signal: timeLimit(signal),
    });
    if (tags.length === 0) throw new AppError('LLM_PARSING_ERROR', 'The model named no topics.');
    await tasks.noteEnrichment(task.task_id, { derivedMetadata: { topic_tags: tags } });
  };

  /** A store that is away is waited for; anything else costs the enrichment and not the document. */
  const isTriedAgain = (error: unknown, attempt: number): boolean => {
    if (error instanceof AppError)
      return error.code === 'SERVICE_UNAVAILABLE' || error.code === 'TASK_CANCELLED';
    // Our own watch over the model, which is no fault of ours.
    return (error as { name?: unknown }).name !== 'TimeoutError' && attempt < TRIES;
  };

  const caption = (task: TaskRecord, config: IndexationConfig, signal: AbortSignal): Promise<void> =>
    describePictures({
      task,
      blobs,
      signal,
      model: () => models.visionModel(config.vlm ?? undefined),
      prompt: () => promptSource.text('image_captioning', config.image_captioning_prompt_name),
      timeLimit: () => timeLimit(signal),
      isTriedAgain: (error) => isTriedAgain(error, Context.current().info.attempt),
      async onPart(parts) {
        Context.current().heartbeat({ parts });
        if (!(await tasks.report(task.task_id, { stage: 'caption' }))) throw new AppError('TASK_CANCELLED');
      },
    });

  const perform = async (
    stage: EnrichmentStage,
    task: TaskRecord,
    config: IndexationConfig,
    signal: AbortSignal,
  ): Promise<void> => {
    if (!(await tasks.report(task.task_id, { stage }))) throw new AppError('TASK_CANCELLED');
    if (stage === 'caption') await caption(task, config, signal);
    if (stage === 'contextualize') await contextualize(task, config, signal);
    if (stage === 'topic_tag') await tag(task, config, signal);
  };

  /**
   * Adds the descriptions that the partition's preset asks for. A stage that fails is noted in the task, and from there
   * in the file's record, and the document is indexed without it. Repeating it pays for nothing twice. Of a document
   * with pictures it answers the number of its chunks, which depends on what was said of them.
   * @throws AppError NO_INDEXABLE_CONTENT when there were only pictures, and nothing was said of any
   */
  const enrichDocument = async (
    ref: DocumentRef,
  ): Promise<{ degraded: EnrichmentStage[]; chunkCount?: number }> => {
    const { cancellationSignal: signal, info } = Context.current();
    const task = await readActiveTask(tasks, ref);
    const config = await presetOf(deps.adapters, await placeOf(deps.adapters, task));
    const degraded: EnrichmentStage[] = [];
    for (const stage of enrichmentsOf(config, task.pictures)) {
      try {
        await timed(meter, stage, () => perform(stage, task, config!, signal));
      } catch (error) {
        signal.throwIfAborted();
        if (isTriedAgain(error, info.attempt)) throw error;
        degraded.push(stage);
      }
    }
    await tasks.noteEnrichment(task.task_id, { degradedStages: degraded });
    if ((task.pictures?.kept ?? 0) === 0) return { degraded };
    const chunkCount = await countChunks(blobs, task.task_id);
    if (chunkCount === 0) throw new AppError('NO_INDEXABLE_CONTENT');
    return { degraded, chunkCount };
  };

  return { enrichDocument };
}

export type EnrichmentActivities = ReturnType<typeof createEnrichmentActivities>;
