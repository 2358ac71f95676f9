import { expect, it } from '@jest/globals';
import { createPartitionActivities } from '../../../activities/documents/partition-activities.js';
import { sampleTask } from '../../contracts/samples.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';

it('names of a deleted file the tasks that may be at work, not those that were cleaned up after', async () => {
  const adapters = createFakeStores();
  const { deletedFiles } = createPartitionActivities({ adapters });
  const file = { fileKey: 'key', partition: 'p', partitionKey: 'k', fileId: 'a', userId: 1 };
  for (const generation of [1, 2, 3, 4]) {
    const task = sampleTask({ file_key: 'key', generation, task_id: `task-${generation}` });
    await adapters.tasks.insert(task);
    if (generation < 4) await adapters.tasks.markHandedOver(task.task_id);
    if (generation < 3) await adapters.tasks.finish(task.task_id, 'CANCELLED');
    if (generation === 1) await adapters.tasks.markCleaned('key', 1);
  }
  await adapters.files.admitFirst({ ...file, taskId: 'task-4', generation: 4 });
  await adapters.files.markPartitionDeleted('k');
  expect(await deletedFiles('k')).toEqual([{ fileKey: 'key', running: [2, 3] }]);
});
