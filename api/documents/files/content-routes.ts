import { z } from 'zod';
import { walkAncestors } from '../../../activities/retrieval/search/ancestor-chain.js';
import {
  presentChunkMetadata,
  presentFileMetadata,
} from '../../../activities/retrieval/search/present-metadata.js';
import { ListLimit, queryNumber } from '../../../schemas/documents/documents-api.js';
import { Ancestors, ChunkList, RelatedFiles } from '../../../schemas/documents/partitions-api.js';
import type { FileStore } from '../../../activities/ports/files.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import { noSuchFile } from '../../../activities/documents/commands/refusals.js';
import { jsonList, route } from '../../http/route.js';
import type { CallerContext, Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { links } from '../../http/links.js';
import { filesAnswer, livePages, relatedPages } from './live-pages.js';
import { FileParams, PartitionParams } from '../../http/identifiers.js';

const RelationshipParams = PartitionParams.extend({ relationship_id: z.string() });

const ChunksQuery = z.object({
  include_embedding: z.stringbool().default(true),
  file_id: z.string().optional(),
  limit: ListLimit.optional(),
});
const AncestorsQuery = z.object({ max_ancestor_depth: queryNumber(z.int().min(0)).optional() });

/** Steps of a chain at most: each is a look-up of its own. */
const MAX_DEPTH = 10_000;
/** Files of a chain whose metadata are held at once: 64 KiB each. */
const LINKS_AT_ONCE = 100;

/** A file of a group or of a chain: its names, then its metadata. */
function related(file: FileRecord) {
  return {
    ...presentFileMetadata(file),
    file_id: file.file_id,
    partition: file.partition,
    relationship_id: file.live?.relationship_id ?? null,
    parent_id: file.live?.parent_id ?? null,
  };
}

/** A file of a chain, and its steps from the file that was asked for. */
interface Link {
  key: string;
  depth: number;
}

/** Rows of a chain, some records at a time; what has been deleted or moved since it was walked is left out. */
async function* ancestorRows(files: Pick<FileStore, 'getMany'>, partition: string, chain: readonly Link[]) {
  for (let from = 0; from < chain.length; from += LINKS_AT_ONCE) {
    const page = chain.slice(from, from + LINKS_AT_ONCE);
    const records = await files.getMany(
      page.map(({ key }) => key),
      { reports: false },
    );
    for (const { key, depth } of page) {
      const file = records.get(key);
      if (file?.live != null && file.partition === partition) yield { ...related(file), depth };
    }
  }
}

/** What a partition holds beyond the list of its files: chunks, groups and chains of files. */
function contentHandlers({ adapters }: GatewayDeps) {
  const { files, chunks, models, partitions } = adapters;

  const findLive = async (partition: string, fileId: string): Promise<FileRecord | null> => {
    const file = await files.get(partition, fileId);
    return file?.live == null ? null : file;
  };

  const liveFile = async (partition: string, fileId: string): Promise<FileRecord> => {
    const file = await findLive(partition, fileId);
    if (file === null) throw noSuchFile({ partition, fileId });
    return file;
  };

  /** A list of the chunks of a file that is gone, or not indexed yet, is an empty list (wire contract, section 1.5). */
  async function* filesToScan(
    scope: CallerContext['scope'],
    partition: string,
    fileId: string | undefined,
  ): AsyncGenerator<FileRecord[]> {
    if (fileId === undefined) return yield* livePages(files, scope, partition);
    const file = await findLive(partition, fileId);
    if (file !== null) yield [file];
  }

  /** The partition's own first: what it had before a swap stays beside it in its chunks. */
  const vectorFieldsOf = async (partition: string): Promise<string[]> => {
    const [record, embedders] = await Promise.all([partitions.get(partition), models.list('embedder')]);
    const others = embedders.filter(({ name }) => name !== record?.embedder);
    const own = embedders.filter(({ name }) => name === record?.embedder);
    return [...own, ...others].flatMap(({ vector_field }) => vector_field ?? []);
  };

  async function* chunkRows(
    { baseUrl, signal }: CallerContext,
    pages: AsyncIterable<readonly FileRecord[]>,
    { vectorFields, limit = Infinity }: { vectorFields: readonly string[]; limit?: number | undefined },
  ) {
    const link = links(baseUrl);
    let left = limit;
    if (left === 0) return;
    for await (const page of pages) {
      const byGeneration = new Map(page.map((file) => [file.live?.generation ?? 0, file]));
      for await (const { chunk, vector } of chunks.scanChunks([...byGeneration.keys()], {
        vectorFields,
        pageSize: left,
        signal,
      })) {
        const file = byGeneration.get(chunk.generation);
        // A generation belongs to one file; whatever else carries its number is not for this answer.
        if (file === undefined || file.live === null || file.file_key !== chunk.file_key) continue;
        left -= 1;
        const metadata = presentChunkMetadata({ chunk, file, version: file.live });
        yield {
          link: link.extract(chunk.chunk_id),
          content: chunk.text,
          metadata: vector === null ? metadata : { ...metadata, vector: JSON.stringify(vector) },
        };
        if (left === 0) return;
      }
    }
  }

  return {
    async listChunks(ctx: CallerContext, partition: string, query: z.output<typeof ChunksQuery>) {
      const wanted = filesToScan(ctx.scope, partition, query.file_id);
      const vectorFields = query.include_embedding ? await vectorFieldsOf(partition) : [];
      return jsonList('chunks', chunkRows(ctx, wanted, { vectorFields, limit: query.limit }));
    },

    async listRelated({ scope }: CallerContext, partition: string, relationshipId: string) {
      // Both slash forms of a path are one: an id cannot end in a slash.
      const id = relationshipId.replace(/\/$/, '');
      return filesAnswer(relatedPages(files, scope, partition, id), related);
    },

    async listAncestors({ signal }: CallerContext, partition: string, fileId: string, most = MAX_DEPTH) {
      const reach = { most: Math.min(most, MAX_DEPTH), signal };
      // The answer begins with the root, which is found last: until then the keys alone are kept.
      const chain: Link[] = [];
      for await (const file of walkAncestors(files, await liveFile(partition, fileId), reach))
        chain.push({ key: file.file_key, depth: chain.length });
      return jsonList('ancestors', ancestorRows(files, partition, chain.reverse()));
    },
  };
}

type Handlers = ReturnType<typeof contentHandlers>;

function relationshipRoutes(handlers: Handlers, prefix: string): Route[] {
  return [
    route({
      method: 'get',
      path: `${prefix}/{partition}/relationships/{+relationship_id}`,
      summary: 'Files that share a relationship id',
      tag: 'Relationships',
      auth: { partition: 'viewer' },
      request: { params: RelationshipParams },
      responses: {
        200: { description: 'Files by id; none for an unknown relationship', schema: RelatedFiles },
      },
      errors: ['PARTITION_NOT_FOUND'],
      handle: (ctx, { params }) => handlers.listRelated(ctx, params.partition, params.relationship_id),
    }),
    route({
      method: 'get',
      path: `${prefix}/{partition}/file/{file_id}/ancestors`,
      summary: 'The chain of parents above a file, root first, the file itself last',
      tag: 'Relationships',
      auth: { partition: 'viewer' },
      request: { params: FileParams, query: AncestorsQuery },
      responses: { 200: { description: 'Files, root first', schema: Ancestors } },
      errors: ['PARTITION_NOT_FOUND', 'FILE_NOT_FOUND', 'VALIDATION_ERROR'],
      handle: (ctx, { params, query }) =>
        handlers.listAncestors(ctx, params.partition, params.file_id, query.max_ancestor_depth),
    }),
  ];
}

/** Chunks, and relationships under the path that clients in use call. */
export function contentRoutes(deps: GatewayDeps): Route[] {
  const handlers = contentHandlers(deps);
  return [
    route({
      method: 'get',
      path: '/partition/{partition}/chunks',
      summary: 'The indexed chunks of a partition, with their vectors as text',
      tag: 'Partitions',
      auth: { partition: 'viewer' },
      request: { params: PartitionParams, query: ChunksQuery },
      responses: { 200: { description: 'Chunks, file by file', schema: ChunkList } },
      errors: ['PARTITION_NOT_FOUND', 'VALIDATION_ERROR', 'VDB_CONNECTION_ERROR'],
      handle: (ctx, { params, query }) => handlers.listChunks(ctx, params.partition, query),
    }),
    ...relationshipRoutes(handlers, '/partition'),
  ];
}

/** The same under the path that the agreed description prints. It begins with a wildcard, so it must come last. */
export function bareRelationshipRoutes(deps: GatewayDeps): Route[] {
  return relationshipRoutes(contentHandlers(deps), '');
}
