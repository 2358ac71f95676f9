import type { Adapters } from '../../activities/ports.js';
import type { ChatRequest } from '../../activities/retrieval/chat-service.js';

type ChatSettings = Pick<ChatRequest, 'candidates' | 'topN' | 'languageModel' | 'similarityThreshold'>;

/**
 * What the partition of a chat is set to: its retrieval preset, and its own language model. A chat over several
 * partitions has the default preset. What a setting leaves open is the service's to say.
 */
export const chatSettings = async (
  { partitions, presets }: Pick<Adapters, 'partitions' | 'presets'>,
  target: ChatRequest['target'],
): Promise<ChatSettings> => {
  if (target.kind === 'direct') return {};
  const [only, ...others] = target.partitions === 'all' ? [] : target.partitions;
  const partition = only === undefined || others.length > 0 ? null : await partitions.get(only);
  const preset =
    (await presets.get('retrieval', partition?.retrieval_preset ?? 'default')) ??
    (await presets.get('retrieval', 'default'));
  const { top_k: candidates, top_n: topN, similarity_threshold: threshold } = preset?.config ?? {};
  return {
    ...(candidates === undefined ? {} : { candidates }),
    ...(topN == null ? {} : { topN }),
    ...(threshold == null ? {} : { similarityThreshold: threshold }),
    ...(partition?.chat_llm == null ? {} : { languageModel: partition.chat_llm }),
  };
};
