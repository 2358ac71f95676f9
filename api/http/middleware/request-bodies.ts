import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type Koa from 'koa';
import type { Middleware } from 'koa';
import { AppError } from '../../../schemas/app-error.js';

export interface BodyPace {
  /** A window in which at least so many bytes must come, or the end of the body. */
  windowMs: number;
  leastBytes: number;
  /** Bytes of an unread body that are dropped before the connection is closed. */
  drainBytes: number;
  drainMs: number;
  /** An answer of which the client takes nothing for so long is broken off. */
  unreadMs: number;
  /** Bytes that it must take in a millisecond of a large part of one: of a part that is on its way nothing is told. */
  leastTaken: number;
}

const BODY_PACE: BodyPace = {
  windowMs: 30_000,
  leastBytes: 4 * 1024,
  drainBytes: 16 * 1024 * 1024,
  drainMs: 10_000,
  unreadMs: 60_000,
  leastTaken: 20,
};

/**
 * Whether a body waits for its reader, not for its client. An asynchronous iterator never sets the stream flowing: it
 * listens for `readable` for as long as it wants more.
 */
function waitsForReader(req: IncomingMessage): boolean {
  if (req.readableLength > 0) return true;
  return req.readableFlowing !== true && req.listenerCount('readable') === 0;
}

/** Rejects when the client sends too slowly. While we do not read, because a store is slow, no time passes for it. */
function watchPace({ req }: Koa.Context, { windowMs, leastBytes }: BodyPace) {
  let stop = (): void => {};
  const stalled = new Promise<never>((_resolve, reject) => {
    let seen = req.socket.bytesRead;
    const timer = setInterval(() => {
      if (req.complete) return clearInterval(timer);
      const come = req.socket.bytesRead - seen;
      seen = req.socket.bytesRead;
      if (waitsForReader(req) || come >= leastBytes) return;
      clearInterval(timer);
      reject(new AppError('REQUEST_TIMEOUT', undefined, { plain: true }));
    }, windowMs);
    timer.unref();
    stop = () => clearInterval(timer);
  });
  stalled.catch(() => undefined);
  return { stalled, stop: () => stop() };
}

/**
 * After an answer that came before the end of the body: what is left is dropped, so that the connection can be used
 * again; a client that goes on sending is cut off.
 */
function endBody({ req, socket }: Koa.Context, { drainBytes, drainMs }: BodyPace): void {
  if (req.complete || req.destroyed) return;
  const close = (): void => void socket.destroy();
  const timer = setTimeout(close, drainMs).unref();
  const from = socket.bytesRead;
  req.unpipe();
  req.removeAllListeners('data');
  req.removeAllListeners('readable');
  req.on('data', () => {
    if (socket.bytesRead - from > drainBytes) close();
  });
  req.once('close', () => clearTimeout(timer));
  req.once('end', () => clearTimeout(timer));
  req.on('error', () => undefined);
  req.resume();
}

const watched = new WeakSet<Socket>();

/**
 * What waits for a client that reads nothing would stay in memory for as long as the client likes. Node's own timeout
 * of a connection begins anew with every byte that the client sends.
 */
function watchAnswers(socket: Socket, { unreadMs, leastTaken }: BodyPace): void {
  if (watched.has(socket)) return;
  watched.add(socket);
  let taken = -1;
  let since = Date.now();
  const timer = setInterval(() => {
    const waiting = socket.writableLength;
    const now = socket.bytesWritten - waiting;
    if (waiting === 0 || now !== taken) {
      taken = now;
      since = Date.now();
    } else if (Date.now() - since >= unreadMs + waiting / leastTaken) socket.destroy();
  }, unreadMs / 2);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}

/**
 * No body stays unfinished on a connection: one that stalls is answered 408, the rest of any other is dropped, and an
 * answer that is not read is broken off.
 */
export function requestBodies(pace: BodyPace = BODY_PACE): Middleware {
  return async (ctx, next) => {
    watchAnswers(ctx.socket, pace);
    const hasBody =
      ctx.req.headers['transfer-encoding'] !== undefined || Number(ctx.get('Content-Length')) > 0;
    if (!hasBody) return next() as Promise<unknown>;
    ctx.res.once('finish', () => endBody(ctx, pace));
    const { stalled, stop } = watchPace(ctx, pace);
    const served = next();
    served.catch(() => undefined);
    try {
      await Promise.race([served, stalled]);
    } catch (error) {
      // What reads the body learns of the end by the connection.
      if (error instanceof AppError && error.code === 'REQUEST_TIMEOUT') {
        ctx.set('Connection', 'close');
        ctx.res.once('finish', () => ctx.req.destroy());
      }
      throw error;
    } finally {
      stop();
    }
  };
}
