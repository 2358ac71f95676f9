import type { ChunkStore } from '../../ports/chunks.js';
import { FOUND_FIELDS, foundFromSource, headOf, headsOnly } from './chunk-document.js';
import type { FoundSource, HeadHit } from './chunk-document.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { cosineOf } from './hybrid-query.js';
import { createMultiSearch } from './multi-search.js';
import { byIds, SEARCH_PAGE } from './read-by-ids.js';
import type { SourceHit } from './read-by-ids.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';

/** The candidates of a search against a vector, and the texts of those that will probably be answered. */
export function createCandidateComparison(
  client: OpenSearchClient,
  index: string,
): Pick<ChunkStore, 'similarities'> {
  const ask = createMultiSearch(client, index);

  /** Not more candidates than are looked for: then each is compared, and nothing is searched. */
  const comparison = (ids: readonly string[], vector: readonly number[], vectorField: string): object => ({
    size: ids.length,
    ...headsOnly({ traits: false }),
    query: {
      knn: {
        [vectorField]: {
          vector,
          k: ids.length,
          filter: { bool: { filter: [{ ids: { values: ids } }, { term: { published: true } }] } },
        },
      },
    },
  });

  return {
    async similarities(ids, { vector, vectorField, read = [], signal }) {
      const isComparable = ids.length > 0 && vector.some((value) => value !== 0);
      const wanted = [...new Set(read)].slice(0, SEARCH_PAGE);
      const searches = [
        ...(isComparable ? [comparison(ids, vector, vectorField)] : []),
        ...(wanted.length > 0 ? [byIds(wanted, FOUND_FIELDS)] : []),
      ];
      if (searches.length === 0) return { cosines: new Map(), chunks: new Map() };
      const answers = await ask(
        searches.map((body) => ({ body })),
        signal,
      );
      const compared = isComparable ? hitsOf(answers[0] as SearchAnswer<HeadHit>) : [];
      const texts = wanted.length > 0 ? hitsOf(answers.at(-1) as SearchAnswer<SourceHit<FoundSource>>) : [];
      return {
        cosines: new Map(compared.map((hit) => [headOf(hit).chunk_id, cosineOf(hit._score)])),
        chunks: new Map(texts.map(({ _id: id, _source: source }) => [id, foundFromSource(id, source)])),
      };
    },
  };
}
