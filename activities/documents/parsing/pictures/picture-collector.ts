import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PictureCount } from '../../../../schemas/documents/tasks.js';
import { readPictureFormat } from './picture-format.js';
import type { PictureLimits } from './picture-limits.js';

/** Takes the pictures of one document as a parser comes upon them. */
export interface PictureCollector {
  readonly limits: PictureLimits;
  /** No more will be kept: a caller need not decode further pictures. */
  readonly full: boolean;
  /** Puts a picture down and answers its number; null when it is left out, or was there before. */
  take(bytes: Buffer): Promise<number | null>;
  /** One that the parser itself could not hand out. */
  leaveOut(why?: string): void;
  /** Why pictures were left out, in sentences. */
  reasons(): string[];
  /** The kept ones are files `0` to `kept - 1` in the directory. */
  count(): PictureCount;
}

export const NO_MODEL_TAKES_IT = 'A picture is in a format that vision models do not take.';
const TOO_MANY = 'The document has more pictures, in number or bytes, than are described.';

/**
 * Keeps pictures as files in a directory, which is made when the first one comes. The same bytes again are one picture,
 * at its first place.
 */
export function createPictureCollector(directory: string, limits: PictureLimits): PictureCollector {
  const seen = new Set<string>();
  let kept = 0;
  let leftOut = 0;
  let total = 0;
  const reasons = new Set<string>();
  const leaveOut = (why: string): void => {
    leftOut += 1;
    reasons.add(why);
  };
  const isFull = (): boolean => kept >= limits.maxPictures || total >= limits.maxTotalBytes;
  const reasonAgainst = (bytes: Buffer, format: ReturnType<typeof readPictureFormat>): string | null => {
    if (bytes.length > limits.maxBytes) return `A picture has more than ${limits.maxBytes} bytes.`;
    if (format === null) return NO_MODEL_TAKES_IT;
    if (format.width * format.height > limits.maxPixels)
      return `A picture has more than ${limits.maxPixels} pixels.`;
    return isFull() || total + bytes.length > limits.maxTotalBytes ? TOO_MANY : null;
  };
  return {
    limits,
    get full() {
      return isFull();
    },
    async take(bytes) {
      const digest = createHash('sha256').update(bytes).digest('base64');
      if (seen.has(digest)) return null;
      seen.add(digest);
      const format = bytes.length > limits.maxBytes ? null : readPictureFormat(bytes);
      if (format !== null && Math.min(format.width, format.height) < limits.minSide) return null;
      const why = reasonAgainst(bytes, format);
      if (why !== null) {
        leaveOut(why);
        return null;
      }
      if (kept === 0) await mkdir(directory, { recursive: true });
      await writeFile(join(directory, String(kept)), bytes);
      total += bytes.length;
      kept += 1;
      return kept - 1;
    },
    leaveOut: (why) => leaveOut(why ?? (isFull() ? TOO_MANY : 'A picture could not be decoded.')),
    reasons: () => [...reasons],
    count: () => ({ kept, leftOut }),
  };
}
