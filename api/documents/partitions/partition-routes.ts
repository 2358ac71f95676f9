import { z } from 'zod';
import { presentFileMetadata } from '../../../activities/retrieval/search/present-metadata.js';
import { AppError } from '../../../schemas/app-error.js';
import { chunkId } from '../../../schemas/documents/chunk-id.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { EmbedderSwapRecord } from '../../../schemas/documents/embedder-swaps.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import { DEGRADABLE_STAGES } from '../../../schemas/documents/tasks.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { FileDetail, FileList, ListLimit, PartitionList } from '../../../schemas/documents/documents-api.js';
import { createPartition } from '../../../activities/documents/commands/create-partition.js';
import { deletePartition } from '../../../activities/documents/commands/delete-partition.js';
import { reconcileDeletedUser } from '../../../activities/documents/commands/delete-user.js';
import { noSuchFile } from '../../../activities/documents/commands/refusals.js';
import { empty, json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { links } from '../../http/links.js';
import { filesAnswer, livePages } from '../files/live-pages.js';
import type { Links } from '../../http/links.js';
import { FileParams, PartitionParams } from '../../http/identifiers.js';
import { presentSwap } from './present-swap.js';

const DEFAULT_EXTRACTS = 2000;
const NOTHING = { files: 0, chunks: 0 };

const ListQuery = z.object({
  limit: ListLimit.optional(),
  degraded_stage: z.enum(DEGRADABLE_STAGES).optional(),
  after: z.string().optional().meta({
    description: 'Only ids behind this one, which need not be there: with `limit` the next page',
  }),
});
const ExtractsQuery = z.object({ limit: ListLimit.default(DEFAULT_EXTRACTS) });

function partitionRow(
  record: PartitionRecord,
  {
    totals: { files, chunks },
    swap,
    dimensions,
    scope,
  }: {
    totals: { files: number; chunks: number };
    swap: EmbedderSwapRecord | undefined;
    dimensions: ReadonlyMap<string, number | null>;
    scope: Scope;
  },
) {
  return {
    partition: record.partition,
    file_count: files,
    document_count: files,
    chunk_count: chunks,
    description: record.description,
    embedder: record.embedder,
    embedder_swap: swap === undefined ? null : presentSwap(swap),
    indexation_preset: record.indexation_preset,
    retrieval_preset: record.retrieval_preset,
    dimension: files === 0 ? null : (dimensions.get(record.embedder) ?? null),
    chat_history_depth: record.chat_history_depth,
    chat_llm: record.chat_llm,
    created_at: record.created_at.toISOString(),
    ...(scope.kind === 'all' ? {} : { role: scope.roles[record.partition] }),
  };
}

/** A file as lists show it. */
export function fileRow(file: FileRecord, link: Links) {
  return {
    ...presentFileMetadata(file),
    link: link.file(file.partition, file.file_id),
    partition: file.partition,
    file_id: file.file_id,
    relationship_id: file.live?.relationship_id ?? null,
    parent_id: file.live?.parent_id ?? null,
    content_sha256: file.live?.content_sha256 ?? '',
    indexed_at: (file.live?.indexed_at ?? file.updated_at).toISOString(),
  };
}

/** Partitions and what they hold. */
export function partitionRoutes({ adapters, config, workflows }: GatewayDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/partition/',
      summary: "The caller's partitions",
      tag: 'Partitions',
      auth: 'user',
      responses: { 200: { description: 'Partitions by name', schema: PartitionList } },
      async handle({ scope }) {
        const records = await adapters.partitions.list(scope);
        const [totals, swaps, embedders] = await Promise.all([
          adapters.files.totalLive(records.map(({ partition }) => partition)),
          adapters.embedderSwaps.latestOfEach(records.map(({ partition_key: key }) => key)),
          adapters.models.list('embedder'),
        ]);
        const dimensions = new Map(embedders.map(({ name, dimension }) => [name, dimension]));
        return json(200, {
          partitions: records.map((record) =>
            partitionRow(record, {
              totals: totals.get(record.partition) ?? NOTHING,
              swap: swaps.get(record.partition_key),
              dimensions,
              scope,
            }),
          ),
        });
      },
    }),
    route({
      method: 'post',
      path: '/partition/{partition}',
      summary: 'Create a partition; the caller becomes its owner',
      tag: 'Partitions',
      auth: 'user',
      request: { params: PartitionParams },
      responses: { 201: { description: 'Created' } },
      errors: [
        'AUTH_ERROR',
        'BAD_REQUEST',
        'RESERVED_PARTITION_NAME',
        'PARTITION_LIMIT_EXCEEDED',
        'PARTITION_EXISTS',
        'MODEL_ENDPOINT_NOT_FOUND',
      ],
      async handle({ principal: { userId }, log }, { params }) {
        const { maxPartitionsPerUser } = config.documents;
        await createPartition({ ...adapters, maxPartitionsPerUser }, { partition: params.partition, userId });
        if (await reconcileDeletedUser({ ...adapters, workflows, log }, userId))
          throw new AppError('AUTH_ERROR', 'Invalid token', { plain: true });
        return empty(201);
      },
    }),
    route({
      method: 'delete',
      path: '/partition/{partition}',
      summary: 'Delete a partition with all that is in it; its running tasks are cancelled',
      tag: 'Partitions',
      auth: { partition: 'owner' },
      request: { params: PartitionParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['AUTH_ERROR', 'PARTITION_NOT_FOUND'],
      async handle({ log }, { params }) {
        await deletePartition({ ...adapters, workflows, log }, params.partition);
        return empty(204);
      },
    }),
    route({
      method: 'get',
      path: '/partition/{partition}',
      summary: 'The indexed files of a partition',
      tag: 'Partitions',
      auth: { partition: 'viewer' },
      request: { params: PartitionParams, query: ListQuery },
      responses: { 200: { description: 'Files by id', schema: FileList } },
      errors: ['AUTH_ERROR', 'PARTITION_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle({ scope, baseUrl }, { params, query }) {
        const { limit, degraded_stage: degradedStage, after } = query;
        const link = links(baseUrl);
        const pages = livePages(adapters.files, scope, params.partition, { limit, degradedStage, after });
        return filesAnswer(pages, (file) => fileRow(file, link));
      },
    }),
    route({
      method: 'get',
      path: '/partition/{partition}/file/{file_id}',
      summary: "A file's metadata and links to its extracts",
      tag: 'Partitions',
      auth: { partition: 'viewer' },
      request: { params: FileParams, query: ExtractsQuery },
      responses: { 200: { description: 'The file', schema: FileDetail } },
      errors: ['AUTH_ERROR', 'PARTITION_NOT_FOUND', 'FILE_NOT_FOUND', 'VALIDATION_ERROR'],
      async handle({ baseUrl }, { params, query }) {
        const file = await adapters.files.get(params.partition, params.file_id);
        if (file === null || file.live === null)
          throw noSuchFile({ partition: params.partition, fileId: params.file_id });
        const { file_key: fileKey, live } = file;
        const link = links(baseUrl);
        // A chunk's id says its place, so nothing has to be looked up for a list of any length.
        const documents = Array.from({ length: Math.min(query.limit, live.chunk_count) }, (_, position) => ({
          link: link.extract(chunkId(fileKey, live.generation, position)),
        }));
        return json(200, {
          metadata: presentFileMetadata(file),
          documents,
          ...(live.degraded_stages.length > 0 ? { degraded: true as const } : {}),
          ...(live.parse_report === undefined ? {} : { parse_report: live.parse_report }),
        });
      },
    }),
  ];
}
