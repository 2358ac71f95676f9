import { AppError } from '../../../schemas/app-error.js';
import { inScope } from '../../../schemas/documents/users.js';
import type { Scope } from '../../../schemas/documents/users.js';
import type { ChunkStore } from '../../ports/chunks.js';
import type { FileStore } from '../../ports/files.js';
import type { PartitionStore } from '../../ports/partitions.js';
import type { SearchResult } from '../search/search-types.js';
import type { Attachment } from './chat-request.js';

/** Chunks of one file at most: the prompt would hold no more. */
const MAX_CHUNKS = 50;

export interface FoundAttachments {
  attachments: Attachment[];
  /** From the beginning of each file, in order. */
  results: SearchResult[];
}

/**
 * The files that a request puts into the context whatever the search finds, by their ids in the searched
 * partitions; only those of the caller's scope exist.
 * @throws AppError FILE_NOT_FOUND, plain
 */
export function createAttachmentFinder(stores: {
  files: Pick<FileStore, 'get'>;
  chunks: Pick<ChunkStore, 'listByFile'>;
  partitions: Pick<PartitionStore, 'list'>;
}) {
  const { files, chunks, partitions } = stores;
  return async (
    ids: readonly string[],
    where: { scope: Scope; partitions: readonly string[] | 'all' },
  ): Promise<FoundAttachments> => {
    const found: FoundAttachments = { attachments: [], results: [] };
    if (ids.length === 0) return found;
    const names = where.partitions === 'all' ? undefined : where.partitions;
    const visible = (await partitions.list(where.scope, names))
      .map(({ partition }) => partition)
      .filter((name) => inScope(where.scope, name) && names?.includes(name) !== false);
    for (const id of new Set(ids)) {
      const records = await Promise.all(visible.map((name) => files.get(name, id)));
      const live = records.flatMap((file) => (file?.live == null ? [] : [{ file, version: file.live }]));
      if (live.length === 0)
        throw new AppError('FILE_NOT_FOUND', `Attachment '${id}' not found`, { plain: true });
      for (const { file, version } of live) {
        const listed = await chunks.listByFile(file.file_key, version.generation, MAX_CHUNKS);
        found.attachments.push({ id, partition: file.partition, filename: version.filename });
        const scores = { score: 1, vectorScore: null, lexicalScore: null };
        found.results.push(...listed.map((chunk) => ({ chunk, file, version, ...scores })));
      }
    }
    return found;
  };
}

export type AttachmentFinder = ReturnType<typeof createAttachmentFinder>;
