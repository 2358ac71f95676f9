import { AppError } from '../app-error.js';

/** The refusal of a name of a model endpoint that no record has. */
export function notRegistered(type: string, name: string): AppError {
  return new AppError(
    'MODEL_ENDPOINT_NOT_FOUND',
    `The model endpoint '${name}' (${type}) is not registered.`,
  );
}
