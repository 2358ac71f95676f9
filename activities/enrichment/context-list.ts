import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { BlobStore } from '../file-ports.js';

/** Contexts of so many chunks are put down together: what a crash costs is at most these. */
export const CONTEXTS_PER_PART = 16;

/** The ticket of a part of a document's contexts: a JSON array of texts, null where there is none. */
const contextsBlobId = (taskId: string, part: number): string => `${taskId}.contexts.${part}`;

type Owner = { taskId: string; fileKey: string; generation: number };

export const writeContexts = async (
  blobs: Pick<BlobStore, 'write'>,
  owner: Owner,
  part: number,
  contexts: readonly (string | null)[],
  signal: AbortSignal,
): Promise<void> => {
  const { taskId, fileKey, generation } = owner;
  await blobs.write(
    { blobId: contextsBlobId(taskId, part), kind: 'chunks', taskId, fileKey, generation },
    Readable.from([Buffer.from(JSON.stringify(contexts))]),
    signal,
  );
};

/** How many parts are complete. */
export const countContextParts = async (blobs: Pick<BlobStore, 'info'>, taskId: string): Promise<number> => {
  let part = 0;
  while ((await blobs.info(contextsBlobId(taskId, part))) !== null) part += 1;
  return part;
};

const readPart = async (
  blobs: Pick<BlobStore, 'read'>,
  taskId: string,
  part: number,
): Promise<(string | null)[]> =>
  JSON.parse(await text(await blobs.read(contextsBlobId(taskId, part)))) as (string | null)[];

/** Looks contexts up by the position of their chunk; chunks are asked for in their order. */
export const openContexts = (blobs: Pick<BlobStore, 'read'>, taskId: string, parts: number) => {
  let held: { part: number; contexts: (string | null)[] } | null = null;
  return async (position: number): Promise<string | null> => {
    const part = Math.floor(position / CONTEXTS_PER_PART);
    if (part >= parts) return null;
    if (held?.part !== part) held = { part, contexts: await readPart(blobs, taskId, part) };
    return held.contexts[position % CONTEXTS_PER_PART] ?? null;
  };
};

export const removeContexts = async (
  blobs: Pick<BlobStore, 'remove'>,
  taskId: string,
  parts: number,
): Promise<void> => {
  for (let part = 0; part < parts; part += 1) await blobs.remove(contextsBlobId(taskId, part));
};
