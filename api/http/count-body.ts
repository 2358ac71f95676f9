import type { IncomingMessage } from 'node:http';
import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import type Koa from 'koa';
import type { BodyBudget } from './body-budget.js';
import { createBodyBudget } from './body-budget.js';
import { clientOf } from './client-address.js';

const inFlight = createBodyBudget();

/** So much of a form beside its file is free, so that ordinary uploads go on while large bodies fill the budget. */
const FREE_FORM_BYTES = 256 * 1024;

/** Who is told apart where bodies take room: a user, or the client's address. */
function callerOf(ctx: Koa.Context): string {
  const principal = ctx.state['principal'] as { userId: number } | undefined;
  return principal === undefined ? `address:${clientOf(ctx)}` : `user:${principal.userId}`;
}

/** Room that one request takes, until it is answered. */
function roomOf(ctx: Koa.Context, budget: BodyBudget) {
  const caller = callerOf(ctx);
  let taken = 0;
  let ended = false;
  ctx.res.once('close', () => {
    ended = true;
    budget.give(caller, taken);
    taken = 0;
  });
  return {
    /** Takes more or gives back. @throws AppError SERVICE_UNAVAILABLE */
    set(bytes: number): void {
      if (ended) return;
      if (bytes > taken) budget.take(caller, bytes - taken);
      else budget.give(caller, taken - bytes);
      taken = bytes;
    },
    taken: () => taken,
  };
}

function refusal() {
  let refuse: (error: Error) => void = () => undefined;
  const refused = new Promise<never>((_resolve, reject) => (refuse = reject));
  refused.catch(() => undefined);
  return { refused, refuse };
}

/**
 * Counts a body while it comes, until its request is answered. `refused` rejects with SERVICE_UNAVAILABLE when bodies
 * take too much room. Nothing is read by this: the reader of the body must begin at once.
 */
export function countBody(ctx: Koa.Context, budget: BodyBudget = inFlight) {
  const room = roomOf(ctx, budget);
  const { refused, refuse } = refusal();
  const count = (chunk: Buffer): void => {
    try {
      room.set(room.taken() + chunk.length);
    } catch (error) {
      ctx.req.off('data', count);
      refuse(error as Error);
    }
  };
  // Not `on`, which would set the stream flowing before its reader is there.
  ctx.req.prependListener('data', count);
  return {
    refused,
    /** What its reader unpacked it to takes room as well. @throws AppError SERVICE_UNAVAILABLE */
    unpacked: (bytes: number) => room.set(Math.max(bytes, room.taken())),
  };
}

/**
 * Counts what a multipart form holds in memory: what has come, without what has left with the file, until the parser
 * refuses it. The handler is multer's option; a form that takes too much room is ended, and its file with it.
 * @param takeFile told of the bytes that leave with the file; may throw SERVICE_UNAVAILABLE
 */
export function countForm(ctx: Koa.Context, takeFile: (bytes: number) => void = () => undefined) {
  const room = roomOf(ctx, inFlight);
  const { refused, refuse } = refusal();
  const streamHandler = (req: IncomingMessage, parser: Writable): void => {
    let held = 0;
    const hold = (bytes: number, ofFile = 0): void => {
      held += bytes - ofFile;
      try {
        room.set(Math.max(0, held - FREE_FORM_BYTES));
        if (ofFile > 0) takeFile(ofFile);
      } catch (error) {
        req.off('data', came);
        req.unpipe(parser);
        refuse(error as Error);
        parser.destroy(error as Error);
      }
    };
    const came = (chunk: Buffer): void => hold(chunk.length);
    const dropRest = (): void => void req.off('data', came);
    req.prependListener('data', came);
    (parser as EventEmitter).prependListener('file', (_name: string, file: EventEmitter) => {
      file.prependListener('data', (chunk: Buffer) => hold(0, chunk.length));
      file.once('limit', dropRest);
    });
    // multer reads the rest of a form that it refuses, and keeps nothing of it.
    parser.once('unpipe', dropRest);
    req.pipe(parser);
  };
  return { refused, streamHandler };
}
