import { createHash } from 'node:crypto';

/** SHA-256 of a text (in UTF-8) or of bytes, in lower-case hex. */
export function sha256Hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
