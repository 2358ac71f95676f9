import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { AlertQuery, AlertStore } from '../../../activities/ports/signals.js';
import { DEFERRED_REASONS, FORWARDING_WAS_OFF } from '../../../schemas/signals/signals.js';
import type { Alert } from '../../../schemas/signals/signals.js';
import { sampleAlert, sampleSignal } from './alert-store-samples.js';
import { times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

function at(seconds: number): Date {
  return new Date(Date.UTC(2026, 2, 1, 12, 0, seconds));
}

function newWatcher(): string {
  return `w-${randomUUID()}`;
}

/** What every alert store promises: nothing twice, nothing lost, and marks on what waits only. */
export function alertStoreContract(subject: Subject<AlertStore>): void {
  describe(`alert store (${subject.name})`, () => {
    const store = useSubject(subject);
    const waitingIds = async (watcher: string, limit = 10_000) =>
      (await store().nextWaiting(watcher, limit)).map(({ id }) => id);

    describe('quarantine', () => {
      const quarantineOne = async (watcher: string): Promise<number> => {
        await store().insert([sampleAlert({ watcher })]);
        const [id] = await waitingIds(watcher);
        await store().quarantine(id!, 'refused');
        return id!;
      };

      test('lists what is there, the latest first, of one watcher or of all', async () => {
        const watcher = newWatcher();
        await store().insert([
          sampleAlert({ watcher, receivedAt: at(1) }),
          sampleAlert({ watcher, receivedAt: at(2), version: 'v2' }),
          sampleAlert({
            watcher,
            receivedAt: at(3),
            state: 'quarantined',
            stateReason: 'too large',
            raw: '{"tamis":"note"}',
            noteOnly: true,
          }),
        ]);
        const [first, second] = await waitingIds(watcher);
        await store().quarantine(first!, 'refused');
        expect(await store().quarantined({ watcher, limit: 10, offset: 0 })).toEqual([
          expect.objectContaining({ watcher, reason: 'too large', releasable: false, bytes: 16 }),
          expect.objectContaining({
            id: first,
            watcher,
            version: 'v3',
            scenario: 'crowdsecurity/ssh-bf',
            sourceValue: '203.0.113.7',
            receivedAt: at(1),
            reason: 'refused',
            releasable: true,
          }),
        ]);
        await store().quarantine(second!, 'refused too');
        const page = await store().quarantined({ watcher, limit: 1, offset: 1 });
        expect(page.map(({ id }) => id)).toEqual([second]);
        const all = await store().quarantined({ limit: 1000, offset: 0 });
        expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([first, second]));
      });

      test('what is released goes behind all that waits, and in front of what comes later', async () => {
        const watcher = newWatcher();
        const id = await quarantineOne(watcher);
        await store().insert([sampleAlert({ watcher }), sampleAlert({ watcher })]);
        const before = await waitingIds(watcher);
        expect(await store().release(id)).toEqual({ watcher });
        expect(await waitingIds(watcher)).toEqual([...before, id]);
        await store().insert([sampleAlert({ watcher })]);
        expect((await waitingIds(watcher)).indexOf(id)).toBe(2);
        expect(await store().release(id)).toBeNull();
      });

      test('one too large to be kept is not released', async () => {
        const watcher = newWatcher();
        await store().insert([sampleAlert({ watcher, state: 'quarantined', noteOnly: true })]);
        const [{ id } = { id: 0 }] = await store().quarantined({ watcher, limit: 1, offset: 0 });
        expect(await store().release(id)).toBe('not-releasable');
        expect(await waitingIds(watcher)).toEqual([]);
      });

      test('of release and discard at once one wins', async () => {
        const watcher = newWatcher();
        const id = await quarantineOne(watcher);
        const [released, discarded] = await Promise.all([store().release(id), store().discard(id)]);
        expect([released !== null, discarded].filter(Boolean)).toHaveLength(1);
        expect((await waitingIds(watcher)).length).toBe(released === null ? 0 : 1);
        expect(await store().discard(id)).toBe(false);
        expect(await store().discard(-1)).toBe(false);
        expect(await store().release(-1)).toBeNull();
      });
    });

    describe('what was withheld', () => {
      const withheld = { state: 'withheld', stateReason: FORWARDING_WAS_OFF } as const;

      test('while forwarding was off goes behind all that is stored, in order, so many at a time', async () => {
        const [watcher, other] = [newWatcher(), newWatcher()];
        await store().insert([
          ...times(3, () => sampleAlert({ watcher, ...withheld })),
          sampleAlert({ watcher, state: 'withheld', stateReason: 'loop guard' }),
          sampleAlert({ watcher, state: 'filtered' }),
          sampleAlert({ watcher: other, ...withheld }),
        ]);
        await store().insert([sampleAlert({ watcher })]);
        const [last = 0] = await waitingIds(watcher);
        expect(await store().releaseDeferred(watcher, 2)).toEqual({ released: 2, left: true });
        expect(await waitingIds(watcher)).toEqual([last, last - 6, last - 5]);
        await store().insert([sampleAlert({ watcher })]);
        expect(await store().releaseDeferred(watcher, 2)).toEqual({ released: 1, left: false });
        expect(await store().releaseDeferred(watcher, 2)).toEqual({ released: 0, left: false });
        const ids = await waitingIds(watcher);
        expect([ids.slice(0, 3), ids.at(-1), ids.length]).toEqual([[last, last - 6, last - 5], last - 4, 5]);
        expect(await waitingIds(other)).toEqual([]);
      });

      test('is released once by two operators', async () => {
        const watcher = newWatcher();
        await store().insert(times(5, () => sampleAlert({ watcher, ...withheld })));
        const done = await Promise.all(times(2, () => store().releaseDeferred(watcher, 5)));
        expect(done[0]!.released + done[1]!.released).toBe(5);
        // One that shares a full batch with the other must not take it for the last.
        for (const { released, left } of done) expect(left || released === 0).toBe(true);
        expect(await waitingIds(watcher)).toHaveLength(5);
      });
    });

    describe('rules', () => {
      test('signals are read back from the newest, page by page, without those not kept', async () => {
        const watcher = newWatcher();
        const signal = sampleSignal();
        await store().insert([
          sampleAlert({ watcher, signal, ruleSet: 'v7' }),
          sampleAlert({ watcher, state: 'quarantined', noteOnly: true }),
          sampleAlert({ watcher, version: 'v2', state: 'filtered' }),
        ]);
        const [newest] = await store().readBack({ belowId: null, limit: 1 });
        expect(newest).toMatchObject({ watcher, version: 'v2', filtered: true, ruleSet: null });
        const [next] = await store().readBack({ belowId: newest!.id, limit: 1 });
        expect(next).toMatchObject({ watcher, raw: JSON.stringify(signal), filtered: false, ruleSet: 'v7' });
        expect(next!.fields.uuid).toBe(signal['uuid']);
        expect(await store().readBack({ belowId: 0, limit: 5 })).toEqual([]);
      });
    });

    describe('insert', () => {
      test('answers how many are new and how many of those wait', async () => {
        const watcher = newWatcher();
        const batch = [
          sampleAlert({ watcher }),
          sampleAlert({ watcher, state: 'filtered', reasons: ['decisions is empty'] }),
          sampleAlert({ watcher, state: 'withheld', stateReason: 'loop guard' }),
        ];
        expect(await store().insert(batch)).toEqual({ stored: 3, waiting: 1 });
        expect(await store().insert([])).toEqual({ stored: 0, waiting: 0 });
      });

      test('the same batch twice is stored once', async () => {
        const watcher = newWatcher();
        const batch = times(50, () => sampleAlert({ watcher }));
        expect(await store().insert(batch)).toEqual({ stored: 50, waiting: 50 });
        const ids = await waitingIds(watcher);
        expect(await store().insert(batch)).toEqual({ stored: 0, waiting: 0 });
        expect(await waitingIds(watcher)).toEqual(ids);
      });

      test('the same batch from ten requests at once is stored once', async () => {
        const watcher = newWatcher();
        const batch = times(20, () => sampleAlert({ watcher }));
        const answers = await Promise.all(times(10, () => store().insert(batch)));
        expect(answers.reduce((sum, { stored }) => sum + stored, 0)).toBe(20);
        expect(await waitingIds(watcher)).toHaveLength(20);
      });

      test('a batch that a crash cut short is completed when it is offered again', async () => {
        const watcher = newWatcher();
        const batch = times(10, () => sampleAlert({ watcher }));
        await store().insert(batch.filter((_, index) => index % 3 === 0));
        expect(await store().insert(batch)).toEqual({ stored: 6, waiting: 6 });
        const raws = await store().readWaiting(await waitingIds(watcher));
        expect(raws.map(({ raw }) => raw).sort()).toEqual(batch.map(({ raw }) => raw).sort());
      });

      test('an item that stands twice in a batch is stored once', async () => {
        const watcher = newWatcher();
        const twice = sampleAlert({ watcher });
        expect(await store().insert([twice, sampleAlert({ watcher }), twice])).toMatchObject({ stored: 2 });
      });

      test('the same identity of two watchers is two alerts', async () => {
        const signal = sampleSignal();
        const watchers = [newWatcher(), newWatcher()];
        const batch = watchers.map((watcher) => sampleAlert({ watcher, signal }));
        expect(await store().insert(batch)).toMatchObject({ stored: 2 });
      });

      test('ids of 20 watchers at once are unique, and increase within each in order of receipt', async () => {
        const watchers = times(20, newWatcher);
        await Promise.all(
          watchers.map(async (watcher) => {
            for (const turn of times(4, (index) => index))
              await store().insert(
                times(10, (index) => sampleAlert({ watcher, raw: `{"n":${turn * 10 + index}}` })),
              );
          }),
        );
        const all: number[] = [];
        for (const watcher of watchers) {
          const ids = await waitingIds(watcher);
          const raws = (await store().readWaiting(ids)).map(({ raw }) => raw);
          expect(raws).toEqual(times(40, (index) => `{"n":${index}}`));
          expect(ids).toEqual([...ids].sort((a, b) => a - b));
          all.push(...ids);
        }
        expect(new Set(all).size).toBe(800);
        expect(all.every((id) => Number.isInteger(id) && id >= 1)).toBe(true);
      });
    });

    describe('the queue', () => {
      const fill = async (count: number) => {
        const watcher = newWatcher();
        await store().insert(times(count, () => sampleAlert({ watcher })));
        return { watcher, ids: await waitingIds(watcher) };
      };

      test('nextWaiting answers the oldest, with version and size, of this watcher only', async () => {
        const watcher = newWatcher();
        await store().insert([
          sampleAlert({ watcher, version: 'v2', raw: '{"scenario":"é"}' }),
          sampleAlert({ watcher, state: 'filtered' }),
          sampleAlert({ watcher, state: 'quarantined' }),
          sampleAlert(),
          sampleAlert({ watcher }),
        ]);
        const items = await store().nextWaiting(watcher, 5);
        expect(items).toHaveLength(2);
        expect(items[0]).toEqual({ id: expect.any(Number), version: 'v2', bytes: 17 });
        expect(await store().nextWaiting(watcher, 1)).toEqual(items.slice(0, 1));
      });

      test('readWaiting keeps the bytes and the order asked for, and leaves out what waits no longer', async () => {
        const watcher = newWatcher();
        const raw = '{ "scenario":"a", "n":1.0, "big":12345678901234567890, "e":"\\u00e9\\u0000", "n":2 }';
        await store().insert([sampleAlert({ watcher, raw }), ...times(3, () => sampleAlert({ watcher }))]);
        const [first = 0, second = 0, third = 0, fourth = 0] = await waitingIds(watcher);
        await store().quarantine(third, 'refused');
        const read = await store().readWaiting([fourth, third, first, 999_999_999, second]);
        expect(read.map(({ id }) => id)).toEqual([fourth, first, second]);
        expect(read[1]).toEqual({ id: first, raw, receivedAt: expect.any(Date) });
        expect(await store().readWaiting([])).toEqual([]);
      });

      test('each look finds the oldest, whatever was sent, quarantined, released and added since the last', async () => {
        const [watcher, other] = [newWatcher(), newWatcher()];
        const expected: number[] = [];
        const add = async (count: number): Promise<void> => {
          await store().insert(times(count * 3, () => sampleAlert({ watcher: other })));
          await store().insert(times(count, () => sampleAlert({ watcher })));
          const newest = await store().readBack({ belowId: null, limit: count });
          expected.push(...newest.map(({ id }) => id).reverse());
        };
        await add(60);
        for (const round of times(12, (index) => index)) {
          const found = (await store().nextWaiting(watcher, 10)).map(({ id }) => id);
          expect(found).toEqual(expected.slice(0, 10));
          // Every third look finds the same ones again: CAPI did not take them.
          if (round % 3 === 2) continue;
          const [refused = 0, ...taken] = found;
          await store().quarantine(refused, 'refused');
          await store().markForwarded(taken, at(1));
          expected.splice(0, 10);
          if (round % 2 === 0) {
            await store().release(refused);
            expected.push(refused);
          }
          if (round === 4) await add(25);
        }
        expect(await waitingIds(watcher)).toEqual(expected);
      });

      test('marks of many watchers at once are set, each on what it names', async () => {
        const queues = await Promise.all(times(12, () => fill(60)));
        await Promise.all(
          queues.map(async ({ ids }, index) => {
            const read = await store().readWaiting(ids.slice(0, 50));
            const receivedAt = index % 2 === 0 ? [read.map((item) => item.receivedAt)] : [];
            await store().markForwarded(ids.slice(0, 50), at(index), ...receivedAt);
          }),
        );
        for (const { watcher, ids } of queues) {
          expect(await waitingIds(watcher)).toEqual(ids.slice(50));
          expect((await store().get(ids[49] ?? 0))?.forwardedToCapi).toBe(true);
        }
      });

      test('markForwarded changes what waits, and nothing else', async () => {
        const { watcher, ids } = await fill(3);
        const [first = 0, second = 0, third = 0] = ids;
        await store().quarantine(second, 'refused');
        await store().markForwarded([first, second], at(1));
        await store().markForwarded([first], at(2));
        expect(await store().get(first)).toMatchObject({
          forwardedToCapi: true,
          forwardedAt: '2026-03-01T12:00:01.000Z',
        });
        expect(await store().get(second)).toMatchObject({ forwardedToCapi: false, forwardedAt: null });
        expect(await store().get(third)).toMatchObject({ forwardedToCapi: false, forwardedAt: null });
        expect(await waitingIds(watcher)).toEqual([third]);
      });

      test("what waits is discarded for good, up to a time, so many at a time, and no other watcher's", async () => {
        const [watcher, other] = [newWatcher(), newWatcher()];
        await store().insert([
          ...times(5, (index) => sampleAlert({ watcher, receivedAt: at(index) })),
          sampleAlert({ watcher, receivedAt: at(9) }),
          sampleAlert({ watcher, receivedAt: at(1), state: 'quarantined', stateReason: 'refused' }),
          sampleAlert({ watcher: other, receivedAt: at(1) }),
        ]);
        const ids = await waitingIds(watcher);
        const discard = (reason: string, limit = 3) =>
          store().discardWaiting(watcher, { reason, receivedUntil: at(4), limit });
        expect(await discard('first')).toEqual({ discarded: 3, left: true });
        expect(await waitingIds(watcher)).toEqual(ids.slice(3));
        expect(await discard('second')).toEqual({ discarded: 2, left: false });
        expect(await discard('third')).toEqual({ discarded: 0, left: false });
        expect(await waitingIds(watcher)).toEqual(ids.slice(5));
        expect(await waitingIds(other)).toHaveLength(1);
        expect(await store().get(ids[0] ?? 0)).toMatchObject({ forwardedToCapi: false, filtered: false });
        const kept = (await store().keptBack()).find((summary) => summary.watcher === watcher);
        expect(kept).toEqual({
          watcher,
          deferred: 0,
          withheld: 0,
          discarded: 5,
          lastDiscarded: { id: ids[4], reason: 'second' },
        });
        expect((await store().summaries()).find((queue) => queue.watcher === watcher)).toMatchObject({
          waiting: 1,
          quarantined: 1,
        });
      });

      test('what is deferred is discarded where that is said, however it waits, and nothing else', async () => {
        const watcher = newWatcher();
        const [reason, other] = DEFERRED_REASONS;
        const ids = await store().insert([
          sampleAlert({ watcher, receivedAt: at(1), state: 'withheld', stateReason: reason! }),
          sampleAlert({ watcher, receivedAt: at(2), state: 'withheld', stateReason: other! }),
          sampleAlert({ watcher, receivedAt: at(9), state: 'withheld', stateReason: reason! }),
          sampleAlert({ watcher, receivedAt: at(1), state: 'withheld', stateReason: 'it came from CAPI' }),
          sampleAlert({ watcher, receivedAt: at(1) }),
        ]);
        expect(ids.stored).toBe(5);
        const discard = (limit: number) =>
          store().discardWaiting(watcher, { reason: 'off', receivedUntil: at(4), limit, deferred: true });
        expect(await discard(1)).toEqual({ discarded: 1, left: true });
        expect(await discard(5)).toEqual({ discarded: 1, left: false });
        const kept = (await store().keptBack()).find((summary) => summary.watcher === watcher);
        expect(kept).toMatchObject({ deferred: 1, withheld: 1, discarded: 2 });
        expect(await waitingIds(watcher)).toHaveLength(1);
      });

      test('of two that discard at once each signal listens to one', async () => {
        const { watcher } = await fill(40);
        const done = await Promise.all(
          times(4, () =>
            store().discardWaiting(watcher, { reason: 'gone', receivedUntil: new Date(), limit: 100 }),
          ),
        );
        expect(done.reduce((sum, { discarded }) => sum + discarded, 0)).toBe(40);
        expect(await waitingIds(watcher)).toEqual([]);
      });

      test('what CAPI took while it was discarded is forwarded, and stays so', async () => {
        const { watcher, ids } = await fill(3);
        const [first = 0, second = 0, third = 0] = ids;
        const discard = () =>
          store().discardWaiting(watcher, { reason: 'gone', receivedUntil: new Date(), limit: 100 });
        const read = await store().readWaiting([first, second]);
        await discard();
        expect(await store().readWaiting(ids)).toEqual([]);
        await store().markForwarded(
          [first],
          at(1),
          read.slice(0, 1).map(({ receivedAt }) => receivedAt),
        );
        await store().markForwarded([second], at(2));
        await discard();
        for (const [id, forwardedAt] of [
          [first, at(1)],
          [second, at(2)],
        ] as const)
          expect(await store().get(id)).toMatchObject({
            forwardedToCapi: true,
            forwardedAt: forwardedAt.toISOString(),
          });
        expect(await store().get(third)).toMatchObject({ forwardedToCapi: false, forwardedAt: null });
        const kept = (await store().keptBack()).find((summary) => summary.watcher === watcher);
        expect(kept).toMatchObject({ discarded: 1, lastDiscarded: { id: third, reason: 'gone' } });
      });

      test('what was withheld is told apart by its reason', async () => {
        const watcher = newWatcher();
        await store().insert([
          sampleAlert({ watcher, state: 'withheld', stateReason: FORWARDING_WAS_OFF }),
          sampleAlert({ watcher, state: 'withheld', stateReason: FORWARDING_WAS_OFF }),
          sampleAlert({ watcher, state: 'withheld', stateReason: 'loop guard' }),
          sampleAlert({ watcher, state: 'filtered' }),
          sampleAlert({ watcher }),
        ]);
        expect((await store().keptBack()).filter((kept) => kept.watcher === watcher)).toEqual([
          { watcher, deferred: 2, withheld: 1, discarded: 0, lastDiscarded: null },
        ]);
      });

      test('a filtered or withheld alert is never marked', async () => {
        const watcher = newWatcher();
        await store().insert([
          sampleAlert({ watcher, state: 'filtered', receivedAt: at(5) }),
          sampleAlert({ watcher, state: 'withheld', receivedAt: at(5) }),
        ]);
        const listed = await store().list({ limit: 1_000, offset: 0, since: at(5), until: at(5) });
        await store().markForwarded(
          listed.map(({ id }) => id),
          at(6),
        );
        for (const { id } of listed) expect((await store().get(id))?.forwardedToCapi).toBe(false);
      });

      test('quarantine does not touch what was forwarded', async () => {
        const { watcher, ids } = await fill(1);
        await store().markForwarded(ids, at(1));
        await store().quarantine(ids[0] ?? 0, 'too late');
        const summary = (await store().summaries()).find((entry) => entry.watcher === watcher);
        expect(summary).toBeUndefined();
        expect((await store().get(ids[0] ?? 0))?.forwardedToCapi).toBe(true);
      });

      test('summaries count what waits and what is quarantined, with the last reason', async () => {
        const [watcher, other] = [newWatcher(), newWatcher()];
        await store().insert([
          sampleAlert({ watcher, receivedAt: at(2) }),
          sampleAlert({ watcher, receivedAt: at(1) }),
          sampleAlert({ watcher, state: 'quarantined', stateReason: 'the item has no "scenario"' }),
          sampleAlert({ watcher, receivedAt: at(3) }),
          sampleAlert({ watcher: other, state: 'filtered' }),
        ]);
        const ids = await waitingIds(watcher);
        await store().quarantine(ids[2] ?? 0, 'CAPI answered 400');
        const summaries = await store().summaries();
        expect(summaries.find((entry) => entry.watcher === watcher)).toEqual({
          watcher,
          waiting: 2,
          oldestReceivedAt: at(1),
          quarantined: 2,
          lastQuarantined: { id: ids[2], reason: 'CAPI answered 400' },
        });
        expect(summaries.find((entry) => entry.watcher === other)).toBeUndefined();
      });

      test('watchersWaiting names those that wait since before a point in time, the longest first', async () => {
        const early = (seconds: number) => new Date(Date.UTC(2021, 0, 1, 0, 0, seconds));
        const watchers = times(3, newWatcher);
        await store().insert(
          watchers.flatMap((watcher, index) =>
            times(2, () => sampleAlert({ watcher, receivedAt: early(index) })),
          ),
        );
        expect(await store().watchersWaiting(early(2), 10)).toEqual(watchers.slice(0, 2));
        expect(await store().watchersWaiting(early(2), 1)).toEqual(watchers.slice(0, 1));
        expect(await store().watchersWaiting(early(2), 1, 1)).toEqual(watchers.slice(1, 2));
        expect(await store().watchersWaiting(early(2), 1, 2)).toEqual([]);
      });
    });

    describe('removeOld', () => {
      const old = (hours: number): Date => new Date(Date.UTC(2020, 5, 1, hours));

      test('takes the oldest up to a time, and leaves what waits', async () => {
        const watcher = newWatcher();
        const states = ['filtered', 'waiting', 'withheld', 'quarantined', 'waiting', 'filtered'] as const;
        await store().insert(
          states.map((state, index) => sampleAlert({ watcher, state, receivedAt: old(index) })),
        );
        const listed = async () =>
          (await store().list({ limit: 10, offset: 0, until: old(9) })).map(({ receivedAt }) =>
            new Date(receivedAt).getUTCHours(),
          );
        const [, second = 0] = await waitingIds(watcher);
        await store().markForwarded([second], at(0));
        expect(await store().removeOld(old(4), 1)).toBe(1);
        expect(await listed()).toEqual([5, 4, 3, 2, 1]);
        expect(await store().removeOld(old(4), 10)).toBe(2);
        expect(await listed()).toEqual([5, 3, 1]);
        expect(await store().removeOld(old(4), 10)).toBe(0);
        expect(await store().removeOld(old(5), 10)).toBe(1);
        expect(await waitingIds(watcher)).toHaveLength(1);
        const summary = (await store().summaries()).find((entry) => entry.watcher === watcher);
        expect(summary).toMatchObject({ waiting: 1, quarantined: 1 });
      });

      test('is told beforehand what it would take, and takes what was given up in quarantine', async () => {
        const watcher = newWatcher();
        const states = ['filtered', 'waiting', 'quarantined', 'quarantined', 'forwarded'] as const;
        // Years before the others of this store.
        const ancient = (days: number): Date => new Date(Date.UTC(2001, 0, days));
        await store().insert(
          states.map((state, index) => sampleAlert({ watcher, state, receivedAt: ancient(index + 1) })),
        );
        const due = (which: 'removable' | 'quarantined', days: number, limit = 10): Promise<number> =>
          store().countOld(which, ancient(days), limit);
        expect([await due('removable', 9), await due('removable', 4), await due('removable', 9, 1)]).toEqual([
          2, 1, 1,
        ]);
        expect([await due('quarantined', 9), await due('quarantined', 3)]).toEqual([2, 1]);
        const giveUp = (limit: number) =>
          store().discardQuarantined({ reason: 'too long', receivedUntil: ancient(3), limit });
        expect(await giveUp(1)).toEqual({ discarded: 1, left: true });
        expect(await giveUp(1)).toEqual({ discarded: 0, left: false });
        expect([await due('quarantined', 9), await due('removable', 9)]).toEqual([1, 3]);
        expect(await store().removeOld(ancient(9), 10)).toBe(3);
      });

      test('discardQuarantined gives up what one watcher has in quarantine, and nothing of another', async () => {
        const [watcher, other] = [newWatcher(), newWatcher()];
        const inQuarantine = [watcher, other, watcher, watcher].map((name, index) =>
          sampleAlert({ watcher: name, state: 'quarantined', receivedAt: at(index) }),
        );
        await store().insert([...inQuarantine, sampleAlert({ watcher, receivedAt: at(0) })]);
        const giveUp = (limit: number) =>
          store().discardQuarantined({ watcher, reason: 'gone', receivedUntil: at(2), limit });
        expect(await giveUp(1)).toEqual({ discarded: 1, left: true });
        expect(await giveUp(9)).toEqual({ discarded: 1, left: false });
        const left = async (name: string) =>
          (await store().quarantined({ watcher: name, limit: 9, offset: 0 })).map(
            ({ receivedAt }) => receivedAt,
          );
        expect([await left(watcher), await left(other)]).toEqual([[at(3)], [at(1)]]);
        expect(await waitingIds(watcher)).toHaveLength(1);
      });

      test('leaves what is deferred, until it is let go, and takes what the loop guard withheld', async () => {
        const watcher = newWatcher();
        const ancient = (days: number): Date => new Date(Date.UTC(1999, 0, days));
        const reasons = [...DEFERRED_REASONS, 'a loop', undefined];
        await store().insert(
          reasons.map((stateReason, index) =>
            sampleAlert({
              watcher,
              state: 'withheld',
              receivedAt: ancient(index + 1),
              ...(stateReason !== undefined && { stateReason }),
            }),
          ),
        );
        expect(await store().countOld('removable', ancient(9), 10)).toBe(2);
        expect(await store().removeOld(ancient(9), 10)).toBe(2);
        expect(await store().removeOld(ancient(9), 10)).toBe(0);
        expect(await store().releaseDeferred(watcher, 10)).toEqual({
          released: DEFERRED_REASONS.length,
          left: false,
        });
        await store().markForwarded(await waitingIds(watcher), at(0));
        expect(await store().removeOld(ancient(9), 10)).toBe(DEFERRED_REASONS.length);
      });

      test('twice at once removes everything once', async () => {
        const watcher = newWatcher();
        await store().insert(
          times(30, () => sampleAlert({ watcher, state: 'filtered', receivedAt: old(12) })),
        );
        const removed = await Promise.all(times(4, () => store().removeOld(old(12), 100)));
        expect(removed.reduce((sum, count) => sum + count, 0)).toBe(30);
      });
    });

    describe('get', () => {
      test('answers all 41 fields', async () => {
        const watcher = newWatcher();
        const signal = sampleSignal();
        await store().insert([
          sampleAlert({ watcher, signal, raw: `{ "uuid": 1.0,\n "m": "a b" }`, reasons: ['x', 'y "z"'] }),
        ]);
        const [id = 0] = await waitingIds(watcher);
        const alert = await store().get(id);
        expect(Object.keys(alert ?? {})).toHaveLength(41);
        expect(Object.values(alert ?? {})).not.toContain(undefined);
        expect(alert).toMatchObject({
          id,
          uuid: String(signal['uuid']),
          receivedAt: '2026-03-01T12:00:00.000Z',
          filtered: false,
          filterReasons: '["x","y \\"z\\""]',
          forwardedToCapi: false,
          forwardedAt: null,
          rawJson: '{"uuid":1.0,"m":"a b"}',
        } satisfies Partial<Alert>);
      });

      test('an id that is not there is null', async () => {
        expect(await store().get(987_654_321)).toBeNull();
      });
    });

    describe('list', () => {
      /** A scenario of its own tells the alerts of one test from those of the others. */
      const fill = async (
        ...signals: { at?: number; state?: 'filtered'; source?: object; machine_id?: string }[]
      ) => {
        const mark = randomUUID();
        const watcher = newWatcher();
        await store().insert(
          signals.map(({ at: seconds = 0, state, ...signal }, index) =>
            sampleAlert({
              watcher,
              state: state ?? 'waiting',
              receivedAt: at(seconds),
              signal: sampleSignal({ message: `${index}`, scenario: mark, ...signal }),
            }),
          ),
        );
        return {
          watcher,
          find: async (query: Partial<AlertQuery> = {}) =>
            (await store().list({ limit: 1_000, offset: 0, scenario: mark, ...query })).map(
              ({ message }) => message,
            ),
        };
      };

      test('newest first, then by id, with limit and offset', async () => {
        const { find } = await fill({ at: 1 }, { at: 3 }, { at: 2 }, { at: 2 });
        expect(await find()).toEqual(['1', '3', '2', '0']);
        expect(await find({ limit: 2 })).toEqual(['1', '3']);
        expect(await find({ limit: 2, offset: 3 })).toEqual(['0']);
      });

      test('filtered and forwardedToCapi', async () => {
        const { watcher, find } = await fill({ state: 'filtered' }, {}, {});
        await store().markForwarded(await waitingIds(watcher, 1), at(9));
        expect(await find({ filtered: true })).toEqual(['0']);
        expect(await find({ filtered: false })).toEqual(['2', '1']);
        expect(await find({ forwardedToCapi: true })).toEqual(['1']);
        expect(await find({ forwardedToCapi: false })).toEqual(['2', '0']);
      });

      test('country and machineId by equality', async () => {
        const { find } = await fill(
          { source: { cn: 'DE' }, machine_id: 'agent.1' },
          { source: {}, machine_id: 'agent' },
        );
        expect(await find({ country: 'DE' })).toEqual(['0']);
        expect(await find({ machineId: 'agent' })).toEqual(['1']);
        expect(await find({ country: 'FR' })).toEqual([]);
      });

      test('ip is the text of source.ip or of source.value, nothing more', async () => {
        const { find } = await fill(
          { source: { ip: '198.51.100.1', value: '198.51.100.0/24' } },
          { source: { value: '198.51.100.1' } },
          { source: { ip: '198.51.100.10' } },
          { source: { range: '198.51.100.1' } },
        );
        expect(await find({ ip: '198.51.100.1' })).toEqual(['1', '0']);
        expect(await find({ ip: '198.51.100.1', limit: 1 })).toEqual(['1']);
        expect(await find({ ip: '198.51.100.1', limit: 1, offset: 1 })).toEqual(['0']);
        expect(await find({ ip: '198.51.100.1', offset: 2 })).toEqual([]);
      });

      test('scenario is a literal part, without regard to case', async () => {
        const mark = randomUUID();
        const scenarios = [
          'ssh-bf_user',
          'ssh-bfXuser',
          'HTTP.*(a|b)[c]{1}^$?+\\E',
          'Été d’Éire',
          'a\u0000b\nc',
        ];
        await store().insert(
          scenarios.map((scenario) =>
            sampleAlert({ watcher: newWatcher(), signal: sampleSignal({ scenario: `${mark}/${scenario}` }) }),
          ),
        );
        const find = async (scenario: string) =>
          (await store().list({ limit: 1_000, offset: 0, scenario: `${mark}/${scenario}` })).map((alert) =>
            alert.scenario.slice(mark.length + 1),
          );
        for (const scenario of scenarios) {
          expect(await find(scenario)).toEqual([scenario]);
          expect(await find(scenario.toUpperCase())).toEqual([scenario]);
        }
        expect(await find('.')).toEqual([]);
        expect(await find('%')).toEqual([]);
        expect(await find('ssh')).toHaveLength(2);
      });

      test('since and until are inclusive', async () => {
        const { find } = await fill({ at: 1 }, { at: 2 }, { at: 3 });
        expect(await find({ since: at(2) })).toEqual(['2', '1']);
        expect(await find({ until: at(2) })).toEqual(['1', '0']);
        expect(await find({ since: at(2), until: at(2) })).toEqual(['1']);
        expect(await find({ since: at(3), until: at(1) })).toEqual([]);
      });

      test('newerThan is a gate: nothing, or everything', async () => {
        const { find } = await fill({ at: 1 }, { at: 2 });
        await store().insert([sampleAlert({ watcher: newWatcher(), receivedAt: at(59) })]);
        expect(await find({ newerThan: at(58) })).toEqual(['1', '0']);
        expect(await find({ newerThan: at(59) })).toEqual([]);
      });

      test('beyond a number of bytes the raw signals are left out, but for the very first', async () => {
        const watcher = newWatcher();
        const scenario = randomUUID();
        const raws = [10, 2_000, 30, 40].map((bytes) => `{"pad":"${'é'.repeat(bytes)}"}`);
        await store().insert(
          raws.map((raw, index) =>
            sampleAlert({ watcher, raw, signal: sampleSignal({ scenario }), receivedAt: at(index) }),
          ),
        );
        const kept = async (rawBytes?: number) =>
          (
            await store().list({
              limit: 10,
              offset: 0,
              scenario,
              ...(rawBytes === undefined ? {} : { rawBytes }),
            })
          ).map(({ rawJson }) => (rawJson === null ? null : raws.indexOf(rawJson)));
        expect(await kept()).toEqual([3, 2, 1, 0]);
        expect(await kept(1)).toEqual([3, null, null, null]);
        expect(await kept(200)).toEqual([3, 2, null, null]);
        expect(await kept(10_000)).toEqual([3, 2, 1, 0]);
      });

      test('filters add up', async () => {
        const { find } = await fill({ source: { cn: 'IT', ip: '1.2.3.4' } }, { source: { cn: 'IT' } });
        expect(await find({ country: 'IT', ip: '1.2.3.4', filtered: false })).toEqual(['0']);
      });
    });
  });
}
