import { AppError } from '../../../schemas/app-error.js';
import type { VectorFields } from '../../ports/migrations.js';
import { CHUNKS_AT_ONCE } from './chunks-at-once.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { reasonText } from './opensearch-errors.js';
import type { ShardPage } from './writes-reached.js';

/** The field of an index of schema 2 that holds the vectors of every partition. */
export const SHARED_VECTOR_FIELD = 'vector';

/** Section ids are folded below this: the greatest integer up to which a double is exact is 2⁵³. */
export const MAX_SECTION_ID = 2 ** 53 - 1;
export const SECTION_FIELDS = ['section_id', 'prev_section_id', 'next_section_id'] as const;

/** Runs inside the engine, where whole numbers stay what they are; JavaScript would round those above 2⁵³. */
const MOVE_VECTOR = [
  `def vector = ctx._source.remove('${SHARED_VECTOR_FIELD}');`,
  'def field = params.fields[ctx._source.partition];',
  'if (vector != null && field != null) ctx._source[field] = vector;',
  `for (name in params.sections) {`,
  '  def id = ctx._source[name];',
  `  if (id instanceof Number && (id > ${MAX_SECTION_ID}L || id < 0)) ctx._source[name] = id.longValue() & ${MAX_SECTION_ID}L;`,
  '}',
].join('\n');

/** What was written by an earlier release, or before a move, has another routing or none. */
const ROUTE = 'ctx._routing = ctx._source.partition;';

const REINDEX_MS = 600_000;

/**
 * A page of so many writes is copied by two requests at once, since the engine puts the vectors of each into the graph
 * in one thread. Smaller pages leave the other processors to the searches that go on beside them.
 */
const PAGE_IN_HALVES = 1_000;

interface ReindexAnswer {
  total: number;
  created: number;
  updated: number;
  failures: { cause?: unknown }[];
}

interface Copying {
  source: string;
  query: object;
  target: string;
  /** About how many chunks the query finds. */
  chunks: number;
  /** How many shards the indexes have. */
  shards: { source: number; target: number };
}
interface CopyOptions {
  /** Where the vectors of the shared field go, by partition; left out: chunks stay as they are. */
  fields?: VectorFields;
  signal: AbortSignal;
}

/**
 * Copies the chunks that a query finds into another index, inside the engine; answers how many.
 * @throws AppError VDB_ERROR
 */
export async function reindexChunks(
  client: OpenSearchClient,
  copying: Copying,
  options: CopyOptions,
): Promise<number> {
  if (copying.chunks <= CHUNKS_AT_ONCE) return reindexSlice(client, copying, options);
  // The engine deals the slices out to the shards, one of which may have all these chunks.
  const max = Math.ceil(copying.chunks / CHUNKS_AT_ONCE) * copying.shards.source;
  let copied = 0;
  // By a number that each chunk has: without a field the engine would compare the ids of all chunks of the index.
  for (let id = 0; id < max; id += 1)
    copied += await reindexSlice(client, copying, { ...options, slice: { field: '_seq_no', id, max } });
  return copied;
}

/** Copies pages of writes, two requests at a time; answers how many chunks. */
export async function reindexWrites(
  client: OpenSearchClient,
  { pages, ...indexes }: Omit<Copying, 'query' | 'chunks'> & { pages: readonly ShardPage[] },
  options: CopyOptions,
): Promise<number> {
  const parts = pages.flatMap(inHalves);
  const { source: max } = indexes.shards;
  const copyPart = ({ shard, after, upTo }: ShardPage): Promise<number> => {
    const query = { range: { _seq_no: { gt: after, lte: upTo } } };
    // Of as many slices as there are shards each is one of them.
    const slice = max === 1 ? {} : { slice: { id: shard, max } };
    return reindexSlice(client, { ...indexes, query }, { ...options, ...slice });
  };
  let copied = 0;
  for (let at = 0; at < parts.length; at += 2) {
    const copies = parts.slice(at, at + 2).map(copyPart);
    // Both have to end before the page counts as failed: none goes on behind the next attempt.
    await Promise.allSettled(copies);
    copied += (await Promise.all(copies)).reduce((sum, some) => sum + some, 0);
  }
  return copied;
}

function inHalves(page: ShardPage): ShardPage[] {
  const writes = page.upTo - page.after;
  if (writes < PAGE_IN_HALVES) return [page];
  const middle = page.after + Math.floor(writes / 2);
  return [
    { ...page, upTo: middle },
    { ...page, after: middle },
  ];
}

async function reindexSlice(
  client: OpenSearchClient,
  { source, query, target, shards }: Omit<Copying, 'chunks'>,
  { fields, signal, slice }: CopyOptions & { slice?: { field?: string; id: number; max: number } },
): Promise<number> {
  const script = [
    ...(shards.target === 1 ? [] : [ROUTE]),
    ...(fields === undefined ? [] : [MOVE_VECTOR]),
  ].join('\n');
  const answer = await client.request<ReindexAnswer>('POST', '/_reindex', {
    body: {
      source: { index: source, query, size: 1_000, ...(slice && { slice }) },
      dest: { index: target },
      ...(script !== '' && {
        script: { lang: 'painless', source: script, params: { fields, sections: SECTION_FIELDS } },
      }),
    },
    signal,
    timeoutMs: REINDEX_MS,
  });
  const [failure] = answer.failures;
  if (failure !== undefined)
    throw new AppError('VDB_ERROR', `A chunk could not be copied: ${reasonText(failure.cause ?? failure)}`);
  return answer.created + answer.updated;
}
