import { z } from 'zod';
import { QueueTasks, TaskStatus } from '../../../schemas/documents/documents-api.js';
import { NAME, reading, tool } from '../tool.js';
import type { Tool } from '../tool.js';

/** Tasks, over their routes. */
export function taskTools(): Tool[] {
  return [
    tool({
      name: 'get_indexation_task_status',
      description: 'Says how far a task is that indexes a document: its state, its stage, and why it failed.',
      annotations: reading('Get the status of a task'),
      input: z.strictObject({ task_id: NAME.meta({ description: 'As index_url gives it' }) }),
      output: TaskStatus,
      run: ({ ask }, { task_id }) => ask('get /indexer/task/{task_id}', { params: { task_id } }),
    }),
    tool({
      name: 'list_my_tasks',
      description:
        'Lists your tasks, newest first; those of all users for an administrator. Of very many it says `truncated`.',
      annotations: reading('List tasks'),
      input: z.strictObject({
        task_status: NAME.nullish().meta({
          description: '`active`, or one of QUEUED, SERIALIZING, COMPLETED, FAILED, CANCELLED',
        }),
      }),
      output: QueueTasks.extend({
        truncated: z.literal(true).optional().meta({ description: 'There are more, which had no room' }),
      }),
      run: ({ ask }, { task_status }) =>
        ask('get /queue/tasks', { query: task_status == null ? {} : { task_status } }),
    }),
  ];
}
