import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { RetrievalConfig } from '../../../schemas/models/presets.js';
import type { ChatSettings } from './chat-request.js';

function named(name: string | null | undefined): name is string {
  return name != null && name !== '';
}

function fromPreset(config: RetrievalConfig): ChatSettings {
  const { top_n: topN, similarity_threshold: threshold, vector_weight: vectorWeight, reranker, llm } = config;
  return {
    candidates: config.top_k,
    ...(topN === null ? {} : { topN }),
    ...(threshold === null ? {} : { similarityThreshold: threshold }),
    ...(vectorWeight === null ? {} : { vectorWeight }),
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
  config: RetrievalConfig | null,
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
 * What a partition and a retrieval preset set of a chat; what they leave open is the service's to say.
 * @param partition null: a chat over several
 */
export function settingsOfChat(
  partition: PartitionRecord | null,
  config: RetrievalConfig | null,
): ChatSettings {
  return {
    ...(config === null ? {} : fromPreset(config)),
    ...promptNames(partition, config),
    ...(named(partition?.chat_llm) ? { languageModel: partition.chat_llm } : {}),
    ...(partition === null ? {} : { historyDepth: partition.chat_history_depth }),
  };
}
