import type { Middleware } from 'koa';
import type { AppError } from '../../../schemas/app-error.js';
import { errorFrom } from '../error-from.js';
import type { Logger } from '../../logger.js';
import { losslessBody } from '../json.js';
import { surfaceOf } from '../surfaces.js';

/** Who is it, may they, how often: the reason of these stands in the line of the request. */
const REFUSALS = new Set([401, 403, 429]);

/** Too much at once: nothing of ours failed, and lines with stacks cost most when there is most to refuse. */
function isToComeAgain({ code, cause, retryAfterMs }: AppError): boolean {
  return code === 'SERVICE_UNAVAILABLE' && cause === undefined && retryAfterMs !== undefined;
}

/** Any throw becomes an answer in the dialect of its path. What is our fault is logged with its cause, once. */
export const errorMapping: Middleware = async (ctx, next) => {
  try {
    await next();
  } catch (thrown) {
    const error = errorFrom(thrown);
    const log = ctx.state['log'] as Logger;
    if (ctx.res.destroyed) log.debug({ code: error.code }, 'the client left');
    else if (error.status >= 500 && !isToComeAgain(error))
      log.error({ err: error, code: error.code }, 'request failed');
    else log.debug({ code: error.code, detail: error.message }, 'request refused');
    const rendered = surfaceOf(ctx.path).renderError(error, ctx.state['requestId'] as string);
    if (REFUSALS.has(rendered.status) || isToComeAgain(error)) ctx.state['refusal'] = error.message;
    ctx.status = rendered.status;
    ctx.set(rendered.headers);
    ctx.type = 'application/json';
    ctx.body = losslessBody(rendered.body);
  }
};
