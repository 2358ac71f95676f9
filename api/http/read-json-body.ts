import { bodyParser } from '@koa/bodyparser';
import type Koa from 'koa';
import { AppError } from '../../schemas/app-error.js';
import { createBodyBudget } from './body-budget.js';
import { invalidRequest } from './request-issues.js';

const MAX_JSON = '8mb';

const parser = bodyParser({
  enableTypes: ['json'],
  jsonLimit: MAX_JSON,
  jsonStrict: false,
  onError(error) {
    const { status } = error as Error & { status?: number };
    if (status === 413) throw new AppError('PAYLOAD_TOO_LARGE', undefined, { plain: true, cause: error });
    throw invalidRequest([{ type: 'json_invalid', loc: ['body'], msg: 'JSON decode error', input: null }]);
  },
});

const inFlight = createBodyBudget();

/** Who is told apart where bodies take room: a user, or the address of whoever is none. */
const callerOf = (ctx: Koa.Context): string => {
  const principal = ctx.state['principal'] as { userId: number } | undefined;
  return principal === undefined ? `address:${ctx.ip}` : `user:${principal.userId}`;
};

/** Counts a body while it comes, until its request is answered. */
const countBody = (ctx: Koa.Context) => {
  const caller = callerOf(ctx);
  let taken = 0;
  const take = (bytes: number): void => {
    inFlight.take(caller, bytes);
    taken += bytes;
  };
  ctx.res.once('close', () => {
    inFlight.give(caller, taken);
    taken = 0;
  });
  const refused = new Promise<never>((_resolve, reject) => {
    let stopped = false;
    ctx.req.on('data', (chunk: Buffer) => {
      if (stopped) return;
      try {
        take(chunk.length);
      } catch (error) {
        stopped = true;
        reject(error as Error);
      }
    });
  });
  refused.catch(() => undefined);
  return {
    refused,
    /** What it unpacked to takes room as well. */
    unpacked: (bytes: number) => take(Math.max(0, bytes - taken)),
  };
};

const done = async (): Promise<void> => {};

/**
 * The JSON body of a request. A body without a JSON content type is an invalid request: it must not be read as
 * something that its sender did not mean.
 * @throws AppError VALIDATION_ERROR (422), PAYLOAD_TOO_LARGE; SERVICE_UNAVAILABLE when bodies take too much room
 */
export const readJsonBody = async (ctx: Koa.Context): Promise<unknown> => {
  if (!ctx.request.is('json', '+json'))
    throw invalidRequest([
      { type: 'content_type', loc: ['body'], msg: 'The body must be sent as application/json', input: null },
    ]);
  const { refused, unpacked } = countBody(ctx);
  await Promise.race([parser(ctx as never, done), refused]);
  const { body, rawBody } = ctx.request as Koa.Request & { body?: unknown; rawBody?: string };
  unpacked(rawBody?.length ?? 0);
  return body;
};
