import type { RetrievalConfig } from '../../../schemas/models/presets.js';
import type { PresetStore } from '../../ports/model-administration.js';

/**
 * The retrieval preset that a partition names, or else the default one.
 * @param name null or undefined: the default one
 * @returns null where there is neither
 */
export async function retrievalConfig(
  presets: Pick<PresetStore, 'get'>,
  name: string | null | undefined,
): Promise<RetrievalConfig | null> {
  const preset =
    (await presets.get('retrieval', name ?? 'default')) ?? (await presets.get('retrieval', 'default'));
  return preset?.config ?? null;
}
