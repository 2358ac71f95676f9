import { createEmbeddingActivities } from '../../activities/documents/embedding-activities.js';
import { createPublisher } from '../../activities/documents/publish-version.js';
import { createEnrichmentActivities } from '../../activities/documents/enrichment-activities.js';
import { createStoredPromptSource } from '../../activities/models/seeds/stored-prompts.js';
import type { ChatMessage, ChatOptions, LanguageModel, Picture } from '../../activities/ports/models.js';
import { seededPresets } from '../../activities/models/seeds/seeded-presets.js';
import { checkStores } from '../../activities/documents/clean-up/check-stores.js';
import { parseConfig } from '../../schemas/config/config.js';
import type { IndexationConfig } from '../../schemas/models/presets.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import { activityBench, inActivity, refOf, scriptedParser } from './activity-bench.js';

type ScriptedParser = Parameters<typeof activityBench>[0];

/** What a scripted model says, or how it fails. */
export type Answer = (
  question: string,
  options: ChatOptions,
  pictures: readonly Picture[],
) => Promise<string> | string;

function scriptedModel(answer: Answer): LanguageModel & { asked: string[]; shown: Buffer[] } {
  const asked: string[] = [];
  const shown: Buffer[] = [];
  return {
    asked,
    shown,
    endpointName: 'writer',
    modelName: 'scripted',
    contextTokens: 8192,
    async *stream() {
      throw new Error('nobody watches');
    },
    async complete(messages: readonly ChatMessage[], options) {
      const question = messages.map(({ content }) => content).join('\n');
      const pictures = messages.flatMap((message) => message.pictures ?? []);
      asked.push(question);
      shown.push(...pictures.map(({ bytes }) => bytes));
      return { content: await answer(question, options, pictures), finishReason: 'stop' };
    },
  };
}

/** A bench whose partition has a preset with these settings, and a language model that answers so. */
export async function enrichmentBench(
  config: Partial<IndexationConfig>,
  answer: Answer,
  {
    texts = ['one', 'two', 'three'],
    headings = [],
    timeoutMs = 5000,
    builtin = false,
    parser = scriptedParser(texts, headings),
  }: {
    texts?: string[];
    headings?: string[];
    timeoutMs?: number;
    builtin?: boolean;
    parser?: ScriptedParser;
  } = {},
) {
  const bench = await activityBench(parser);
  for (const preset of seededPresets(parseConfig({}))) await bench.presets.seed(preset);
  const preset = await bench.presets.get('indexation', 'default');
  await bench.presets.create({ ...preset!, name: 'rich', config: { ...preset!.config, ...config } });
  await bench.partitions.update('library', { indexation_preset: 'rich' });
  const model = scriptedModel(answer);
  const embedded: string[] = [];
  /** Endpoints that were asked for a language model, by name; undefined: the default. */
  const chosen: (string | undefined)[] = [];
  const models = {
    ...bench.models,
    visionModel: async () => (builtin ? bench.models.visionModel() : model),
    languageModel: async (name?: string) => {
      chosen.push(name);
      return builtin ? bench.models.languageModel() : model;
    },
    embedder: async (name: string) => {
      const embedder = await bench.models.embedder(name);
      return {
        ...embedder,
        embed: (given: readonly string[], options: Parameters<typeof embedder.embed>[1]) => {
          embedded.push(...given);
          return embedder.embed(given, options);
        },
      };
    },
  };
  const adapters = { ...bench, models, promptSource: createStoredPromptSource(bench.prompts) };
  const { enrichDocument } = createEnrichmentActivities({ adapters, settings: { timeoutMs } });
  const { embedDocument } = createEmbeddingActivities({
    adapters,
    publish: createPublisher(bench, { keepUploads: true }),
  });

  /** All steps of the plan. */
  const index = async (task: TaskRecord) => {
    const ref = refOf(task);
    const { chunkCount, enrich } = await inActivity(() => bench.documents.parseDocument(ref)).result;
    const enriched = enrich === true ? await inActivity(() => enrichDocument(ref)).result : undefined;
    await inActivity(() => embedDocument(ref)).result;
    const count = enriched?.chunkCount ?? chunkCount;
    await inActivity(() => bench.documents.publishDocument(ref, count)).result;
    return { enrich, live: (await bench.files.get('library', task.file_id))?.live };
  };
  const drifts = () => checkStores(bench, { deduplicate: true });
  return { ...bench, model, chosen, embedded, enrichDocument, index, drifts };
}
