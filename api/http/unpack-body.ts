import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type Koa from 'koa';

const UNPACKERS = new Map([
  ['gzip', createUnzip],
  ['deflate', createUnzip],
  ['br', createBrotliDecompress],
]);

/**
 * The context for a parser of bodies, with the body unpacked: what it holds is counted as it comes. A parser that
 * unpacks by itself holds some thousand times what has come before anything can be said of it.
 */
export function unpackBody(ctx: Koa.Context): Koa.Context {
  const unpacker = UNPACKERS.get(ctx.get('Content-Encoding').toLowerCase());
  if (unpacker === undefined) return ctx;
  const { 'content-encoding': _packed, 'content-length': _length, ...headers } = ctx.req.headers;
  const unpacked = unpacker();
  // A reader that has refused the body hears it no more, and what comes behind may be torn.
  unpacked.on('error', () => undefined);
  ctx.res.once('close', () => unpacked.destroy());
  const req = Object.assign(ctx.req.pipe(unpacked), { headers });
  return Object.create(ctx, { req: { value: req } }) as Koa.Context;
}
