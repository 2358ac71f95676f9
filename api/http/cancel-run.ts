import { AppError } from '../../schemas/app-error.js';
import type { ErrorCode } from '../../schemas/error-table.js';

/**
 * Cancels what a workflow is at work on. Where it is gone, since it was ended in Temporal, its record would stay open
 * for good, and keep others from beginning: that is ended here.
 *
 * @param run.open the records that are open; looked for first, since what begins once Temporal has answered is another
 * @throws AppError `notRunning` where none is
 */
export async function cancelRun<Run>(run: {
  open(): Promise<Run[]>;
  cancel(): Promise<void>;
  notRunning: ErrorCode;
  end(runs: readonly Run[]): Promise<void>;
}): Promise<void> {
  const open = await run.open();
  try {
    await run.cancel();
  } catch (error) {
    if (open.length === 0 || AppError.from(error).code !== run.notRunning) throw error;
    await run.end(open);
  }
}
