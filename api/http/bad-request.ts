import { AppError } from '../../schemas/app-error.js';

/** A value that cannot be taken: 400 with the bare text, as the wire contract has it for guards in a route. */
export const badRequest = (text: string): AppError => new AppError('BAD_REQUEST', text, { plain: true });
