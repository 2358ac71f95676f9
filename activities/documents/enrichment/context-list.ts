import type { BlobStore } from '../../ports/files.js';
import { textParts } from './text-parts.js';

/** Contexts of so many chunks are put down together: what a crash costs is at most these. */
export const CONTEXTS_PER_PART = 16;

const contexts = textParts('contexts');

export const { write: writeContexts, count: countContextParts, remove: removeContexts } = contexts;

/** Looks contexts up by the position of their chunk; chunks are asked for in their order. */
export function openContexts(blobs: Pick<BlobStore, 'read'>, taskId: string, parts: number) {
  let held: { part: number; texts: (string | null)[] } | null = null;
  return async (position: number): Promise<string | null> => {
    const part = Math.floor(position / CONTEXTS_PER_PART);
    if (part >= parts) return null;
    if (held?.part !== part) held = { part, texts: await contexts.read(blobs, taskId, part) };
    return held.texts[position % CONTEXTS_PER_PART] ?? null;
  };
}
