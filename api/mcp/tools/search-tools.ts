import { z } from 'zod';
import type { Extract } from '../../../schemas/documents/documents-api.js';
import type { SearchAnswer } from '../../../schemas/retrieval/search-api.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { Chunk, FILE_ID, NAME, PARTITION, TEXT, reading, tool } from '../tool.js';
import type { Tool, ToolCall } from '../tool.js';

const QUERY = TEXT.meta({ description: 'A question or words to look for' });
const TOP_K = z.int().min(1).max(50).default(5).meta({ description: 'How many extracts at most' });

const Found = z.object({
  query: z.string(),
  partitions: z.array(z.string()),
  top_k: z.int(),
  count: z.int(),
  documents: z.array(Chunk).meta({ description: 'Best first' }),
});

interface Asked {
  query: string;
  top_k: number;
}

/** Searches, over the routes of the same name. */
export function searchTools({ adapters }: GatewayDeps): Tool[] {
  const answer = async (
    { ask }: ToolCall,
    { query, top_k: topK }: Asked,
    where: { route: string; params?: Record<string, string>; partitions: readonly string[] },
  ): Promise<unknown> => {
    const { route, params = {}, partitions } = where;
    const body = (await ask(route, {
      params,
      query: { text: query, top_k: topK, partitions },
    })) as z.output<typeof SearchAnswer>;
    return {
      query,
      partitions,
      top_k: topK,
      count: body.documents.length,
      documents: body.documents.map(({ content, metadata }) => ({
        chunk_id: metadata['_id'],
        content,
        metadata,
      })),
    };
  };

  /** Those that a search of all of them looks into. */
  const accessible = async ({ ctx: { scope } }: ToolCall): Promise<string[]> =>
    (await adapters.partitions.list(scope)).map(({ partition }) => partition);

  return [
    tool({
      name: 'search_documents',
      description:
        'Searches the documents of several partitions, or of all that you may read, and gives the extracts that fit ' +
        'best, each with its file. Quote the chunk_id of what you use.',
      annotations: reading('Search documents'),
      input: z.strictObject({
        query: QUERY,
        partitions: z
          .array(NAME)
          .max(1000)
          .nullish()
          .meta({ description: 'Names of partitions; all that you may read when left out' }),
        top_k: TOP_K,
      }),
      output: Found,
      async run(call, { partitions, ...asked }) {
        const names = partitions ?? [];
        const everywhere = names.length === 0 || names.includes('all');
        const found = await answer(call, asked, {
          route: 'get /search/',
          partitions: everywhere ? ['all'] : [...new Set(names)],
        });
        return everywhere ? { ...(found as object), partitions: await accessible(call) } : found;
      },
    }),
    tool({
      name: 'search_partition',
      description: 'Searches the documents of one partition and gives the extracts that fit best.',
      annotations: reading('Search a partition'),
      input: z.strictObject({ partition: PARTITION, query: QUERY, top_k: TOP_K }),
      output: Found,
      run: (call, { partition, ...asked }) =>
        answer(call, asked, {
          route: 'get /search/partition/{partition}',
          params: { partition },
          partitions: [partition],
        }),
    }),
    tool({
      name: 'search_file',
      description: 'Searches one file and gives the extracts that fit best.',
      annotations: reading('Search a file'),
      input: z.strictObject({ partition: PARTITION, file_id: FILE_ID, query: QUERY, top_k: TOP_K }),
      output: Found,
      run: (call, { partition, file_id, ...asked }) =>
        answer(call, asked, {
          route: 'get /search/partition/{partition}/file/{file_id}',
          params: { partition, file_id },
          partitions: [partition],
        }),
    }),
    tool({
      name: 'get_chunk_by_id',
      description: 'Gives one extract by its chunk_id, as searches and lists of chunks name it.',
      annotations: reading('Get a chunk'),
      input: z.strictObject({ chunk_id: NAME }),
      output: Chunk,
      async run({ ask }, { chunk_id }) {
        const found = await ask('get /extract/{extract_id}', { params: { extract_id: chunk_id } });
        const { page_content: content, metadata } = found as z.output<typeof Extract>;
        return { chunk_id, content, metadata };
      },
    }),
  ];
}
