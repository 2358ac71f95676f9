import { z } from 'zod';
import { presentChunkMetadata } from '../../activities/retrieval/present-metadata.js';
import { AppError } from '../../schemas/app-error.js';
import { Extract, SearchAnswer, SearchEverywhereQuery, SearchQuery } from '../../schemas/documents-api.js';
import { authorisePartition } from '../authorise-partition.js';
import { noSuchFile } from '../commands/upload-refusals.js';
import { json, route } from '../route.js';
import type { Answer, CallerContext, Route } from '../route.js';
import type { DocumentDeps } from './document-deps.js';
import { findExtract } from './find-extract.js';
import { links } from './links.js';
import { FileParams, PartitionParams } from './path-params.js';

const ExtractParams = z.object({ extract_id: z.string() });

const SEARCH_ERRORS = [
  'INVALID_FILTER',
  'AUTH_ERROR',
  'VALIDATION_ERROR',
  'VDB_CONNECTION_ERROR',
  'VDB_SEARCH_ERROR',
] as const;

const searchDone = { 200: { description: 'Best first', schema: SearchAnswer } };

/** Both would narrow the results: to answer as if they were not there would be a lie. */
const refuseNarrowing = ({ filter, workspace }: z.output<typeof SearchQuery>): void => {
  for (const [name, value] of Object.entries({ filter, workspace }))
    if (value !== undefined && value !== '')
      throw new AppError('INVALID_FILTER', `The parameter '${name}' is not supported yet`);
};

/** Search and what it links to. */
export const searchRoutes = ({ adapters, search }: DocumentDeps): Route[] => {
  const answer = async (
    { scope, baseUrl, signal }: CallerContext,
    query: z.output<typeof SearchQuery>,
    where: { partitions: readonly string[] | 'all'; fileKey?: string },
  ): Promise<Answer> => {
    const { text, top_k: topK, similarity_threshold: threshold } = query;
    const similarity = threshold === undefined ? {} : { similarityThreshold: threshold };
    const results = await search.search({ scope, ...where, text, topK, ...similarity, signal });
    const link = links(baseUrl);
    return json(200, {
      documents: results.map((result) => ({
        link: link.extract(result.chunk.chunk_id),
        content: result.chunk.text,
        metadata: presentChunkMetadata(result),
      })),
    });
  };

  /** `all`, or names each of which the caller may read. */
  const wanted = async (
    { scope }: CallerContext,
    names: readonly string[],
  ): Promise<readonly string[] | 'all'> => {
    if (names.length === 0 || names.some((name) => name.trim() === ''))
      throw new AppError('BAD_REQUEST', 'Invalid partitions: give names, or all', { plain: true });
    if (names.includes('all')) {
      if (scope.kind === 'partitions' && Object.keys(scope.roles).length === 0)
        throw new AppError('AUTH_ERROR', 'No accessible partitions', { plain: true });
      return 'all';
    }
    for (const name of new Set(names)) {
      if (scope.kind === 'partitions' && !Object.hasOwn(scope.roles, name))
        // Also for a name that nobody uses: what a caller cannot see, it does not learn of.
        throw new AppError('AUTH_ERROR', `Access to partition '${name}' forbidden`, { plain: true });
      await authorisePartition(adapters.partitions, scope, name, 'viewer');
    }
    return [...new Set(names)];
  };

  return [
    route({
      method: 'get',
      path: '/search/',
      summary: 'Search several partitions',
      tag: 'Search',
      auth: 'user',
      request: { query: SearchEverywhereQuery },
      responses: searchDone,
      errors: ['BAD_REQUEST', ...SEARCH_ERRORS],
      async handle(ctx, { query }) {
        refuseNarrowing(query);
        return answer(ctx, query, { partitions: await wanted(ctx, query.partitions) });
      },
    }),
    route({
      method: 'get',
      path: '/search/partition/{partition}',
      summary: 'Search one partition',
      tag: 'Search',
      auth: { partition: 'viewer' },
      request: { params: PartitionParams, query: SearchQuery },
      responses: searchDone,
      errors: [...SEARCH_ERRORS, 'PARTITION_NOT_FOUND'],
      async handle(ctx, { params, query }) {
        refuseNarrowing(query);
        return answer(ctx, query, { partitions: [params.partition] });
      },
    }),
    route({
      method: 'get',
      path: '/search/partition/{partition}/file/{file_id}',
      summary: 'Search one file',
      tag: 'Search',
      auth: { partition: 'viewer' },
      request: { params: FileParams, query: SearchQuery },
      responses: searchDone,
      errors: [...SEARCH_ERRORS, 'PARTITION_NOT_FOUND', 'FILE_NOT_FOUND'],
      async handle(ctx, { params, query }) {
        refuseNarrowing(query);
        const { partition, file_id: fileId } = params;
        const file = await adapters.files.get(partition, fileId);
        if (file === null || file.live === null) throw noSuchFile({ partition, fileId });
        return answer(ctx, query, { partitions: [partition], fileKey: file.file_key });
      },
    }),
    route({
      method: 'get',
      path: '/extract/{extract_id}',
      summary: 'A piece of a document that a search or an answer linked to',
      tag: 'Search',
      auth: 'user',
      request: { params: ExtractParams },
      responses: { 200: { description: 'Text and metadata', schema: Extract } },
      errors: ['AUTH_ERROR', 'NOT_FOUND'],
      async handle({ scope }, { params }) {
        const found = await findExtract(adapters, scope, params.extract_id);
        return json(200, { page_content: found.chunk.text, metadata: presentChunkMetadata(found) });
      },
    }),
  ];
};
