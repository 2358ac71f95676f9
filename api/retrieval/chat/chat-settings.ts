import type { Adapters } from '../../../activities/ports/adapters.js';
import type { ChatRequest, ChatSettings } from '../../../activities/retrieval/chat/chat-request.js';
import { settingsOfChat } from '../../../activities/retrieval/chat/chat-settings.js';
import { AppError } from '../../../schemas/app-error.js';
import { retrievalConfig } from '../../../activities/retrieval/search/retrieval-preset.js';

/**
 * What the partition of a chat is set to: its retrieval preset, its prompts, and its own language model. A chat over
 * several partitions has the default preset. What a setting leaves open is the service's to say.
 * @param preset instead of the partition's
 * @throws AppError PRESET_NOT_FOUND (422)
 */
export async function chatSettings(
  { partitions, presets }: Pick<Adapters, 'partitions' | 'presets'>,
  target: ChatRequest['target'],
  preset?: string | null,
): Promise<ChatSettings> {
  if (target.kind === 'direct') return {};
  const [only, ...others] = target.partitions === 'all' ? [] : target.partitions;
  const partition = only === undefined || others.length > 0 ? null : await partitions.get(only);
  if (preset == null)
    return settingsOfChat(partition, await retrievalConfig(presets, partition?.retrieval_preset));
  const named = await presets.get('retrieval', preset);
  if (named === null)
    throw new AppError('PRESET_NOT_FOUND', `The retrieval preset '${preset}' does not exist.`);
  return settingsOfChat(partition, named.config);
}
