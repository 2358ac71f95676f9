import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { CallbackStore } from '../../../activities/ports/tasks.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

/** What every callback store promises: what became of a delivery is told once, and stays. */
export function callbackStoreContract(subject: Subject<CallbackStore>): void {
  describe(`callback store (${subject.name})`, () => {
    const store = useSubject(subject);
    const soon = () => new Date(Date.now() + 60_000);
    const insert = async (token: string | null = null) => {
      const taskId = randomUUID();
      await store().insert({ taskId, url: 'https://example.org/', token });
      return taskId;
    };
    const untried = async (before = soon()) =>
      (await store().listUntried(before, 1000)).map(({ task_id }) => task_id);

    test('answers what was put down, with its token', async () => {
      const taskId = await insert('s3cret');
      expect(await store().get(taskId)).toMatchObject({
        task_id: taskId,
        url: 'https://example.org/',
        token: 's3cret',
        state: 'waiting',
        attempts: 0,
        last_status: null,
        last_error: null,
      });
      await store().remove(taskId);
      expect(await store().get(taskId)).toBeNull();
    });

    test('counts attempts, keeps the last result, and ends once', async () => {
      const taskId = await insert();
      expect(await untried()).toContain(taskId);
      expect(await untried(new Date(Date.now() - 60_000))).not.toContain(taskId);
      await store().noteAttempt(taskId, { status: 500, error: 'failed' });
      expect(await untried()).not.toContain(taskId);
      await store().noteAttempt(taskId, { status: 204, error: null });
      await store().end(taskId, 'delivered');
      await store().end(taskId, 'failed');
      expect(await store().get(taskId)).toMatchObject({
        state: 'delivered',
        attempts: 2,
        last_status: 204,
        last_error: null,
      });
    });

    test('lists what was tried, still waits, and was not tried for a while', async () => {
      const [fresh, tried, ended] = [await insert(), await insert('s3cret'), await insert()];
      for (const taskId of [tried, ended])
        await store().noteAttempt(taskId, { status: 500, error: 'failed' });
      await store().end(ended, 'failed');
      const stalled = async (before: Date) =>
        (await store().listStalled(before, 1000)).map(({ task_id }) => task_id);
      const listed = await stalled(soon());
      expect(listed).toContain(tried);
      for (const taskId of [fresh, ended]) expect(listed).not.toContain(taskId);
      expect(await stalled(new Date(Date.now() - 60_000))).not.toContain(tried);
      expect(await store().listStalled(soon(), 1)).toHaveLength(1);
      const found = (await store().listStalled(soon(), 1000)).find(({ task_id }) => task_id === tried);
      expect(found).toMatchObject({ attempts: 1, token: null });
    });

    test('removes what has ended and is old, never what waits', async () => {
      const [waiting, ended] = [await insert(), await insert()];
      await store().end(ended, 'withdrawn');
      await store().removeEnded(new Date(Date.now() - 60_000));
      expect(await store().get(ended)).not.toBeNull();
      expect(await store().countEnded(new Date(Date.now() - 60_000), 10)).toBe(0);
      expect(await store().countEnded(soon(), 1)).toBe(1);
      await store().removeEnded(soon());
      expect(await store().countEnded(soon(), 10)).toBe(0);
      expect(await store().get(ended)).toBeNull();
      expect(await store().get(waiting)).not.toBeNull();
    });
  });
}
