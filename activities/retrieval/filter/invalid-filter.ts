import { AppError } from '../../../schemas/app-error.js';

/** At most so much of what was found is quoted. */
const QUOTED_CHARACTERS = 40;

/**
 * A filter that cannot be used, and where it goes wrong.
 * @param position of the character at fault, from 1
 */
export const invalidFilter = (position: number, expected: string, found: string): AppError =>
  new AppError(
    'INVALID_FILTER',
    `The filter is not valid at character ${position}: expected ${expected}, found ${found.slice(0, QUOTED_CHARACTERS)}`,
    { details: { position, expected } },
  );
