import { AppError } from '../../schemas/app-error.js';
import type { StoredChunk } from '../../schemas/documents/documents.js';

/** A chunk of a backup with its vector; null: it has none. */
export interface ChunkLine {
  chunk: StoredChunk;
  vector: number[] | null;
  /** What a model said of it before it was embedded. */
  context: string | null;
}

const FLOAT_BYTES = 4;

/** 32-bit floats, as the index holds them, little-endian in base64: a quarter of what they take as JSON. */
export function encodeVector(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * FLOAT_BYTES);
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, place * FLOAT_BYTES);
  return bytes.toString('base64');
}

function decodeVector(text: string): number[] {
  const bytes = Buffer.from(text, 'base64');
  return Array.from({ length: Math.floor(bytes.length / FLOAT_BYTES) }, (_, place) =>
    bytes.readFloatLE(place * FLOAT_BYTES),
  );
}

/** @throws AppError BACKUP_NOT_USABLE */
export function readChunkLines(bytes: Uint8Array): ChunkLine[] {
  try {
    return Buffer.from(bytes)
      .toString('utf8')
      .split('\n')
      .map((line) => {
        // Backups of before it was kept have no context.
        const {
          chunk,
          vector,
          context = null,
        } = JSON.parse(line) as { chunk: StoredChunk; vector: string | null; context?: string };
        return { chunk, vector: vector === null ? null : decodeVector(vector), context };
      });
  } catch (error) {
    throw new AppError('BACKUP_NOT_USABLE', 'A chunk of the backup cannot be read.', { cause: error });
  }
}
