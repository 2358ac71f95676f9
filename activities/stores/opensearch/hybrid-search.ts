import type { ChunkStore, SearchLegHit } from '../../ports/chunks.js';
import { bestHits, bestHitsByPlace, inPlace, sortHeads } from './best-hits.js';
import { headOf } from './chunk-document.js';
import type { HeadHit } from './chunk-document.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { cosineOf, cosineOfProduct, denseQuery, lexicalQuery, pairQuery } from './hybrid-query.js';
import { createMultiSearch } from './multi-search.js';
import type { Search } from './multi-search.js';
import { countedClauses, questionWords } from './question-words.js';
import type { QuestionWords } from './question-words.js';
import { byIds, vectorsOf } from './read-by-ids.js';
import type { SourceHit } from './read-by-ids.js';
import { hitsOf } from './search-hits.js';
import type { SearchAnswer } from './search-hits.js';
import { visiblePartitions } from './searched-chunks.js';
import type { WordsRequest } from './searched-chunks.js';
import { createTermCounter } from './term-weights.js';
import type { TermStatistics } from './term-weights.js';
import { createUnitFields } from './unit-fields.js';

type Answer = SearchAnswer<unknown>;
type HybridAnswer = Awaited<ReturnType<ChunkStore['searchHybrid']>>;

function headHits(answer: Answer | undefined): HeadHit[] {
  return hitsOf(answer as SearchAnswer<HeadHit>);
}

/** So many of the best by single words are looked at for pairs of them. */
const LOOKED_AT_FOR_PAIRS = 100;

interface Leg {
  partitions: readonly string[] | null;
  query: object;
  size: number;
  traits: boolean;
  scoreOf: (score: number) => number;
  signal: AbortSignal | undefined;
}

function placeAndTraits({
  scope,
  partitions,
  filter,
  signal,
}: WordsRequest): Omit<Leg, 'query' | 'size' | 'scoreOf'> {
  return { partitions: visiblePartitions(scope, partitions), traits: filter !== undefined, signal };
}

/** A chunk that is being moved to the shard of another partition is in both for a moment. */
function withoutTwins(hits: SearchLegHit[]): SearchLegHit[] {
  const seen = new Set<string>();
  return hits.filter(({ chunk: { chunk_id: id } }) => !seen.has(id) && seen.add(id));
}

/** The hits by words, where they have come already: a search by vectors does not wait for them. */
function atHand(
  lexical: Promise<readonly SearchLegHit[]> | undefined,
): readonly SearchLegHit[] | Promise<readonly SearchLegHit[]> {
  return lexical === undefined ? [] : Promise.race([lexical, Promise.resolve([])]);
}

function searchOf({ partitions }: Pick<Leg, 'partitions'>, body: object): Search {
  return { partitions, body };
}

/** Both legs of a search, each a request of its own: the lexical one does not wait for the question's vector. */
export function createHybridSearch(
  client: OpenSearchClient,
  index: string,
): Pick<ChunkStore, 'searchWords' | 'searchHybrid'> {
  const counter = createTermCounter(client, index);
  const isUnit = createUnitFields(client, index);

  const ask = createMultiSearch(client, index);

  const read = async (answer: Answer, leg: Leg): Promise<SearchLegHit[]> => {
    const found = inPlace(headHits(answer), leg, leg.scoreOf);
    if (found !== null) return withoutTwins(found);
    const [placed] = await ask([searchOf(leg, bestHitsByPlace(leg.query, leg))], leg.signal);
    return withoutTwins(
      headHits(placed).map((hit) => ({ chunk: headOf(hit), score: leg.scoreOf(hit._score) })),
    );
  };

  /** The leg of the words, each for itself. */
  const wordLeg = (request: WordsRequest, words: QuestionWords, statistics: TermStatistics): Leg | null => {
    const query = lexicalQuery(request, words, statistics);
    const size = words.pairs.length === 0 ? request.size : Math.max(request.size, LOOKED_AT_FOR_PAIRS);
    return query === null ? null : { ...placeAndTraits(request), query, size, scoreOf: Number };
  };

  const withPairs = async (
    found: SearchLegHit[],
    words: QuestionWords,
    statistics: TermStatistics,
    request: WordsRequest,
  ): Promise<SearchLegHit[]> => {
    const query = pairQuery(
      words,
      statistics,
      found.map(({ chunk }) => chunk.chunk_id),
    );
    const { size, signal } = request;
    if (query === null) return found.slice(0, size);
    const pairs = searchOf(placeAndTraits(request), bestHits(query, { size: found.length, traits: false }));
    const [answer] = await ask([pairs], signal);
    const added = new Map(headHits(answer).map((hit) => [headOf(hit).chunk_id, hit._score]));
    const sums = found.map(({ chunk, score }) => ({
      chunk,
      score: score + (added.get(chunk.chunk_id) ?? 0),
    }));
    return sortHeads(sums).slice(0, size);
  };

  const searchWords: ChunkStore['searchWords'] = async (request) => {
    const words = questionWords(request);
    if (words === null || words.words.length === 0) return [];
    const { signal } = request;
    const clauses = countedClauses(words);
    // What is known is checked by the search that goes with it: one round trip, and counted anew where it is over.
    const known = counter.known(words.countedIn, clauses);
    if (known !== null) {
      const leg = wordLeg(request, words, known.statistics);
      const [checked, answer] = await ask(
        [
          { partitions: words.countedIn, body: known.check },
          ...(leg === null ? [] : [searchOf(leg, bestHits(leg.query, leg))]),
        ],
        signal,
      );
      if (known.holds(checked))
        return leg === null
          ? []
          : await withPairs(await read(answer!, leg), words, known.statistics, request);
    }
    const statistics = await counter.count(words.countedIn, clauses, signal);
    const leg = wordLeg(request, words, statistics);
    if (leg === null) return [];
    const [answer] = await ask([searchOf(leg, bestHits(leg.query, leg))], signal);
    return await withPairs(await read(answer!, leg), words, statistics, request);
  };

  return {
    searchWords,

    async searchHybrid({ lexical, vectorsOf: count = 0, ...request }) {
      const { vectorField, size, signal } = request;
      const searchVectors = async (): Promise<Omit<HybridAnswer, 'lexical'>> => {
        const unit = await isUnit(vectorField);
        const query = denseQuery(request, { unit });
        if (query === null) return { dense: [] };
        const leg = { ...placeAndTraits(request), query, size, scoreOf: unit ? cosineOfProduct : cosineOf };
        const first = (await atHand(lexical)).slice(0, count).map(({ chunk }) => chunk.chunk_id);
        const [answer, sources] = await ask(
          [
            searchOf(leg, bestHits(query, leg)),
            ...(first.length === 0 ? [] : [searchOf(leg, byIds(first, [vectorField]))]),
          ],
          signal,
        );
        return {
          dense: await read(answer!, leg),
          ...(sources && { vectors: vectorsOf(hitsOf(sources as SearchAnswer<SourceHit>), vectorField) }),
        };
      };
      const [words, found] = await Promise.all([lexical ?? searchWords(request), searchVectors()]);
      return { lexical: [...words], ...found };
    },
  };
}
