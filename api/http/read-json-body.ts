import { bodyParser } from '@koa/bodyparser';
import type Koa from 'koa';
import { AppError } from '../../schemas/app-error.js';
import { countBody } from './count-body.js';
import { unpackBody } from './unpack-body.js';
import { invalidRequest } from '../../schemas/request-issues.js';

const MAX_JSON = '8mb';

/** As the parser takes it; of other types it would make an empty object. */
function isJson({ request }: Koa.Context): boolean {
  return Boolean(request.is('json', '+json'));
}

const parser = bodyParser({
  enableTypes: ['json'],
  detectJSON: isJson,
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
  if (!isJson(ctx))
    throw invalidRequest([
      { type: 'content_type', loc: ['body'], msg: 'The body must be sent as application/json', input: null },
    ]);
  const unpacked = unpackBody(ctx);
  const { refused } = countBody(unpacked);
  await Promise.race([parser(unpacked as never, done), refused]);
  return (ctx.request as Koa.Request & { body?: unknown }).body;
}
