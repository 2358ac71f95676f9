import type { Chunk } from '../../schemas/documents/documents.js';
import { asImageText } from './enrichment/describe-picture.js';
import { readDescriptions } from './enrichment/picture-list.js';
import type { BlobStore } from '../ports/files.js';
import { readLines } from '../text/read-lines.js';

type Blobs = Pick<BlobStore, 'read' | 'info'>;

/** A line of the list. Where a picture stands the description is put in from a list of its own. */
type ListedChunk = Chunk & { picture?: number };

/** The ticket of a document's chunk list: JSON lines, one `ParsedChunk` each. */
export function chunksBlobId(taskId: string): string {
  return `${taskId}.chunks`;
}

async function* lines(blobs: Pick<BlobStore, 'read'>, taskId: string): AsyncGenerator<string> {
  const source = await blobs.read(chunksBlobId(taskId));
  try {
    yield* readLines(source);
  } finally {
    source.destroy();
  }
}

/** A key of an object, which no text can look like: in texts the quotes are escaped. */
function isPicture(line: string): boolean {
  return line.includes('"picture":');
}

/** A place per chunk, in order; what is not asked for is not read. A picture of which nothing was said has none. */
async function* places(blobs: Blobs, taskId: string): AsyncGenerator<() => Chunk> {
  let descriptions: readonly (string | null)[] | null = null;
  for await (const line of lines(blobs, taskId)) {
    if (!isPicture(line)) {
      yield () => JSON.parse(line) as Chunk;
      continue;
    }
    const { picture, ...chunk } = JSON.parse(line) as ListedChunk;
    descriptions ??= await readDescriptions(blobs, taskId);
    const said = descriptions[picture!] ?? null;
    if (said !== null) yield () => ({ ...chunk, text: chunk.text + asImageText(said, chunk.tokens) });
  }
}

/** How many chunks a document has. */
export async function countChunks(blobs: Blobs, taskId: string): Promise<number> {
  let count = 0;
  for await (const _place of places(blobs, taskId)) count += 1;
  return count;
}

/**
 * The chunks of a document in their order, without the first `skip`, so many at a time. `last`: nothing follows. A
 * picture of which nothing was said has none.
 */
export async function* readChunkBatches(
  blobs: Blobs,
  taskId: string,
  options: { skip: number; size: number },
): AsyncGenerator<{ chunks: Chunk[]; last: boolean }> {
  let chunks: Chunk[] = [];
  let position = -1;
  for await (const read of places(blobs, taskId)) {
    position += 1;
    if (position < options.skip) continue;
    if (chunks.length >= options.size) {
      yield { chunks, last: false };
      chunks = [];
    }
    chunks.push({ ...read(), position });
  }
  if (chunks.length > 0) yield { chunks, last: true };
}
