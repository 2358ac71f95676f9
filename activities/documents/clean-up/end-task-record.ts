import type { TaskFailure, TaskState } from '../../../schemas/documents/tasks.js';
import type { Adapters } from '../../ports/adapters.js';
import { releaseQuota } from './release-quota.js';

type Stores = Pick<Adapters, 'files' | 'tasks' | 'quotas'>;

/**
 * Ends a task that did not come to its end by itself, and lets go of its file and of its place in the quota. The file
 * record decides: a task whose version is live is COMPLETED, whatever failed after that. Repeating it is harmless.
 */
export async function endTaskRecord(
  stores: Stores,
  task: { taskId: string; fileKey: string },
  state: Extract<TaskState, 'FAILED' | 'CANCELLED'>,
  failure: TaskFailure,
): Promise<void> {
  const { taskId, fileKey } = task;
  await stores.files.releasePending(fileKey, taskId);
  const file = (await stores.files.getMany([fileKey])).get(fileKey);
  if (file?.live?.task_id === taskId) await stores.tasks.finish(taskId, 'COMPLETED');
  else await stores.tasks.finish(taskId, state, failure);
  await releaseQuota(stores, task);
}
