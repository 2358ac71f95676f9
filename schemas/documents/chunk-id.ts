import { hash } from 'node:crypto';

/**
 * The id of a chunk: a hash of (file_key, generation, position), each with its length in front so that no two
 * triples read alike. 22 URL-safe characters (132 bits of SHA-256); derived, so that writing twice is harmless.
 */
export function chunkId(fileKey: string, generation: number, position: number): string {
  const parts = [fileKey, String(generation), String(position)];
  // In one call: a search derives some hundred of them.
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''), 'base64url').slice(0, 22);
}
