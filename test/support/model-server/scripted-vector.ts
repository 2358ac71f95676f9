import { createHash } from 'node:crypto';

/** A vector that texts with common words have in common, of a length that is no unit. The same everywhere. */
export function scriptedVector(text: string, dimension: number): number[] {
  const vector = new Array<number>(dimension).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['nothing']) {
    const digest = createHash('sha256').update(word).digest();
    vector[digest.readUInt32LE(0) % dimension]! += 1;
    vector[digest.readUInt32LE(4) % dimension]! += 0.5;
  }
  return vector;
}
