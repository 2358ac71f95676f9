import type { Adapters } from '../../../activities/ports/adapters.js';
import type { ChatRequest, ChatSettings } from '../../../activities/retrieval/chat/chat-request.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { RetrievalConfig } from '../../../schemas/models/presets.js';

function named(name: string | null | undefined): name is string {
  return name != null && name !== '';
}

function fromPreset(config: RetrievalConfig): ChatSettings {
  const { top_n: topN, similarity_threshold: threshold, reranker, llm } = config;
  return {
    candidates: config.top_k,
    ...(topN === null ? {} : { topN }),
    ...(threshold === null ? {} : { similarityThreshold: threshold }),
    ...(named(llm) ? { rewritingModel: llm } : {}),
    type: config.type,
    rrfK: config.rrf_k,
    rerank: { enabled: config.enable_reranker, ...(named(reranker) ? { reranker } : {}) },
    includeRelated: config.include_related,
    includeAncestors: config.include_ancestors,
  };
}

/** Names of prompts, by what they are for; those without a name take the type's default. */
function promptNames(
  partition: PartitionRecord | null,
  config: RetrievalConfig | undefined,
): Pick<ChatSettings, 'prompts'> {
  const { sys_prompt: system, spoken_style_answer: spoken } = partition?.generation_prompt_names ?? {};
  const names = {
    system,
    spoken,
    contextualizer: config?.query_contextualizer_prompt_name,
    hyde: config?.hyde_prompt_name,
    multiQuery: config?.multi_query_prompt_name,
  };
  const chosen = Object.fromEntries(Object.entries(names).filter(([, name]) => named(name)));
  return Object.keys(chosen).length === 0 ? {} : { prompts: chosen };
}

/**
 * What the partition of a chat is set to: its retrieval preset, its prompts, and its own language model. A chat over
 * several partitions has the default preset. What a setting leaves open is the service's to say.
 */
export async function chatSettings(
  { partitions, presets }: Pick<Adapters, 'partitions' | 'presets'>,
  target: ChatRequest['target'],
): Promise<ChatSettings> {
  if (target.kind === 'direct') return {};
  const [only, ...others] = target.partitions === 'all' ? [] : target.partitions;
  const partition = only === undefined || others.length > 0 ? null : await partitions.get(only);
  const preset =
    (await presets.get('retrieval', partition?.retrieval_preset ?? 'default')) ??
    (await presets.get('retrieval', 'default'));
  return {
    ...(preset === null ? {} : fromPreset(preset.config)),
    ...promptNames(partition, preset?.config),
    ...(named(partition?.chat_llm) ? { languageModel: partition.chat_llm } : {}),
    ...(partition === null ? {} : { historyDepth: partition.chat_history_depth }),
  };
}
