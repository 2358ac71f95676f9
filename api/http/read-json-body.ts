import { bodyParser } from '@koa/bodyparser';
import type Koa from 'koa';
import { AppError } from '../../schemas/app-error.js';
import { countBody } from './count-body.js';
import { invalidRequest } from '../../schemas/request-issues.js';

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

async function done(): Promise<void> {}

/**
 * The JSON body of a request. A body without a JSON content type is an invalid request: it must not be read as
 * something that its sender did not mean.
 * @throws AppError VALIDATION_ERROR (422), PAYLOAD_TOO_LARGE; SERVICE_UNAVAILABLE when bodies take too much room
 */
export async function readJsonBody(ctx: Koa.Context): Promise<unknown> {
  if (!ctx.request.is('json', '+json'))
    throw invalidRequest([
      { type: 'content_type', loc: ['body'], msg: 'The body must be sent as application/json', input: null },
    ]);
  const { refused, unpacked } = countBody(ctx);
  await Promise.race([parser(ctx as never, done), refused]);
  const { body, rawBody } = ctx.request as Koa.Request & { body?: unknown; rawBody?: string };
  unpacked(rawBody?.length ?? 0);
  return body;
}
