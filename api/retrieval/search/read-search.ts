import type { z } from 'zod';
import { parseFilter } from '../../../activities/retrieval/filter/parse-filter.js';
import type { SearchRequest } from '../../../activities/retrieval/search/search-types.js';
import { AppError } from '../../../schemas/app-error.js';
import type { Principal } from '../../../schemas/documents/users.js';
import type { FileSearchQuery, SearchQuery } from '../../../schemas/retrieval/search-api.js';

type Asked = Omit<SearchRequest, 'scope' | 'partitions' | 'signal'>;

/**
 * What the query of a file's search asks for. A filter of nothing but blanks is none.
 * @throws AppError INVALID_FILTER
 */
export function readFileSearch(query: z.output<typeof FileSearchQuery>): Asked {
  const { text, top_k: topK, similarity_threshold: similarityThreshold, filter } = query;
  return {
    text,
    topK,
    ...(similarityThreshold !== undefined && { similarityThreshold }),
    ...(filter !== undefined && filter.trim() !== '' && { filter: parseFilter(filter) }),
  };
}

/**
 * What the query of a search over partitions asks for.
 * @throws AppError INVALID_FILTER; AUTH_ERROR, plain, when a caller that is no administrator asks for a trace
 */
export function readSearch(principal: Principal, query: SearchQuery): Asked {
  if (query.include_retrieval_trace && !principal.isAdmin)
    throw new AppError('AUTH_ERROR', 'Admin privileges required', { plain: true });
  const { include_related: includeRelated, include_ancestors: includeAncestors } = query;
  const { related_limit: relatedLimit, max_ancestor_depth: maxAncestorDepth, workspace } = query;
  return {
    ...readFileSearch(query),
    ...(workspace !== undefined && workspace !== '' && { workspace }),
    ...((includeRelated || includeAncestors) && {
      related: {
        includeRelated,
        includeAncestors,
        relatedLimit,
        ...(maxAncestorDepth !== undefined && { maxAncestorDepth }),
      },
    }),
    trace: query.include_retrieval_trace,
  };
}
