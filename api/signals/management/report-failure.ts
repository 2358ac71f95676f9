import { AppError } from '../../../schemas/app-error.js';

/** Whatever fails below a management route is a 500 with the words that dashboards show (wire contract, 1.3). */
export async function reportFailure<T>(text: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new AppError('UNEXPECTED_ERROR', text, { cause: error });
  }
}
