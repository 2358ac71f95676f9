import { describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createForwardingActivities } from '../../../activities/signals/forwarding-activities.js';
import { SENDING_MS, toBatches } from '../../../activities/signals/signal-delivery.js';
import type { SendProgress, SignalBatch } from '../../../activities/signals/signal-delivery.js';
import type { WaitingItem } from '../../../schemas/signals/signals.js';
import { external } from '../../../workflows/activity-profiles.js';
import { createScriptedForwarding, ok, refusal } from '../../support/scripted-forwarding.js';

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** So many signals wait; the activities over stores in memory and a scripted CAPI, with a clock of the test's. */
async function openDesk(signals: number) {
  let clockMs = 0;
  const fixture = createScriptedForwarding(async () => clockMs);
  const activities = createForwardingActivities({ ...fixture.deps, monotonicMs: () => clockMs });
  fixture.add(signals);
  const { batches } = await activities.nextBatches('lapi');
  const beats: SendProgress[] = [];
  /** One call of the activity, as a worker makes it. */
  const call = (environment = new MockActivityEnvironment(), given: SignalBatch[] = batches) => {
    environment.on('heartbeat', (progress: SendProgress) => beats.push(progress));
    return environment.run(activities.sendBatches, {
      watcher: 'lapi',
      batches: given,
    });
  };
  return { fixture, batches, beats, call, pass: (ms: number) => (clockMs += ms) };
}

describe('sendBatches', () => {
  it('sends batch by batch in order, one request at a time, each marked before the next is offered', async () => {
    const { fixture, beats, call } = await openDesk(220);
    let underWay = 0;
    fixture.answer(async ({ ids }) => {
      underWay += 1;
      expect(underWay).toBe(1);
      expect(fixture.ids('waiting')[0]).toBe(ids[0]);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      return ok;
    });
    expect(await call()).toEqual({ done: 5, forwarded: 220, unmarked: [], report: null, restMs: 0 });
    expect(fixture.offers.map(({ ids }) => ids.length)).toEqual([50, 50, 50, 50, 20]);
    expect(fixture.accepted).toEqual(range(1, 220));
    expect(fixture.ids('waiting')).toEqual([]);
    expect(beats).toEqual(
      [50, 100, 150, 200, 220].map((forwarded, index) => ({ done: index + 1, forwarded })),
    );
    expect(fixture.successes()).toBe(1);
  });

  it('reads the next batch while this one is sent, unless they are large', async () => {
    const bodies = [10, 12_000];
    const counts = [];
    for (const bytes of bodies) {
      const { fixture, call } = await openDesk(0);
      fixture.add(100, { bytes });
      const activities = createForwardingActivities(fixture.deps);
      const { batches } = await activities.nextBatches('lapi');
      const read = fixture.deps.alerts.readWaiting;
      let reads = 0;
      fixture.deps.alerts.readWaiting = (ids) => {
        reads += 1;
        return read(ids);
      };
      const seen: number[] = [];
      fixture.answer(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(reads);
        return ok;
      });
      await call(undefined, batches);
      counts.push(seen);
    }
    expect(counts).toEqual([
      [2, 2],
      [1, 2],
    ]);
  });

  it.each([
    ['401', refusal(401)],
    ['429', refusal(429, 60_000)],
    ['413', refusal(413)],
    ['503', refusal(503)],
    ['an unknown outcome', { outcome: 'unknown', message: 'hung up' } as const],
    ['no connection', { outcome: 'unreachable', message: 'ECONNREFUSED' } as const],
  ])('ends at the first batch that is not taken: %s', async (_name, answer) => {
    const { fixture, call } = await openDesk(200);
    fixture.answer(({ number }) => (number === 3 ? answer : ok));
    expect(await call()).toEqual({ done: 2, forwarded: 100, unmarked: [], report: answer, restMs: 0 });
    expect(fixture.offers).toHaveLength(3);
    expect(fixture.ids('waiting')).toEqual(range(101, 200));
  });

  it('never offers a token again that CAPI refused', async () => {
    const { fixture, batches, call } = await openDesk(100);
    fixture.answer(({ number }) => (number === 2 ? refusal(401) : ok));
    await call();
    expect(await call(undefined, batches.slice(1))).toMatchObject({ report: { outcome: 'no-token' } });
    fixture.tokens.push('token-2');
    await call(undefined, batches.slice(1));
    expect(fixture.offers.map(({ token }) => token)).toEqual(['token-1', 'token-1', 'token-2']);
  });

  it('asks for the token once, and again as soon as there is a newer one', async () => {
    const { fixture, call } = await openDesk(200);
    const token = fixture.deps.watchers.token;
    let asked = 0;
    fixture.deps.watchers.token = (watcher) => {
      asked += 1;
      return token(watcher);
    };
    fixture.answer(({ number }) => {
      if (number === 3) fixture.tokens.push('token-2');
      return ok;
    });
    await call();
    expect(fixture.offers.map((offer) => offer.token)).toEqual(['token-1', 'token-1', 'token-1', 'token-2']);
    expect(asked).toBe(2);
  });

  it('looks for a pause before each batch', async () => {
    const { fixture, call } = await openDesk(150);
    fixture.answer(({ number }) => {
      if (number === 2) fixture.pause();
      return ok;
    });
    expect(await call()).toMatchObject({ done: 2, report: { outcome: 'paused' } });
    expect(fixture.offers).toHaveLength(2);
  });

  it('offers byte for byte the batch whose marks a crash kept from the store, and not what was marked', async () => {
    const { fixture, call } = await openDesk(150);
    const mark = fixture.deps.alerts.markForwarded;
    const crashed = new Promise<void>((crash) => {
      fixture.deps.alerts.markForwarded = async (ids, at) => {
        if (ids[0] !== 51) return mark(ids, at);
        crash();
        // The process is gone: this call never comes back.
        await new Promise(() => undefined);
      };
    });
    void call();
    await crashed;
    fixture.deps.alerts.markForwarded = mark;
    expect(await call()).toMatchObject({ done: 3, forwarded: 100 });
    expect(fixture.offers.map(({ ids }) => ids[0])).toEqual([1, 51, 51, 101]);
    expect(fixture.offers[2]!.body).toBe(fixture.offers[1]!.body);
    expect(fixture.ids('waiting')).toEqual([]);
  });

  it('hands the marks of a batch to the workflow when the store is away after the 2xx', async () => {
    const { fixture, call } = await openDesk(150);
    const mark = fixture.deps.alerts.markForwarded;
    fixture.deps.alerts.markForwarded = async (ids, at) => {
      if (ids[0] !== 1) throw new Error('the store is away');
      await mark(ids, at);
    };
    expect(await call()).toMatchObject({ done: 2, forwarded: 100, unmarked: range(51, 100), report: null });
    expect(fixture.offers).toHaveLength(2);
  });

  it('throws when the store fails before the first offer, and answers what is done when it fails later', async () => {
    const { fixture, batches, call } = await openDesk(150);
    const get = fixture.deps.watchers.get;
    fixture.answer(({ number }) => {
      if (number === 2)
        fixture.deps.watchers.get = async () => {
          throw new Error('the store is away');
        };
      return ok;
    });
    expect(await call()).toMatchObject({ done: 2, forwarded: 100, unmarked: [], report: null });
    await expect(call(undefined, batches.slice(2))).rejects.toThrow('the store is away');
    fixture.deps.watchers.get = get;
    expect(await call(undefined, batches.slice(2))).toMatchObject({ done: 1, forwarded: 50 });
  });

  it('stops between two batches when it is cancelled', async () => {
    const { fixture, call } = await openDesk(150);
    const environment = new MockActivityEnvironment();
    fixture.answer(({ number }) => {
      if (number === 2) environment.cancel();
      return ok;
    });
    expect(await call(environment)).toMatchObject({ done: 2, report: null });
    expect(fixture.offers).toHaveLength(2);
  });

  it('stops offering before a worker without a heartbeat is taken for dead', async () => {
    const { fixture, call, pass } = await openDesk(200);
    fixture.answer(() => {
      pass(SENDING_MS / 2);
      return ok;
    });
    expect(await call()).toMatchObject({ done: 2, forwarded: 100, report: null });
    expect(external.heartbeatTimeout).toBe('10 seconds');
    expect(SENDING_MS).toBeLessThanOrEqual(5_000);
  });

  it('keeps a pace between two batches; a long one is left to the workflow', async () => {
    const { fixture, call } = await openDesk(150);
    fixture.deps.settings.paceMs = 30;
    const times: number[] = [];
    fixture.answer(() => {
      times.push(performance.now());
      return ok;
    });
    expect(await call()).toMatchObject({ done: 3, restMs: 0 });
    // And one pause behind the last batch, in front of the first one of the next call.
    const gaps = [...times, performance.now()].slice(1).map((at, index) => at - times[index]!);
    expect(gaps.every((gap) => gap >= 29)).toBe(true);
    fixture.add(100);
    fixture.deps.settings.paceMs = 60_000;
    const { batches } = await createForwardingActivities(fixture.deps).nextBatches('lapi');
    expect(await call(undefined, batches)).toMatchObject({ done: 1, forwarded: 50, restMs: 60_000 });
  });

  it('sends nothing while forwarding is switched off', async () => {
    const { fixture, call } = await openDesk(100);
    fixture.deps.settings.enabled = false;
    expect(await call()).toMatchObject({ done: 2, forwarded: 0, report: null });
    expect(fixture.offers).toEqual([]);
    expect(fixture.successes()).toBe(0);
  });
});

