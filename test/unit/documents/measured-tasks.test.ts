import { expect, it } from '@jest/globals';
import { measuredTasks } from '../../../activities/documents/measured-tasks.js';
import { sampleTask } from '../../contracts/samples.js';
import { createFakeTaskStore } from '../../support/fakes/documents/fake-task-store.js';

it('counts how long a task waited once, however often it is begun', async () => {
  const waits: number[] = [];
  const tasks = measuredTasks(createFakeTaskStore(), {
    queueWaited: (seconds) => waits.push(seconds),
    documentEnded: () => undefined,
  });
  const task = sampleTask({ created_at: new Date(Date.now() - 5000) });
  await tasks.insert(task);
  // In the task of its plan, again after a crash, and as a step of its own: each is the first by its own count.
  for (let time = 0; time < 3; time += 1) await tasks.begin(task.task_id, { stage: 'parse', attempt: 1 });
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThanOrEqual(5);
});
