import { createSearchService } from '../../activities/retrieval/search/search-service.js';
import type { SearchService } from '../../activities/retrieval/search/search-types.js';
import { parseConfig } from '../../schemas/config/config.js';

type Stores = Omit<Parameters<typeof createSearchService>[0], 'settings'>;

/** Search with the settings of an installation that changes none. */
export function plainSearch(stores: Stores): SearchService {
  const { search: settings } = parseConfig({ AUTH_TOKEN: 'or-plain-0123456789abcdef' });
  return createSearchService({ ...stores, settings });
}
