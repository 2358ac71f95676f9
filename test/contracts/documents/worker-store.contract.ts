import { describe, expect, test } from '@jest/globals';
import type { WorkerStore } from '../../../activities/ports/tasks.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

/** What every worker store promises: the last report counts, and a wish is heard by all. */
export function workerStoreContract(subject: Subject<WorkerStore>): void {
  describe(`worker store (${subject.name})`, () => {
    const store = useSubject(subject);
    const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
    const record = (worker_id: string, seen: number, renewed = {}) => ({
      worker_id,
      slots: 2,
      started_at: at(0),
      seen_at: at(seen),
      renewed,
    });

    test('lists who reported since, as last reported, until it withdraws', async () => {
      await store().report(record('a', 1));
      await store().report(record('b', 5));
      await store().report(record('a', 6, { MarkerPool: at(3) }));
      const listed = await store().list(at(5));
      expect(listed.sort((one, two) => (one.worker_id < two.worker_id ? -1 : 1))).toEqual([
        record('a', 6, { MarkerPool: at(3) }),
        record('b', 5),
      ]);
      await store().withdraw('a');
      await store().withdraw('a');
      expect((await store().list(at(0))).map(({ worker_id }) => worker_id)).toEqual(['b']);
    });

    test('keeps the last wish for each pool', async () => {
      expect(await store().restarts()).toEqual(new Map());
      await store().requestRestart('MarkerPool');
      const first = (await store().restarts()).get('MarkerPool')!;
      await store().requestRestart('llmSemaphore');
      await store().requestRestart('MarkerPool');
      const requested = await store().restarts();
      expect([...requested.keys()].sort()).toEqual(['MarkerPool', 'llmSemaphore']);
      expect(requested.get('MarkerPool')!.getTime()).toBeGreaterThanOrEqual(first.getTime());
    });
  });
}
