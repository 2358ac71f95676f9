import type { ChunkStore, SearchLegHit } from '../../ports/chunks.js';
import { headOf } from './chunk-document.js';
import type { HeadHit } from './chunk-document.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { cosineOf, cosineOfProduct, denseQuery, lexicalQuery } from './hybrid-query.js';
import { countedClauses, questionWords } from './question-words.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';
import { createTermCounter } from './term-weights.js';
import { createUnitFields } from './unit-fields.js';

type Answer = SearchAnswer<HeadHit>;

/** Both legs of a search, each a request of its own: the lexical one does not wait for the question's vector. */
export function createHybridSearch(
  client: OpenSearchClient,
  index: string,
): Pick<ChunkStore, 'searchWords' | 'searchHybrid'> {
  const counter = createTermCounter(client, index);
  const isUnit = createUnitFields(client, index);

  const ask = async (queries: readonly object[], signal: AbortSignal | undefined): Promise<Answer[]> => {
    const { responses } = await client.request<{ responses: Answer[] }>('POST', '/_msearch', {
      lines: queries.flatMap((query) => [{ index }, query]),
      signal,
      refused: 'VDB_SEARCH_ERROR',
    });
    return responses;
  };

  const hits = (answer: Answer, scoreOf: (score: number) => number): SearchLegHit[] =>
    hitsOf(answer).map((hit) => ({ chunk: headOf(hit), score: scoreOf(hit._score) }));

  const searchWords: ChunkStore['searchWords'] = async (request) => {
    const words = questionWords(request);
    if (words === null || words.words.length === 0) return [];
    const { signal } = request;
    const clauses = countedClauses(words);
    // What is known is checked by the search that goes with it: one round trip, and counted anew where it is over.
    const known = counter.known(words.countedIn, clauses);
    if (known !== null) {
      const query = lexicalQuery(request, words, known.statistics);
      const [checked, found] = await ask([known.check, ...(query === null ? [] : [query])], signal);
      if (known.holds(checked)) return found === undefined ? [] : hits(found, Number);
    }
    const query = lexicalQuery(request, words, await counter.count(words.countedIn, clauses, signal));
    if (query === null) return [];
    const [found] = await ask([query], signal);
    return hits(found!, Number);
  };

  return {
    searchWords,

    async searchHybrid({ lexical, ...request }) {
      const searchVectors = async (): Promise<SearchLegHit[]> => {
        const unit = await isUnit(request.vectorField);
        const query = denseQuery(request, { unit });
        if (query === null) return [];
        const [found] = await ask([query], request.signal);
        return hits(found!, unit ? cosineOfProduct : cosineOf);
      };
      const [words, vectors] = await Promise.all([lexical ?? searchWords(request), searchVectors()]);
      return { lexical: [...words], dense: vectors };
    },
  };
}
