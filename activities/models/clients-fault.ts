import { AppError } from '../../schemas/app-error.js';
import type { LanguageModel } from '../ports/models.js';
import { ProviderFailure } from './servers/provider-failure.js';

/** `model` with another error in place of what its calls throw. */
export function withErrors(model: LanguageModel, asError: (error: unknown) => unknown): LanguageModel {
  return {
    ...model,
    async *stream(messages, options) {
      try {
        yield* model.stream(messages, options);
      } catch (error) {
        throw asError(error);
      }
    },
    complete: (messages, options) =>
      model.complete(messages, options).catch((error: unknown) => {
        throw asError(error);
      }),
  };
}

/** What a server says of the content of a request, and not of who asks, or when: in its answer, or by a status. */
function isAboutContent({ kind, status }: ProviderFailure): boolean {
  return kind === 'refused' && (status === undefined || status === 400 || status === 422 || status >= 500);
}

/**
 * The error of a call whose fields are the client's: what the server refuses of them is a bad request, which clients
 * do not send again as they do a 503.
 *
 * @param chosen the client names the model or the server, too: one that is not there is its own mistake
 */
export function asClientsFault(error: unknown, { chosen = false } = {}): unknown {
  if (!(error instanceof AppError) || !(error.cause instanceof ProviderFailure)) return error;
  const isTheirs = isAboutContent(error.cause) || (chosen && error.cause.kind === 'unknown-model');
  return isTheirs ? new AppError('BAD_REQUEST', error.message, { plain: true, cause: error }) : error;
}
