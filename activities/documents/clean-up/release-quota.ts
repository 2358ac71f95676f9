import type { Adapters } from '../../ports/adapters.js';
import { fileOf } from '../commands/file-of.js';

/**
 * A task that has ended leaves its user's quota list: the file is counted by itself once it is live, and a place that
 * is not used any more is free. While the file is still to become live the place goes to the task that superseded
 * this one. Repeating it, and running it for a task that holds nothing, is harmless.
 */
export async function releaseQuota(
  { files, quotas }: Pick<Adapters, 'files' | 'quotas'>,
  task: { taskId: string; fileKey: string },
): Promise<void> {
  const heirNow = async (): Promise<string | null> => {
    const file = await fileOf(files, task.fileKey);
    return file !== undefined && file.deleted_at === null && file.live === null ? file.pending_task : null;
  };
  const heir = await heirNow();
  if (heir === task.taskId) return;
  if (heir === null) return quotas.release([task.taskId]);
  await quotas.inherit(task.taskId, heir);
  // It may have ended before it inherited: then only this call takes it off the list.
  if ((await heirNow()) !== heir) await releaseQuota({ files, quotas }, { ...task, taskId: heir });
}
