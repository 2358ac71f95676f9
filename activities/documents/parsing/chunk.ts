import type { Chunk } from '../../../schemas/documents/documents.js';

/** A chunk as the chunker gives it. */
export interface ParsedChunk extends Chunk {
  /** Where the text starts in the decoded source, for formats that keep their source text. */
  charStart?: number;
  /**
   * The place of the picture of this number. Its description is still to come: `text` holds what goes before it, and
   * `tokens` says how many it may have.
   */
  picture?: number;
}

export interface ChunkingOptions {
  /** Most o200k tokens in a chunk; the caller has bounded it by the embedder's window. At least 16. */
  chunkSize: number;
  /**
   * `structured_section`: each chunk begins with the headings that it stands under. `recursive_splitter` by default.
   */
  strategy?: 'recursive_splitter' | 'structured_section';
  /** Part of a chunk that may repeat the end of the one before, 0 to below 1. */
  overlapRate: number;
}

/** @throws RangeError when the options cannot be met, which is the caller's mistake and not the document's */
export function checkChunkingOptions({ chunkSize, overlapRate }: ChunkingOptions): void {
  if (!(chunkSize >= 16)) throw new RangeError('chunkSize must be at least 16 tokens');
  if (!(overlapRate >= 0 && overlapRate < 1)) throw new RangeError('overlapRate must be in [0, 1)');
}
