import { describe, expect, it } from '@jest/globals';
import { withRecentCounts } from '../../../../activities/documents/recent-counts.js';
import { sampleTask } from '../../../contracts/samples.js';
import { createFakeStores } from '../../../support/fakes/create-fake-stores.js';

function counted() {
  const { tasks } = createFakeStores();
  let time = 0;
  let counts = 0;
  const store = withRecentCounts(
    {
      ...tasks,
      countActive(userId, most) {
        counts += 1;
        return tasks.countActive(userId, most);
      },
    },
    () => time,
  );
  return {
    store,
    asked: () => counts,
    pass: (ms: number) => void (time += ms),
    admit: (id: string, user_id = 1) => store.insert(sampleTask({ task_id: id, user_id })),
  };
}

describe('recent counts of active tasks', () => {
  it('are asked of the store once in a second, and hold what was admitted since', async () => {
    const { store, asked, admit, pass } = counted();
    expect(await store.countActive(1, 10)).toBe(0);
    await admit('a');
    await admit('b', 2);
    expect(await store.countActive(1, 10)).toBe(1);
    expect(asked()).toBe(1);
    expect(await store.countActive(null, 10)).toBe(2);
    pass(1001);
    expect(await store.countActive(1, 10)).toBe(1);
    expect(asked()).toBe(3);
  });

  it('are not relied on from half of the bound on', async () => {
    const { store, asked, admit } = counted();
    await store.countActive(1, 4);
    await admit('a');
    await admit('b');
    await store.finish('a', 'CANCELLED');
    expect(await store.countActive(1, 4)).toBe(1);
    expect(asked()).toBe(2);
  });

  it('that were stopped at the bound are not taken for the whole', async () => {
    const { store, admit } = counted();
    for (const id of ['a', 'b', 'c']) await admit(id);
    expect(await store.countActive(1, 1)).toBe(1);
    expect(await store.countActive(1, 100)).toBe(3);
  });
});
