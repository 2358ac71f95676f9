import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, gzip } from 'node:zlib';
import type { ZlibOptions } from 'node:zlib';

type Decode = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const decodeZlib: Decode = promisify<Buffer, ZlibOptions, Buffer>(inflate);
const decodeRaw: Decode = promisify<Buffer, ZlibOptions, Buffer>(inflateRaw);
const decodeGzip: Decode = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

/** RFC 9110 means the zlib form by `deflate`; some clients send the bare one. The first four bits tell (RFC 1950). */
const decodeDeflate: Decode = (bytes, options) =>
  ((bytes[0] ?? 0) & 0x0f) === 8 ? decodeZlib(bytes, options) : decodeRaw(bytes, options);

const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: decodeGzip,
  'x-gzip': decodeGzip,
  deflate: decodeDeflate,
  br: (bytes, options) => promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)(bytes, options),
};

/** Whether bodies in this `content-encoding` can be read here. */
export function canDecode(encoding: string | undefined): boolean {
  const name = (encoding ?? '').trim().toLowerCase();
  return name === '' || name === 'identity' || Object.hasOwn(DECODERS, name);
}

/**
 * The bytes behind a `content-encoding`, at most so many.
 * @throws Error with the code ERR_BUFFER_TOO_LARGE beyond the limit, another one when they cannot be decoded
 */
export async function decodeContent(
  bytes: Buffer,
  encoding: string | undefined,
  limit: number,
): Promise<Buffer> {
  const name = (encoding ?? '').trim().toLowerCase();
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (decode !== undefined && bytes.length > 0) return decode(bytes, { maxOutputLength: limit });
  if (bytes.length > limit)
    throw Object.assign(new Error('The body is too large.'), { code: 'ERR_BUFFER_TOO_LARGE' });
  return bytes;
}

/** Larger bodies are compressed, as a LAPI of 1.7 does it (wire contract, 6.1). */
export const GZIP_ABOVE = 5 * 1024;

export const zipped = promisify<Buffer, Buffer>(gzip);
