import type { TaskFailure, TaskState } from '../../../schemas/documents/tasks.js';
import type { Adapters } from '../../ports/adapters.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import { releaseQuota } from './release-quota.js';
import { fileOf } from '../commands/file-of.js';
import { taskFailure } from '../../../schemas/documents/tasks.js';

type Stores = Pick<Adapters, 'files' | 'tasks' | 'quotas' | 'claims'>;

/** The file was uploaded anew: what failed since may be no more than that the data of this task were removed. */
function isOvertaken(file: FileRecord | undefined, generation: number): boolean {
  return file !== undefined && file.deleted_at === null && file.latest_generation > generation;
}

/**
 * Ends a task that did not come to its end by itself, and lets go of its file, of its place in the quota and of its
 * bytes, all before it reads so: clients upload again as soon as they see it. The file record decides: a task whose
 * version is live is COMPLETED, whatever failed after that, and one that a newer upload of the file has overtaken is
 * CANCELLED. Repeating it is harmless.
 */
export async function endTaskRecord(
  stores: Stores,
  task: { taskId: string; fileKey: string; generation: number },
  state: Extract<TaskState, 'FAILED' | 'CANCELLED'>,
  failure: TaskFailure,
): Promise<void> {
  const { taskId, fileKey } = task;
  await stores.files.releasePending(fileKey, taskId);
  const file = await fileOf(stores.files, fileKey);
  const isLive = file?.live?.task_id === taskId;
  if (!isLive) await stores.claims.release([taskId]);
  await releaseQuota(stores, task);
  if (isLive) await stores.tasks.finish(taskId, 'COMPLETED');
  else if (isOvertaken(file, task.generation))
    await stores.tasks.finish(taskId, 'CANCELLED', taskFailure('SUPERSEDED'));
  else await stores.tasks.finish(taskId, state, failure);
}
