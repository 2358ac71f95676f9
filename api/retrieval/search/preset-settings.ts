import type { Adapters } from '../../../activities/ports/adapters.js';
import { retrievalConfig } from '../../../activities/retrieval/search/retrieval-preset.js';
import { searchSettings } from '../../../activities/retrieval/search/search-settings.js';
import type { SearchRequest } from '../../../activities/retrieval/search/search-types.js';

/**
 * Candidates, the weight of vectors and reranking by the retrieval preset of the searched partition; a search over
 * several has the default preset, as a chat does.
 */
export async function presetSettings(
  { partitions, presets }: Pick<Adapters, 'partitions' | 'presets'>,
  searched: SearchRequest['partitions'],
): Promise<Pick<SearchRequest, 'candidates' | 'vectorWeight' | 'rerank'>> {
  const [only, ...others] = searched === 'all' ? [] : searched;
  const partition = only === undefined || others.length > 0 ? null : await partitions.get(only);
  return searchSettings(await retrievalConfig(presets, partition?.retrieval_preset));
}
