import { proxyActivities } from '@temporalio/workflow';
import type { CopyActivities } from '../../activities/documents/copy-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk } from '../activity-profiles.js';
import { driveTask, enter } from './drive-task.js';
import { notifyDispatcher } from './notify-dispatcher.js';
import type { TaskInput, TaskStatusView } from './drive-task.js';

/** A live version becomes another file's first one: copy chunks, vectors and bytes → publish. Nothing is parsed. */
export async function copyDocument(input: TaskInput): Promise<TaskStatusView> {
  const { copyVersion } = proxyActivities<CopyActivities>({
    ...bulk,
    taskQueue: taskQueues(input.prefix).documents,
  });
  return driveTask(input, async (ref, view) => {
    enter(view, 'store');
    const { chunkCount, attached } = await copyVersion(ref);
    // Absent in histories of before attachments were copied along.
    if (attached === true) await notifyDispatcher(input);
    return { chunks: chunkCount };
  });
}
