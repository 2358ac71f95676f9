import type { Adapters } from '../../../activities/ports/adapters.js';
import { liveVersionOf } from '../../../activities/retrieval/search/generation-check.js';
import { AppError } from '../../../schemas/app-error.js';
import type { FileRecord, FileVersion, StoredChunk } from '../../../schemas/documents/documents.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { authorisePartition } from '../../http/middleware/authorise-partition.js';
import { fileOf } from '../../../activities/documents/commands/file-of.js';

/**
 * A chunk of a live version, and that version, for a viewer of its partition.
 * @throws AppError, plain: NOT_FOUND, also for a replaced or deleted version; AUTH_ERROR
 */
export async function findExtract(
  { chunks, files, partitions }: Pick<Adapters, 'chunks' | 'files' | 'partitions'>,
  scope: Scope,
  extractId: string,
): Promise<{ chunk: StoredChunk; file: FileRecord; version: FileVersion }> {
  const chunk = await chunks.get(extractId);
  const file = chunk === null ? undefined : await fileOf(files, chunk.file_key);
  const version = chunk === null ? null : liveVersionOf(chunk, file);
  if (chunk === null || file === undefined || version === null)
    throw new AppError('NOT_FOUND', `Extract '${extractId}' not found`, { plain: true });
  await authorisePartition(partitions, scope, file.partition, 'viewer');
  return { chunk, file, version };
}
