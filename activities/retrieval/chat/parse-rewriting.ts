import { z } from 'zod';
import { isoTime } from '../../../schemas/iso-time.js';
import { firstCharacters } from '../../text/sentences.js';

/** Half-open, in UTC: `from` is included, `until` is not. */
export interface TimeSpan {
  from?: Date;
  until?: Date;
}

export interface RewrittenQuery {
  text: string;
  /** When the documents were created. */
  span?: TimeSpan;
}

export interface Rewriting {
  intent: string;
  requiresRetrieval: boolean;
  /** One to three. */
  queries: RewrittenQuery[];
}

const MAX_QUERIES = 3;
const MAX_QUERY_LENGTH = 500;

const text = z
  .string()
  .transform((given) => firstCharacters(given.replace(/\s+/g, ' ').trim(), MAX_QUERY_LENGTH))
  .pipe(z.string().min(1));

/**
 * What is no ISO 8601 time counts as none, since a span is a help and not a condition: other forms would be read in the
 * zone of the machine.
 */
const time = z
  .string()
  .transform((given) => {
    const milliseconds = isoTime(given.trim());
    return milliseconds === null ? undefined : new Date(milliseconds);
  })
  .optional()
  .catch(undefined);

const Query = z.union([
  text.transform((query) => ({ text: query })),
  z
    .object({ query: text, created_after: time, created_before: time })
    .transform(({ query, created_after: from, created_before: until }): RewrittenQuery => {
      const empty = from !== undefined && until !== undefined && from >= until;
      if (empty || (from === undefined && until === undefined)) return { text: query };
      return { text: query, span: { ...(from && { from }), ...(until && { until }) } };
    }),
]);

const Queries = z.array(Query.nullable().catch(null)).transform((list) => list.flatMap((one) => one ?? []));

/** Small models are free with names and forms: a list under another name, or one query as a text. */
const Answer = z.object({
  intent: z.string().catch('other').default('other'),
  requires_retrieval: z.boolean().catch(true).default(true),
  queries: Queries.optional().catch(undefined),
  sub_queries: Queries.optional().catch(undefined),
  query: Query.optional().catch(undefined),
});

/** The JSON object in a model's answer, whatever stands around it; null when there is none. */
export function jsonIn(answer: string): unknown {
  const start = answer.indexOf('{');
  const end = answer.lastIndexOf('}');
  if (start === -1 || end < start) return null;
  try {
    return JSON.parse(answer.slice(start, end + 1)) as unknown;
  } catch {
    return null;
  }
}

/** Reads a model's rewriting of a question; null when there is no query in it. */
export function parseRewriting(answer: string): Rewriting | null {
  const parsed = Answer.safeParse(jsonIn(answer));
  if (!parsed.success) return null;
  const { intent, requires_retrieval: requiresRetrieval, queries, sub_queries: others, query } = parsed.data;
  const found = (queries ?? others ?? (query === undefined ? [] : [query])).slice(0, MAX_QUERIES);
  return found.length === 0 ? null : { intent, requiresRetrieval, queries: found };
}
