import { PassThrough } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/**
 * Reads a body that is expected to be small: whole when it is, else as a stream that begins with what was read and goes on
 * with the rest, so that nothing is lost and nothing large is kept.
 */
export const peekBody = async (
  req: IncomingMessage,
  limit: number,
): Promise<{ whole: Buffer } | { stream: Readable }> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= limit) continue;
    const stream = new PassThrough();
    for (const piece of chunks) stream.write(piece);
    req.once('error', (error) => stream.destroy(error));
    req.once('close', () => {
      if (!req.readableEnded) stream.destroy(new Error('The client went away.'));
    });
    return { stream: req.pipe(stream) };
  }
  return { whole: Buffer.concat(chunks, size) };
};
