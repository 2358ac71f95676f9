import type { Adapters } from '../../../activities/ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';

/** Work ends one by one, so there is room again soon; a client that comes back sooner only adds to the load. */
const RETRY_AFTER_MS = 10_000;

export interface QueueBounds {
  maxQueuedTasks: number;
  maxQueuedTasksPerUser: number;
}

/**
 * Whether one more task may be queued. Asked before the bytes have come; so many uploads as run at once may pass the
 * bounds, which keep memory and waiting times within limits and are no promise of a number.
 * @throws AppError RATE_LIMITED (429) with a time to wait
 */
export async function requireRoom(
  { tasks, ...bounds }: Pick<Adapters, 'tasks'> & QueueBounds,
  userId: number,
): Promise<void> {
  const [own, all] = await Promise.all([
    tasks.countActive(userId, bounds.maxQueuedTasksPerUser),
    tasks.countActive(null, bounds.maxQueuedTasks),
  ]);
  if (own >= bounds.maxQueuedTasksPerUser || all >= bounds.maxQueuedTasks)
    throw new AppError('RATE_LIMITED', undefined, { retryAfterMs: RETRY_AFTER_MS });
}
