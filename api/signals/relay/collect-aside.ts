import { Transform, pipeline } from 'node:stream';
import type { Readable } from 'node:stream';

interface Aside {
  /** No more than so many bytes are kept; of a larger body none. */
  limit: number;
  onBytes(count: number): void;
  /** Once: with the whole body, or null when it was too large or broke off. */
  onEnd(bytes: Buffer | null): void;
}

/** Hands a body on piece by piece as it comes, and keeps a copy of a small one. */
export const collectAside = (body: Readable, { limit, onBytes, onEnd }: Aside): Readable => {
  let kept: Buffer[] | null = [];
  let size = 0;
  let ended = false;
  const end = (bytes: Buffer | null): void => {
    if (ended) return;
    ended = true;
    onEnd(bytes);
  };
  const through = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (kept !== null && size <= limit) {
        kept.push(chunk);
        onBytes(chunk.length);
      } else kept = null;
      done(null, chunk);
    },
    flush(done) {
      end(kept === null ? null : Buffer.concat(kept));
      done();
    },
  });
  pipeline(body, through, () => end(null));
  return through;
};
