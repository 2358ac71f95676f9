import type { Adapters } from '../../../activities/ports/adapters.js';
import type { ChatRequest, ChatSettings } from '../../../activities/retrieval/chat/chat-request.js';
import { settingsOfChat } from '../../../activities/retrieval/chat/chat-settings.js';
import { retrievalConfig } from '../../../activities/retrieval/search/retrieval-preset.js';

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
  return settingsOfChat(partition, await retrievalConfig(presets, partition?.retrieval_preset));
}
