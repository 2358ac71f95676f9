import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { QuotaStore } from '../../../activities/ports/users.js';
import { collect, times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

/** What every quota store promises: never more reservations than there is room for. Users 1 to 20 exist. */
export function quotaStoreContract(subject: Subject<QuotaStore>): void {
  describe(`quota store (${subject.name})`, () => {
    const store = useSubject(subject);
    const reserve = (userId: number, room: number, taskId = randomUUID(), turn = 0) =>
      store().reserve({ userId, taskId, room, turn });

    test('of 50 at once, as many are reserved as there is room', async () => {
      const answers = await Promise.all(times(50, () => reserve(1, 10)));
      expect(answers.filter((answer) => answer === 'reserved')).toHaveLength(10);
      expect(answers.filter((answer) => answer === 'full')).toHaveLength(40);
      expect((await store().pending(1)).taskIds).toHaveLength(10);
    });

    test('reserving twice takes one place', async () => {
      const taskId = randomUUID();
      expect(await reserve(2, 1, taskId)).toBe('reserved');
      expect(await reserve(2, 1, taskId)).toBe('reserved');
      expect((await store().pending(2)).taskIds).toEqual([taskId]);
    });

    test('without room nothing is reserved', async () => {
      expect(await reserve(3, 0)).toBe('full');
      expect(await reserve(3, -5)).toBe('full');
      expect(await store().pending(3)).toEqual({ taskIds: [], turn: 0 });
    });

    test('a release makes room, once, and what was counted before it is out of date', async () => {
      const [kept, gone] = [randomUUID(), randomUUID()];
      await reserve(4, 2, kept);
      await reserve(4, 2, gone);
      await store().release([gone]);
      await store().release([gone]);
      const { taskIds, turn } = await store().pending(4);
      expect([taskIds, turn]).toEqual([[kept], 1]);
      expect(await reserve(4, 2, randomUUID(), 0)).toBe('changed');
      expect(await reserve(4, 2, randomUUID(), turn)).toBe('reserved');
      expect(await reserve(4, 2, randomUUID(), turn)).toBe('full');
    });

    test('many releases at once leave nothing behind', async () => {
      const taskIds = times(20, () => randomUUID());
      for (const taskId of taskIds) await reserve(5, 20, taskId);
      await Promise.all(taskIds.map((taskId) => store().release([taskId])));
      expect((await store().pending(5)).taskIds).toEqual([]);
    });

    test('an heir takes the place; of a task on no list nothing is inherited', async () => {
      const [old, heir] = [randomUUID(), randomUUID()];
      await reserve(6, 1, old);
      await store().inherit(old, heir);
      await store().inherit(old, randomUUID());
      expect((await store().pending(6)).taskIds).toEqual([heir]);
      await store().release([old]);
      expect((await store().pending(6)).taskIds).toEqual([heir]);
    });

    test('scans the lists that hold something', async () => {
      const taskId = randomUUID();
      await reserve(7, 1, taskId);
      await reserve(8, 1, taskId);
      const own = (await collect(store().scan())).filter(({ taskIds }) => taskIds.includes(taskId));
      expect(own.map(({ userId }) => userId).sort()).toEqual([7, 8]);
      await store().release([taskId]);
      expect((await collect(store().scan())).flatMap(({ taskIds }) => taskIds)).not.toContain(taskId);
    });
  });
}
