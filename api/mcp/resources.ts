import { z } from 'zod';
import {
  presentChunkMetadata,
  presentFileMetadata,
} from '../../activities/retrieval/search/present-metadata.js';
import { findExtract } from '../retrieval/search/find-extract.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { losslessBody } from '../http/json.js';
import type { CallerContext } from '../http/route.js';
import { findLiveFile, readChunks } from './read-file.js';
import { INVALID_PARAMS, RESOURCE_NOT_FOUND, rpcError } from './rpc-error.js';
import { withoutBigints } from './without-bigints.js';

const PAGE = 100;
/** Partitions looked into for one page: most hold files. */
const PARTITIONS_PER_PAGE = 100;
/** Of a file that has more chunks the first are given; tools read the rest. */
const MAX_CHUNKS = 200;

function fileUri(partition: string, fileId: string): string {
  return `tamis://partition/${encodeURIComponent(partition)}/file/${encodeURIComponent(fileId)}`;
}

function chunkUri(id: string): string {
  return `tamis://chunk/${encodeURIComponent(id)}`;
}

export const RESOURCE_TEMPLATES = [
  {
    name: 'file',
    title: 'A file',
    uriTemplate: 'tamis://partition/{partition}/file/{file_id}',
    description: `The metadata of a file, then its chunks in order, the first ${MAX_CHUNKS} of them`,
  },
  {
    name: 'chunk',
    title: 'A chunk',
    uriTemplate: 'tamis://chunk/{chunk_id}',
    description: 'The text of one extract, as searches name it',
    mimeType: 'text/plain',
  },
];

/** Of names and ids of the greatest length, each character in the form `%00`. */
const MAX_URI = 2000;

/** Where the next page begins. */
const Cursor = z.tuple([z.string(), z.int().min(0)]);

function readCursor(cursor: string | undefined): z.output<typeof Cursor> {
  if (cursor === undefined) return ['', 0];
  try {
    return Cursor.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw rpcError(INVALID_PARAMS, 'The cursor is none of this server.');
  }
}

function writeCursor(place: z.output<typeof Cursor>): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function noSuchResource(uri: string): Error {
  return rpcError(RESOURCE_NOT_FOUND, `Resource '${uri.slice(0, 200)}' not found`);
}

function decoded(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? '');
  } catch {
    return '';
  }
}

/** Files and chunks as resources. */
export function createResources({ adapters }: Pick<GatewayDeps, 'adapters'>) {
  return {
    /** The files of the partitions that the caller may read, a page at a time. */
    async list({ scope }: CallerContext, cursor?: string) {
      const [from, start] = readCursor(cursor);
      const names = (await adapters.partitions.list(scope)).map(({ partition }) => partition).sort();
      const left = names.filter((name) => name >= from);
      const resources: object[] = [];
      for (const [index, partition] of left.entries()) {
        if (index === PARTITIONS_PER_PAGE) return { resources, nextCursor: writeCursor([partition, 0]) };
        const offset = partition === from ? start : 0;
        const limit = PAGE - resources.length;
        const files = await adapters.files.listLive(scope, partition, { offset, limit });
        for (const { file_id: fileId, live } of files)
          resources.push({
            uri: fileUri(partition, fileId),
            name: `${partition}/${fileId}`,
            ...(live === null ? {} : { title: live.filename }),
          });
        if (files.length === limit)
          return { resources, nextCursor: writeCursor([partition, offset + files.length]) };
      }
      return { resources };
    },

    async read(ctx: CallerContext, uri: string) {
      if (uri.length > MAX_URI) throw noSuchResource(uri);
      const [, partition, fileId] = /^tamis:\/\/partition\/([^/]+)\/file\/([^/]+)$/.exec(uri) ?? [];
      if (partition !== undefined) {
        const named = { partition: decoded(partition), fileId: decoded(fileId) };
        const found = await findLiveFile(adapters, ctx, named);
        const chunks = await readChunks(adapters, found, {
          offset: 0,
          limit: MAX_CHUNKS,
          signal: ctx.signal,
        });
        const metadata = { ...presentFileMetadata(found.file), total_chunks: found.live.chunk_count };
        return {
          contents: [
            { uri, mimeType: 'application/json', text: losslessBody(metadata) },
            ...chunks.map(({ chunk_id: id, content }) => ({
              uri: chunkUri(id),
              mimeType: 'text/plain',
              text: content,
            })),
          ],
        };
      }
      const chunk = /^tamis:\/\/chunk\/([^/]+)$/.exec(uri)?.[1];
      if (chunk === undefined) throw noSuchResource(uri);
      const found = await findExtract(adapters, ctx.scope, decoded(chunk));
      const metadata = withoutBigints(presentChunkMetadata(found));
      return { contents: [{ uri, mimeType: 'text/plain', text: found.chunk.text, _meta: { metadata } }] };
    },
  };
}
