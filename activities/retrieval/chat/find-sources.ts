import type { FilterExpression } from '../../ports/filter.js';
import type { SearchOutcome, SearchRequest, SearchResult, SearchService } from '../search/search-types.js';
import { traceQuery } from './chat-trace.js';
import type { QueryKind, QueryTrace } from './chat-trace.js';
import type { RewrittenQuery, TimeSpan } from './parse-rewriting.js';
import { fuseByRank } from './reciprocal-rank.js';

/** Where several queries are fused each brings so many results, or more when more are wanted. */
const RESULTS_PER_QUERY = 20;

export interface SourceQuery {
  kind: QueryKind;
  text: string;
  span?: TimeSpan | undefined;
}

/** All of a search but its text. */
export type SearchFrame = Omit<SearchRequest, 'text' | 'filter'>;

export interface FoundSources {
  /** Best first, `topK` of the frame at most; then what expansion added. */
  results: SearchResult[];
  /** Everything that was found, before it was cut to `topK`. */
  retrieved: SearchResult[];
  queries: QueryTrace[];
  rerankSkipped: boolean;
}

function timeFilter({ from, until }: TimeSpan): FilterExpression {
  const compare = (operator: '>=' | '<', at: Date): FilterExpression => ({
    kind: 'compare',
    field: 'created_at',
    operator,
    value: { kind: 'time', value: at.getTime() },
  });
  return {
    kind: 'and',
    parts: [
      ...(from === undefined ? [] : [compare('>=', from)]),
      ...(until === undefined ? [] : [compare('<', until)]),
    ],
  };
}

function sameText(a: string, b: string): boolean {
  return a.replace(/\s+/g, ' ').trim().toLowerCase() === b.replace(/\s+/g, ' ').trim().toLowerCase();
}

/** Searches for a question and for whatever was made of it. */
export function createSourceFinder(
  search: Pick<SearchService, 'searchInFull'>,
  settings: { filterlessFallback: boolean },
) {
  interface Answered {
    query: SourceQuery;
    outcome: SearchOutcome;
    withoutSpan: boolean;
  }

  const ask = async (query: SourceQuery, frame: SearchFrame): Promise<Answered> => {
    const filter = query.span === undefined ? {} : { filter: timeFilter(query.span) };
    const outcome = await search.searchInFull({ ...frame, text: query.text, ...filter });
    return { query, outcome, withoutSpan: false };
  };

  const isEmpty = ({ outcome }: Answered): boolean => outcome.results.length === 0;

  return {
    /** The question as it was asked. Started before anything is made of it. */
    begin: (text: string, frame: SearchFrame): Promise<Answered> => ask({ kind: 'question', text }, frame),

    /**
     * The question is always among the queries: a rewriting that went wrong must not hide what the words themselves
     * find. Where every rewritten query is bound to a time the question is bound to it as well; where nothing is found
     * in that time, the time is dropped.
     */
    async find(
      begun: Promise<Answered>,
      rewritten: readonly RewrittenQuery[],
      written: readonly SourceQuery[],
      options: { text: string; frame: SearchFrame; rrfK: number },
    ): Promise<FoundSources> {
      const { text, frame, rrfK } = options;
      const wide = { ...frame, topK: Math.max(frame.topK, RESULTS_PER_QUERY) };
      const further: SourceQuery[] = [
        ...rewritten
          .filter((query) => query.span !== undefined || !sameText(query.text, text))
          .map((query): SourceQuery => ({ kind: 'rewritten', text: query.text, span: query.span })),
        ...written,
      ];
      const spans = rewritten.flatMap(({ span }) => span ?? []);
      const bound = rewritten.length > 0 && spans.length === rewritten.length;
      const question: SourceQuery = { kind: 'question', text, ...(bound && { span: spans[0] }) };
      const asked = await Promise.all([
        bound ? ask(question, wide) : begun,
        ...further.map((query) => ask(query, wide)),
      ]);
      const drops = asked.every(isEmpty) && settings.filterlessFallback;
      const answered = await Promise.all(
        asked.map(async (one) => {
          if (one.query.span === undefined || !isEmpty(one)) return one;
          if (!drops && (bound || !settings.filterlessFallback)) return one;
          const plain =
            one.query.kind === 'question' ? await begun : await ask({ ...one.query, span: undefined }, wide);
          return { ...one, outcome: plain.outcome, withoutSpan: true };
        }),
      );
      // Left unread when the time span held.
      begun.catch(() => undefined);
      const lists = answered.map(({ outcome }) =>
        outcome.results.filter(({ addedAs }) => addedAs === undefined),
      );
      const retrieved = lists.length === 1 ? lists[0]! : fuseByRank(lists, rrfK);
      const results = retrieved.slice(0, frame.topK);
      const known = new Set(results.map(({ chunk }) => chunk.chunk_id));
      for (const { outcome } of answered)
        for (const result of outcome.results) {
          if (result.addedAs === undefined || known.has(result.chunk.chunk_id)) continue;
          known.add(result.chunk.chunk_id);
          results.push(result);
        }
      return {
        results,
        retrieved,
        queries: answered.map(({ query, outcome, withoutSpan }) => traceQuery(query, outcome, withoutSpan)),
        rerankSkipped: answered.some(({ outcome }) => outcome.rerankSkipped !== undefined),
      };
    },
  };
}

export type SourceFinder = ReturnType<typeof createSourceFinder>;