describe('nextBatches', () => {
  it('says whether more waits than it took up', async () => {
    const fixture = createScriptedForwarding(async () => 0);
    fixture.add(2001);
    const { batches, more } = await fixture.activities.nextBatches('lapi');
    expect(batches.flatMap(({ ids }) => ids)).toEqual(range(1, 2000));
    expect([batches.length, more]).toEqual([40, true]);
    await fixture.deps.alerts.markForwarded(range(1, 2000), new Date());
    expect(await fixture.activities.nextBatches('lapi')).toEqual({
      batches: [{ version: 'v3', ids: [2001] }],
      more: false,
    });
  });
});

describe('toBatches', () => {
  const items = (...sizes: (readonly [bytes: number, version?: 'v2' | 'v3'])[]): WaitingItem[] =>
    sizes.map(([bytes, version = 'v3'], index) => ({ id: index + 1, bytes, version }));

  it('begins another batch at another version, at 50 items and at 4 MiB', () => {
    expect(toBatches([])).toEqual([]);
    expect(toBatches(items([1], [1, 'v2'], [1, 'v2'], [1]))).toEqual([
      { version: 'v3', ids: [1] },
      { version: 'v2', ids: [2, 3] },
      { version: 'v3', ids: [4] },
    ]);
    const many = toBatches(range(1, 101).map((id) => ({ id, bytes: 9, version: 'v3' as const })));
    expect(many.map(({ ids }) => ids.length)).toEqual([50, 50, 1]);
    const large = toBatches(items([3_000_000], [1_000_000], [500_000], [9_000_000], [5]));
    expect(large.map(({ ids }) => ids)).toEqual([[1, 2], [3], [4], [5]]);
  });
});
