import { beforeEach, describe, expect, it } from '@jest/globals';
import { takeTurns } from '../../../activities/documents/take-turns.js';
import { sampleTask, times } from '../../contracts/samples.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';

let stores: ReturnType<typeof createFakeStores>;
let generation = 0;
beforeEach(() => {
  stores = createFakeStores();
});

async function add(userId: number, options: { running?: boolean; admitted?: boolean } = {}) {
  generation += 1;
  const task = sampleTask({
    user_id: userId,
    file_id: `f${generation}`,
    created_at: new Date(generation * 1000),
  });
  await stores.tasks.insert(task);
  if (options.admitted !== false)
    await stores.files.admitFirst({
      fileKey: task.file_key,
      partition: 'p',
      partitionKey: 'k',
      fileId: task.file_id,
      userId,
      taskId: task.task_id,
      generation,
    });
  if (options.running === true) await stores.tasks.markHandedOver(task.task_id);
}

async function users(perUser: number) {
  return (await takeTurns(stores, perUser)).next.map(({ user_id }) => user_id);
}

describe('takeTurns', () => {
  it('lets one file of a user pass by the thousand of another', async () => {
    for (const _ of times(1000, () => 0)) await add(1);
    await add(2);
    expect(await users(3)).toEqual([1, 2, 1, 1]);
  });

  it('counts what is at work already', async () => {
    for (const running of [true, true, false, false]) await add(1, { running });
    await add(2);
    expect(await users(3)).toEqual([1, 2]);
    expect(await users(2)).toEqual([2]);
    expect((await takeTurns(stores, 2)).waiting).toBe(3);
  });

  it('takes only what a file waits for', async () => {
    await add(1, { admitted: false });
    expect(await takeTurns(stores, 3)).toEqual({ next: [], waiting: 1 });
  });

  it('goes by age within a user, and has nothing to do when nobody waits', async () => {
    expect(await takeTurns(stores, 3)).toEqual({ next: [], waiting: 0 });
    for (const user of [1, 1, 1]) await add(user);
    const { next } = await takeTurns(stores, 2);
    expect(next.map(({ file_id }) => file_id)).toEqual([`f${generation - 2}`, `f${generation - 1}`]);
  });
});
