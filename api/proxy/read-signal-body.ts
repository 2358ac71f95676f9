import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate, inflateRaw } from 'node:zlib';
import type { ZlibOptions } from 'node:zlib';
import { AppError } from '../../schemas/app-error.js';

type Decode = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const decodeGzip: Decode = promisify<Buffer, ZlibOptions, Buffer>(gunzip);
const decodeZlib: Decode = promisify<Buffer, ZlibOptions, Buffer>(inflate);
const decodeRaw: Decode = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);

/** RFC 9110 means the zlib form by `deflate`; some clients send the bare one. The first four bits tell (RFC 1950). */
const decodeDeflate: Decode = (bytes, options) =>
  ((bytes[0] ?? 0) & 0x0f) === 8 ? decodeZlib(bytes, options) : decodeRaw(bytes, options);

const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: decodeGzip,
  'x-gzip': decodeGzip,
  deflate: decodeDeflate,
};

const tooLarge = (cause?: unknown): AppError =>
  new AppError('PAYLOAD_TOO_LARGE', 'Request body is too large', { cause });

/**
 * The text of a signals request. The limit holds for the bytes on the line and again for what they unfold to; neither
 * is read further than that.
 * @throws AppError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE for an unknown encoding, BAD_REQUEST for one that does
 *   not unfold or for a content type that holds no array
 */
export const readSignalBody = async (req: IncomingMessage, limit: number): Promise<string> => {
  const encoding = (req.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (decode === undefined && encoding !== 'identity' && encoding !== '')
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Unsupported content encoding');
  const bytes = await collect(req, limit);
  const plain = decode === undefined || bytes.length === 0 ? bytes : await unfold(decode, bytes, limit);
  if (!isJson(req.headers['content-type']))
    throw new AppError('BAD_REQUEST', 'Invalid request body: expected array');
  return plain.toString('utf8');
};

/** Without a type it is taken for what it should be: a signal is not lost for want of a header. */
const isJson = (type: string | undefined): boolean =>
  type === undefined || /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type.trim());

const collect = async (req: IncomingMessage, limit: number): Promise<Buffer> => {
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
  // Read on to nowhere, so that the client comes to hear the answer.
  req.resume();
  throw tooLarge();
};

const unfold = async (decode: Decode, bytes: Buffer, limit: number): Promise<Buffer> => {
  try {
    return await decode(bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(error);
    throw new AppError('BAD_REQUEST', 'Request body cannot be decompressed', { cause: error });
  }
};
