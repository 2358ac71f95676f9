import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { MetricsStore } from '../../../activities/ports/held-metrics.js';
import { createMongoMetricsStore } from '../../../activities/stores/mongo/signals/metrics-store.js';
import { createFakeMetricsStore } from '../../support/fakes/signals/fake-metrics-store.js';
import { times } from '../samples.js';
import { fake, mongo, useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

function at(seconds: number): Date {
  return new Date(Date.UTC(2026, 2, 1, 12, 0, seconds));
}

function item(text: string, part = false) {
  return {
    path: 'v3/usage-metrics' as const,
    bytes: Buffer.from(text),
    part,
  };
}

/** What every store of held metrics promises: the oldest first, none twice, none lost without a word. */
function metricsStoreContract(subject: Subject<MetricsStore>): void {
  describe(`metrics store (${subject.name})`, () => {
    const store = useSubject(subject);
    const drain = async (watcher: string): Promise<string[]> => {
      const texts: string[] = [];
      for (let next = await store().next(watcher); next !== null; next = await store().next(watcher)) {
        texts.push(String((await store().read(next.id))?.bytes));
        await store().remove(next.id);
      }
      return texts;
    };

    test('what is held comes out in order, and the same body is kept once', async () => {
      const watcher = `w-${randomUUID()}`;
      expect(await store().next(watcher)).toBeNull();
      await store().hold(watcher, [item('late')], at(9));
      await store().hold(watcher, [item('1', true), item('2', true), item('3', true)], at(1));
      expect(await store().hold(watcher, [item('late'), item('1', true)], at(20))).toEqual([]);
      expect((await store().next(watcher))?.part).toBe(true);
      expect(await drain(watcher)).toEqual(['1', '2', '3', 'late']);
      expect(await store().read('unknown')).toBeNull();
    });

    test('what was not there before can be taken back', async () => {
      const watcher = `w-${randomUUID()}`;
      await store().hold(watcher, [item('before')], at(1));
      const kept = await store().hold(watcher, [item('before'), item('1', true), item('2', true)], at(2));
      expect(kept).toHaveLength(2);
      for (const id of kept) await store().remove(id);
      expect(await drain(watcher)).toEqual(['before']);
    });

    test('what is refused is stepped over and counted', async () => {
      const watcher = `w-${randomUUID()}`;
      await store().hold(watcher, [item('bad'), item('good')], at(1));
      const { id } = (await store().next(watcher))!;
      await store().refuse(id, 'CAPI answered 400');
      expect(await store().read(id)).toBeNull();
      expect((await store().queues()).find((queue) => queue.watcher === watcher)).toEqual({
        watcher,
        held: 1,
        oldest: at(1),
        refused: 1,
      });
      expect(await drain(watcher)).toEqual(['good']);
    });

    test('what CAPI refused is held anew where the same comes again', async () => {
      const watcher = `w-${randomUUID()}`;
      const [id] = (await store().hold(watcher, [item('same')], at(1))) as string[];
      await store().refuse(id!, 'CAPI answered 404');
      expect(await store().hold(watcher, [item('other'), item('same')], at(2))).toHaveLength(2);
      expect((await store().queues()).find((queue) => queue.watcher === watcher)).toEqual({
        watcher,
        held: 2,
        oldest: at(2),
        refused: 0,
      });
      expect(await drain(watcher)).toEqual(['other', 'same']);
    });

    test('the sweep finds who has held for a while', async () => {
      const watcher = `w-${randomUUID()}`;
      await store().hold(watcher, [item('x')], at(5));
      expect(await store().watchersHolding(at(5), 10_000)).not.toContain(watcher);
      const holding = await store().watchersHolding(at(6), 10_000);
      expect(holding).toContain(watcher);
      expect(await store().watchersHolding(at(6), 10_000, 1)).toEqual(holding.slice(1));
    });

    test('what has been held since before a time is dropped, and what was refused is not', async () => {
      const watcher = `w-${randomUUID()}`;
      const [refused] = (await store().hold(watcher, [item('refused')], at(1))) as string[];
      await store().refuse(refused!, 'CAPI answered 400');
      await store().hold(watcher, [item('old')], at(2));
      await store().hold(watcher, [item('new')], at(3));
      await store().dropHeld(at(3));
      expect((await store().queues()).find((queue) => queue.watcher === watcher)).toMatchObject({
        held: 1,
        refused: 1,
      });
      expect(await drain(watcher)).toEqual(['new']);
    });

    test('a watcher that has too many keeps its own', async () => {
      const watcher = `w-${randomUUID()}`;
      const many = times(2_001, (i) => item(String(i)));
      expect(await store().hold(watcher, many, at(1))).toBe('full');
      expect(await store().next(watcher)).toBeNull();
    });
  });
}

for (const subject of [fake(() => createFakeMetricsStore()), ...mongo(createMongoMetricsStore)])
  metricsStoreContract(subject);
