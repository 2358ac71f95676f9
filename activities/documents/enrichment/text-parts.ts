import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { BlobStore } from '../../ports/files.js';

/** Whose blobs they are. */
export type Owner = { taskId: string; fileKey: string; generation: number };

/**
 * What a model says of a document fragment by fragment, put down in parts: each a blob with a JSON array of texts, null
 * where nothing was said.
 * @param name in the tickets of the blobs
 */
export function textParts(name: string) {
  const idOf = (taskId: string, part: number): string => `${taskId}.${name}.${part}`;
  return {
    async write(
      blobs: Pick<BlobStore, 'write'>,
      { taskId, fileKey, generation }: Owner,
      part: number,
      texts: readonly (string | null)[],
      signal: AbortSignal,
    ): Promise<void> {
      await blobs.write(
        { blobId: idOf(taskId, part), kind: 'chunks', taskId, fileKey, generation },
        Readable.from([Buffer.from(JSON.stringify(texts))]),
        signal,
      );
    },

    async read(blobs: Pick<BlobStore, 'read'>, taskId: string, part: number): Promise<(string | null)[]> {
      return JSON.parse(await text(await blobs.read(idOf(taskId, part)))) as (string | null)[];
    },

    /** How many parts are complete. */
    async count(blobs: Pick<BlobStore, 'info'>, taskId: string): Promise<number> {
      let part = 0;
      while ((await blobs.info(idOf(taskId, part))) !== null) part += 1;
      return part;
    },

    async remove(blobs: Pick<BlobStore, 'remove'>, taskId: string, parts: number): Promise<void> {
      for (let part = 0; part < parts; part += 1) await blobs.remove(idOf(taskId, part));
    },
  };
}
