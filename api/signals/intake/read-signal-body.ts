import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { isJsonType } from '../../../activities/outbound/foreign-answer.js';
import { decodeContent, canDecode } from '../../../activities/signals/reading/content-encoding.js';
import { AppError } from '../../../schemas/app-error.js';
import { createBodyBudget } from '../../http/body-budget.js';
import type { BodyBudget } from '../../http/body-budget.js';
import { countBody } from '../../http/count-body.js';

function tooLarge(cause?: unknown): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', 'Request body is too large', { cause });
}

/**
 * The text of a signals request. The limit holds for the bytes on the line and again for what they decode to; neither
 * is read further than that.
 * @throws AppError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE for an unknown encoding, BAD_REQUEST for one that does
 *   not decode or for a content type that holds no array, SERVICE_UNAVAILABLE when pushes take too much room
 */
export async function readSignalBody(
  ctx: Koa.Context,
  { limit, budget }: { limit: number; budget: BodyBudget },
): Promise<string> {
  const { req } = ctx;
  const { refused, unpacked } = countBody(ctx, budget);
  const plain = await Promise.race([readPlainBody(req, limit), refused]).catch((error: unknown) => {
    // The rest is dropped, so that the answer is read and the connection goes on.
    req.resume();
    throw error;
  });
  unpacked(plain.length);
  if (!isJson(req.headers['content-type']))
    throw new AppError('BAD_REQUEST', 'Invalid request body: expected array');
  return plain.toString('utf8');
}

/** Small bodies may unpack to so much in any ratio. */
const FREE_BYTES = 1024 * 1024;

/** Of pushes that are being read or worked on. */
const PUSH_BYTES = 96 * 1024 * 1024;

/** Room for pushes alone: other large bodies keep no signal out. One address may send one of any allowed size. */
export function createSignalBudget(limit: number): BodyBudget {
  return createBodyBudget(Math.max(PUSH_BYTES, 3 * limit), Math.max(PUSH_BYTES / 3, limit));
}

/**
 * A whole body with its encoding undone, at most so many bytes before and after, and after at most so many for each
 * one before.
 * @throws AppError as `readSignalBody` does
 */
export async function readPlainBody(req: IncomingMessage, limit: number, ratio = Infinity): Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (!canDecode(encoding)) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Unsupported content encoding');
  const packed = await collect(req, limit);
  return decode(packed, encoding, Math.min(limit, Math.max(FREE_BYTES, packed.length * ratio)));
}

/** Without a type it is taken for what it should be: a signal is not lost for want of a header. */
function isJson(type: string | undefined): boolean {
  return type === undefined || isJsonType(type);
}

async function collect(req: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = Number(req.headers['content-length'] ?? 0);
  if (size <= limit) {
    size = 0;
    // The request is kept when we stop early: the answer goes over the same line.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) break;
      chunks.push(chunk);
    }
  }
  if (size <= limit) return Buffer.concat(chunks, size);
  // The rest is read and dropped: a client that is still sending would not read the answer.
  req.resume();
  throw tooLarge();
}

async function decode(bytes: Buffer, encoding: string | undefined, limit: number): Promise<Buffer> {
  try {
    return await decodeContent(bytes, encoding, limit);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(error);
    throw new AppError('BAD_REQUEST', 'Request body cannot be decompressed', { cause: error });
  }
}
