import { Transform, pipeline, PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';

/**
 * Holds a small body back until it is whole, shows it to `seen`, and lets it go when that has finished. A body over
 * the limit flows on at once, unseen.
 */
export function holdBack(limit: number, seen: (bytes: Buffer) => Promise<void> | void): Transform {
  let held: Buffer[] | null = [];
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (held === null) {
        done(null, chunk);
        return;
      }
      held.push(chunk);
      size += chunk.length;
      if (size <= limit) {
        done();
        return;
      }
      const all = Buffer.concat(held);
      held = null;
      done(null, all);
    },
    flush(done) {
      if (held === null) {
        done();
        return;
      }
      const all = Buffer.concat(held);
      void (async () => seen(all))().then(() => done(null, all.length === 0 ? undefined : all), done);
    },
  });
}

interface Aside {
  /** The body goes on from then. */
  ready: Promise<void>;
  /** Whether there is room for so many bytes more. When there is none, nothing of the body is kept. */
  hasRoom(count: number): boolean;
  /** Once: with the whole body, or what became of it instead. */
  onEnd(end: Buffer | 'no room' | 'broke off'): void;
}

/** Hands a body on chunk by chunk as it comes, and keeps a copy of it where there is room. */
export function collectAside(body: Readable, { ready, hasRoom, onEnd }: Aside): Readable {
  let kept: Buffer[] | null = [];
  let ended = false;
  const end = (how: Parameters<Aside['onEnd']>[0]): void => {
    if (ended) return;
    ended = true;
    onEnd(how);
  };
  const through = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (kept !== null && hasRoom(chunk.length)) kept.push(chunk);
      else kept = null;
      void ready.then(() => done(null, chunk));
    },
    flush(done) {
      end(kept === null ? 'no room' : Buffer.concat(kept));
      void ready.then(() => done());
    },
  });
  pipeline(body, through, () => end('broke off'));
  return through;
}

/**
 * Reads a body that is expected to be small: whole when it is, else as a stream that begins with what was read and goes
 * on with the rest, so that nothing is lost and nothing large is kept.
 */
export async function peekBody(
  req: IncomingMessage,
  limit: number,
): Promise<{ whole: Buffer } | { stream: Readable }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= limit) continue;
    const stream = new PassThrough();
    // The client may leave before there is a reader, or when that is done; a reader hears of it all the same.
    stream.on('error', () => undefined);
    for (const chunk of chunks) stream.write(chunk);
    req.once('error', (error) => stream.destroy(error));
    req.once('close', () => {
      if (!req.readableEnded) stream.destroy(new Error('The client went away.'));
    });
    return { stream: req.pipe(stream) };
  }
  return { whole: Buffer.concat(chunks, size) };
}
