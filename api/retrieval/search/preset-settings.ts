import type { Adapters } from '../../../activities/ports/adapters.js';
import { retrievalConfig } from '../../../activities/retrieval/search/retrieval-preset.js';
import { searchSettings } from '../../../activities/retrieval/search/search-settings.js';
import type { SearchRequest } from '../../../activities/retrieval/search/search-types.js';

/**
 * Candidates, the weight of vectors and reranking by the retrieval preset of the searched partition; a search over
 * several has the default preset, as a chat does.
 */
export function presetSettings(
  presets: Pick<Adapters['presets'], 'get'>,
  asked: SearchRequest['partitions'],
): NonNullable<SearchRequest['settings']> {
  return async (searched) => {
    const partition = asked !== 'all' && asked.length === 1 ? searched[0] : undefined;
    return searchSettings(await retrievalConfig(presets, partition?.retrieval_preset));
  };
}
