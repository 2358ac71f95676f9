import type { components } from '../../../api/schema.gen';

type Task = Pick<components['schemas']['QueueTask'], 'state'>;

/** So many the server lists at most, the newest ones. */
export const LISTED_AT_MOST = { active: 2_000, ended: 500 } as const;

/** Whether there may be more tasks than a list has. */
export function isCut(tasks: readonly Task[]): boolean {
  const active = tasks.filter(({ state }) => state === 'QUEUED' || state === 'SERIALIZING').length;
  return active >= LISTED_AT_MOST.active || tasks.length - active >= LISTED_AT_MOST.ended;
}
