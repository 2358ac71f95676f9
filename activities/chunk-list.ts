import { createInterface } from 'node:readline';
import type { Chunk } from '../schemas/documents.js';
import type { BlobStore } from './file-ports.js';

/** The ticket of a document's chunk list: JSON lines, one `Chunk` each. */
export const chunksBlobId = (taskId: string): string => `${taskId}.chunks`;

const lines = async function* (blobs: Pick<BlobStore, 'read'>, taskId: string): AsyncGenerator<string> {
  const source = await blobs.read(chunksBlobId(taskId));
  try {
    yield* createInterface({ input: source, crlfDelay: Infinity });
  } finally {
    source.destroy();
  }
};

/** How many chunks a document has. */
export const countChunks = async (blobs: Pick<BlobStore, 'read'>, taskId: string): Promise<number> => {
  let count = 0;
  for await (const _line of lines(blobs, taskId)) count += 1;
  return count;
};

/** The chunks of a document in their order, without the first `skip`, so many at a time. */
export const readChunkBatches = async function* (
  blobs: Pick<BlobStore, 'read'>,
  taskId: string,
  options: { skip: number; size: number },
): AsyncGenerator<Chunk[]> {
  let batch: Chunk[] = [];
  let index = 0;
  for await (const line of lines(blobs, taskId)) {
    index += 1;
    if (index <= options.skip) continue;
    batch.push(JSON.parse(line) as Chunk);
    if (batch.length >= options.size) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
};
