import { z } from 'zod';
import { presentChunkMetadata } from '../../../activities/retrieval/search/present-metadata.js';
import type { SearchRequest } from '../../../activities/retrieval/search/search-types.js';
import { AppError } from '../../../schemas/app-error.js';
import { Extract, PartitionSnapshot } from '../../../schemas/documents/documents-api.js';
import { IDENTIFIER_PATTERN } from '../../../schemas/ids.js';
import {
  FileSearchQuery,
  SearchAnswer,
  SearchEverywhereQuery,
  SearchQuery,
} from '../../../schemas/retrieval/search-api.js';
import { authorisePartition } from '../../http/middleware/authorise-partition.js';
import { noSuchFile } from '../../../activities/documents/commands/refusals.js';
import { json, jsonList, route } from '../../http/route.js';
import type { Answer, CallerContext, Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { findExtract } from './find-extract.js';
import { links } from '../../http/links.js';
import { describePartition } from './describe-partition.js';
import { FileParams, PartitionParams } from '../../http/identifiers.js';
import { readFileSearch, readSearch } from './read-search.js';
import { presetSettings } from './preset-settings.js';

const ExtractParams = z.object({ extract_id: z.string() });

const SnapshotQuery = z.object({ include_document_ids: z.stringbool().default(false) });

const FILE_SEARCH_ERRORS = [
  'INVALID_FILTER',
  'AUTH_ERROR',
  'VALIDATION_ERROR',
  'VDB_CONNECTION_ERROR',
  'VDB_COLLECTION_ERROR',
  'VDB_SCHEMA_MIGRATION_REQUIRED',
  'DEFAULT_EMBEDDER_MIGRATION_REQUIRED',
  'VDB_SEARCH_ERROR',
  'EMBEDDING_API_ERROR',
  'INFERENCE_ERROR',
  'INFERENCE_REFUSED',
  'INFERENCE_TIMEOUT',
  'INFERENCE_CONNECTION_ERROR',
  'LLM_PARSING_ERROR',
  'CIRCUIT_BREAKER_OPEN',
  'MODEL_ENDPOINT_NOT_FOUND',
] as const;

const SEARCH_ERRORS = [...FILE_SEARCH_ERRORS, 'WORKSPACE_NOT_FOUND', 'WORKSPACE_AMBIGUOUS'] as const;

const searchDone = { 200: { description: 'Best first', schema: SearchAnswer } };

/** Search and what it links to. */
export function searchRoutes({ adapters, search }: GatewayDeps): Route[] {
  const answer = async (
    { scope, baseUrl, signal }: CallerContext,
    asked: Omit<SearchRequest, 'scope' | 'signal'>,
  ): Promise<Answer> => {
    const { results, trace, rerankSkipped } = await search.searchInFull({
      ...asked,
      settings: presetSettings(adapters.presets, asked.partitions),
      scope,
      signal,
    });
    const link = links(baseUrl);
    // Each result repeats the metadata of its file: thousands of them are no text to be made in one piece.
    const documents = async function* () {
      for (const result of results)
        yield {
          link: link.extract(result.chunk.chunk_id),
          content: result.chunk.text,
          metadata: presentChunkMetadata(result),
        };
    };
    return jsonList('documents', documents(), {
      ...(trace === undefined ? {} : { retrieval_trace: trace }),
      ...(rerankSkipped === undefined ? {} : { extra: { rerank_skipped: rerankSkipped } }),
    });
  };

  /** `all`, or names each of which the caller may read. */
  const wanted = async (
    { scope }: CallerContext,
    names: readonly string[],
  ): Promise<readonly string[] | 'all'> => {
    if (names.length === 0 || !names.every((name) => IDENTIFIER_PATTERN.test(name)))
      throw new AppError('BAD_REQUEST', 'Invalid partitions: give names, or all', { plain: true });
    if (names.includes('all')) {
      if (scope.kind === 'partitions' && Object.keys(scope.roles).length === 0)
        throw new AppError('AUTH_ERROR', 'No accessible partitions', { plain: true });
      return 'all';
    }
    for (const name of new Set(names)) {
      if (scope.kind === 'partitions' && !Object.hasOwn(scope.roles, name))
        // Also for an unknown name: a caller does not learn of what it may not see.
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
        return answer(ctx, {
          ...readSearch(ctx.principal, query),
          partitions: await wanted(ctx, query.partitions),
        });
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
        return answer(ctx, { ...readSearch(ctx.principal, query), partitions: [params.partition] });
      },
    }),
    route({
      method: 'get',
      path: '/search/partition/{partition}/file/{file_id}',
      summary: 'Search one file',
      tag: 'Search',
      auth: { partition: 'viewer' },
      request: { params: FileParams, query: FileSearchQuery },
      responses: searchDone,
      errors: [...FILE_SEARCH_ERRORS, 'PARTITION_NOT_FOUND', 'FILE_NOT_FOUND'],
      async handle(ctx, { params, query }) {
        const request = readFileSearch(query);
        const { partition, file_id: fileId } = params;
        const file = await adapters.files.get(partition, fileId);
        if (file === null || file.live === null) throw noSuchFile({ partition, fileId });
        return answer(ctx, { ...request, partitions: [partition], fileKey: file.file_key });
      },
    }),
    route({
      method: 'get',
      path: '/search/partition/{partition}/snapshot',
      summary: 'What a partition holds, in records and in the index',
      tag: 'Search',
      auth: { partition: 'viewer', admin: true },
      request: { params: PartitionParams, query: SnapshotQuery },
      responses: { 200: { description: 'Counts, and ids when asked for', schema: PartitionSnapshot } },
      errors: ['AUTH_ERROR', 'PARTITION_NOT_FOUND', 'RATE_LIMITED', 'VDB_CONNECTION_ERROR'],
      async handle({ scope }, { params, query }) {
        const options = { documentIds: query.include_document_ids };
        return json(200, await describePartition(adapters, scope, params.partition, options));
      },
    }),
    route({
      method: 'get',
      path: '/extract/{extract_id}',
      summary: 'An extract of a document that a search or an answer linked to',
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
}
