import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { WorkflowHandleWithSignaledRunId } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { ForwardingActivities } from '../../activities/signals/forwarding-activities.js';
import { forwardWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import type {
  ForwardSignalsInput,
  ForwardingView,
  forwardSignals,
} from '../../workflows/signals/forward-signals.js';
import { createScriptedForwarding, ok, refusal } from '../support/scripted-forwarding.js';
import type { ScriptedForwarding } from '../support/scripted-forwarding.js';
import { until } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
let env: TestWorkflowEnvironment;
let serial = 0;

type Handle = WorkflowHandleWithSignaledRunId<typeof forwardSignals>;

interface Stage {
  fixture: ScriptedForwarding;
  /** As the gateway tells the actor. */
  wake(word?: 'wake' | 'resume' | 'retry'): Promise<Handle>;
}

/** Runs the real plan and hands over stores in memory and a scripted CAPI, on Temporal's test server. */
async function onStage<T>(
  use: (stage: Stage) => Promise<T>,
  options: { input?: Partial<ForwardSignalsInput>; override?: Partial<ForwardingActivities> } = {},
): Promise<T> {
  const prefix = `forward-${(serial += 1)}-`;
  const fixture = createScriptedForwarding(() => env.currentTimeMs());
  const taskQueue = taskQueues(prefix).alerts;
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { ...fixture.activities, ...options.override },
    maxHeartbeatThrottleInterval: 100,
  });
  const send = (signal: string): Promise<Handle> =>
    env.client.workflow.signalWithStart<typeof forwardSignals>('forwardSignals', {
      workflowId: forwardWorkflowId(prefix, 'lapi'),
      taskQueue,
      args: [{ prefix, watcher: 'lapi', ...options.input }],
      signal,
    });
  // The test server looks for a run and signals it, or starts one, in two steps: it refuses when the run ends between
  // them, and when the run has continued as new. The real server does both at once.
  const wake: Stage['wake'] = async (word = 'wake') => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send(word);
      } catch (error) {
        const refused =
          error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError;
        if (!refused || attempt === 5) throw error;
      }
    }
  };
  return worker.runUntil(() => use({ fixture, wake }));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

function gaps(fixture: ScriptedForwarding): number[] {
  return fixture.offers.slice(1).map((offer, i) => offer.atMs - fixture.offers[i]!.atMs);
}

function viewOf(handle: Handle): Promise<ForwardingView> {
  return handle.query<ForwardingView>('forwardingStatus');
}

/** The actor has continued as new. */
function anotherRun(handle: Handle): Promise<unknown> {
  return until('a new run', async () => {
    const { runId } = await env.client.workflow.getHandle(handle.workflowId).describe();
    return runId !== handle.signaledRunId;
  });
}

async function open(): Promise<void> {
  env = await timeSkippingEnvironment();
}

function close(): Promise<void> {
  return env.teardown();
}

describe('forwardSignals', () => {
  beforeAll(open, 60_000);
  afterAll(close);

  it('sends in order, at most 50 at a time, each on its version, and completes when idle', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(60);
      fixture.add(3, { version: 'v2' });
      fixture.add(2);
      const view = await (await wake()).result();
      expect(fixture.offers.map(({ version, ids }) => [version, ids.length])).toEqual([
        ['v3', 50],
        ['v3', 10],
        ['v2', 3],
        ['v3', 2],
      ]);
      expect(fixture.accepted).toEqual(range(1, 65));
      expect(fixture.ids('forwarded')).toEqual(range(1, 65));
      expect(view).toMatchObject({ phase: 'idle', forwarded: 65, quarantined: 0, hold: null, work: [] });
    });
  });

  it('offers many batches in one step, without a timer between them', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(2100);
      const handle = await wake();
      await until('all is sent', async () => fixture.accepted.length === 2100);
      await until('idle', async () => (await viewOf(handle)).phase === 'idle');
      const { events } = await handle.fetchHistory();
      const steps = (events ?? []).flatMap(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
      );
      expect(steps).toEqual(['nextBatches', 'sendBatches', 'nextBatches', 'sendBatches']);
      const timers = (events ?? []).filter((event) => event.timerStartedEventAttributes != null);
      // That of the idle actor.
      expect(timers).toHaveLength(1);
      await handle.result();
      expect(fixture.accepted).toEqual(range(1, 2100));
    });
  });

  it('keeps a long pace by a timer of its own', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.deps.settings.paceMs = MINUTE;
      fixture.add(150);
      await (await wake()).result();
      expect(fixture.accepted).toEqual(range(1, 150));
      expect(gaps(fixture).every((gap) => gap >= MINUTE)).toBe(true);
    });
  });

  it('bounds a batch by its bytes, and sends a single item that is larger', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(5, { bytes: 1_500_000 });
      fixture.add(1, { bytes: 5_000_000 });
      await (await wake()).result();
      expect(fixture.offers.map(({ ids }) => ids)).toEqual([[1, 2], [3, 4], [5], [6]]);
    });
  });

  it('outlasts hours of 5xx: the same bytes again and again, later and later', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(3);
      const from = await env.currentTimeMs();
      fixture.answer(({ atMs }) => (atMs - from < 5 * HOUR ? refusal(503) : ok));
      await (await wake()).result();
      expect(fixture.accepted).toEqual([1, 2, 3]);
      expect(new Set(fixture.offers.map((offer) => offer.body)).size).toBe(1);
      const waits = gaps(fixture);
      expect(waits[0]).toBeLessThan(2 * SECOND);
      expect(Math.max(...waits)).toBeLessThan(5 * MINUTE + 10 * SECOND);
      expect(Math.min(...waits.slice(12))).toBeGreaterThanOrEqual(2.5 * MINUTE);
      expect(fixture.errors[0]).toMatchObject({ cause: 'server-error', status: 503, message: 'answer 503' });
      expect(fixture.errors.at(-1)!.nextAttemptAt!.getTime()).toBeGreaterThan(from + 4 * HOUR);
      expect(fixture.successes()).toBe(1);
    });
  });

  it.each([
    ['unreachable', { outcome: 'unreachable', message: 'ECONNREFUSED' } as const],
    ['unknown', { outcome: 'unknown', message: 'hung up' } as const],
    ['408', refusal(408)],
    ['a redirect', refusal(301)],
  ])('offers the same batch again: %s', async (_name, result) => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(4);
      fixture.answer(({ number }) => {
        // What arrives in between does not change the batch.
        if (number === 1) fixture.add(2);
        return number < 4 ? result : ok;
      });
      await (await wake()).result();
      expect(fixture.offers.map(({ ids }) => ids)).toEqual([...Array(4).fill([1, 2, 3, 4]), [5, 6]]);
      expect(new Set(fixture.offers.slice(0, 4).map(({ body }) => body)).size).toBe(1);
      expect(fixture.accepted).toEqual(range(1, 6));
    });
  });

  it.each([
    ['429 with Retry-After', refusal(429, 40 * MINUTE), 40 * MINUTE, 'rate-limited'],
    ['429 without', refusal(429), MINUTE, 'rate-limited'],
    ['403 without Retry-After', refusal(403), HOUR, 'forbidden'],
    ['403 with', refusal(403, 2 * HOUR), 2 * HOUR, 'forbidden'],
    ['503 with Retry-After', refusal(503, 10 * MINUTE), 10 * MINUTE, 'server-error'],
  ] as const)(
    'cools down: %s, whoever wakes it, with the same token',
    async (_name, result, least, cause) => {
      await onStage(async ({ fixture, wake }) => {
        fixture.add(2);
        fixture.answer(({ number }) => (number === 1 ? result : ok));
        const handle = await wake();
        await until('holding', async () => fixture.errors.length === 1);
        for (let i = 0; i < 5; i += 1) await wake();
        expect((await handle.query<ForwardingView>('forwardingStatus')).phase).toBe('holding');
        await handle.result();
        expect(fixture.offers).toHaveLength(2);
        expect(gaps(fixture)[0]).toBeGreaterThanOrEqual(least);
        expect(gaps(fixture)[0]).toBeLessThan(least + MINUTE);
        expect(fixture.errors).toMatchObject([{ cause }]);
        expect(new Set(fixture.offers.map(({ token }) => token))).toEqual(new Set(['token-1']));
      });
    },
  );

  it.each([
    ['unreachable', { outcome: 'unreachable', message: 'ECONNREFUSED' } as const, true],
    ['unknown', { outcome: 'unknown', message: 'hung up' } as const, true],
    ['503', refusal(503), true],
    ['503 with Retry-After', refusal(503, 3 * MINUTE), false],
    ['429 with Retry-After', refusal(429, 3 * MINUTE), false],
    ['403 with Retry-After', refusal(403, 3 * MINUTE), false],
    ['401', refusal(401), false],
  ] as const)('is told that CAPI takes signals of others: %s', async (_name, result, believes) => {
    // Far into an outage: a back-off of two and a half to five minutes.
    const state = { work: [], failures: 12, hold: null, forwarded: 0, quarantined: 0 };
    await onStage(
      async ({ fixture, wake }) => {
        fixture.add(2);
        fixture.answer(({ number }) => (number === 1 ? result : ok));
        const handle = await wake();
        await until('holding', async () => fixture.errors.length === 1);
        for (let i = 0; i < 3; i += 1) await handle.signal('reachable');
        if (believes) {
          await handle.result();
          expect(gaps(fixture)[0]).toBeLessThan(20 * SECOND);
        } else {
          fixture.tokens.push('token-2');
          await handle.result();
          expect(gaps(fixture)[0]).toBeGreaterThan(2 * MINUTE);
        }
        expect(fixture.accepted).toEqual([1, 2]);
      },
      { input: { state } },
    );
  });

  it('believes less and less that CAPI is back when its own offers go on failing', async () => {
    const state = { work: [], failures: 12, hold: null, forwarded: 0, quarantined: 0 };
    await onStage(
      async ({ fixture, wake }) => {
        fixture.add(1);
        fixture.answer(({ number }) => (number < 5 ? refusal(503) : ok));
        const handle = await wake();
        const waits = [0, 30, 90];
        for (const [index, least] of waits.entries()) {
          await until('holding', async () => fixture.errors.length === index + 1);
          // As each turn of the sweep does.
          await handle.signal('reachable');
          await handle.signal('reachable');
          await env.sleep((least + 10) * SECOND);
          await until('offered again', async () => fixture.offers.length === index + 2);
        }
        await until('holding', async () => fixture.errors.length === 4);
        await handle.signal('reachable');
        await handle.result();
        const between = gaps(fixture);
        for (const [index, least] of waits.entries()) {
          expect(between[index]).toBeGreaterThanOrEqual(least * SECOND);
          expect(between[index]).toBeLessThan((least + 20) * SECOND);
        }
        expect(between[3]).toBeGreaterThanOrEqual(2.5 * MINUTE);
      },
      { input: { state } },
    );
  });

  it('waits after a 401 for a newer token, and never offers the refused one again', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(2);
      fixture.answer(({ token }) => (token === 'token-1' ? refusal(401) : ok));
      const handle = await wake();
      await until('holding', async () => fixture.errors.length >= 1);
      // Signals without a new login change nothing.
      await wake();
      await until('looked', async () => fixture.errors.length >= 2);
      expect(fixture.offers).toHaveLength(1);
      fixture.tokens.push('token-2');
      await wake();
      await until('sent', async () => fixture.accepted.length === 2);
      expect(fixture.offers.map(({ token }) => token)).toEqual(['token-1', 'token-2']);
      expect(new Set(fixture.errors.map(({ cause }) => cause))).toEqual(new Set(['unauthorized']));
      await handle.result();
    });
  });

  it('goes on without what was given up meanwhile, and marks what CAPI took of it', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(130);
      const discard = () => {
        for (const item of fixture.items) if (item.state === 'waiting') item.state = 'discarded';
      };
      fixture.answer(({ number }) => {
        if (number > 1) return ok;
        discard();
        fixture.add(1);
        return refusal(503);
      });
      const handle = await wake();
      await handle.result();
      // The rest of what it had taken up is passed over without an offer.
      expect(fixture.offers.map(({ ids }) => ids)).toEqual([range(1, 50), [131]]);
      fixture.add(10);
      fixture.answer(() => {
        discard();
        return ok;
      });
      await (await wake()).result();
      expect(fixture.ids('forwarded')).toEqual(range(131, 141));
      expect(fixture.ids('discarded')).toEqual(range(1, 130));
    });
  });

  it('finds a token by itself when nobody told', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(1);
      fixture.tokens.length = 0;
      const from = await env.currentTimeMs();
      const handle = await wake();
      await until('holding', async () => fixture.errors.length === 1);
      expect(fixture.errors[0]).toMatchObject({ cause: 'no-token', status: null });
      fixture.tokens.push('late');
      await handle.result();
      expect(fixture.accepted).toEqual([1]);
      expect(fixture.offers[0]!.atMs - from).toBeGreaterThanOrEqual(5 * MINUTE);
    });
  });

  it.each([400, 413, 422])(
    'isolates exactly the items that CAPI answers %i to, and keeps the order',
    async (status) => {
      await onStage(async ({ fixture, wake }) => {
        const bad = [1, 17, 18, 50, 52];
        fixture.add(55);
        fixture.answer(({ ids }) => (ids.some((id) => bad.includes(id)) ? refusal(status) : ok));
        const view = await (await wake()).result();
        expect(fixture.ids('quarantined')).toEqual(bad);
        expect(fixture.accepted).toEqual(range(1, 55).filter((id) => !bad.includes(id)));
        expect(fixture.items[16]?.reason).toBe(`CAPI answered ${status}: answer ${status}`);
        expect(
          fixture.errors.every(({ cause, nextAttemptAt }) => cause === 'refused' && nextAttemptAt === null),
        ).toBe(true);
        expect(view).toMatchObject({ forwarded: 50, quarantined: 5 });
      });
    },
  );

  it('does not repeat what CAPI took when the store fails before the marks are set', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(2);
      const mark = fixture.deps.alerts.markForwarded;
      let failures = 5;
      fixture.deps.alerts.markForwarded = async (...args) => {
        if ((failures -= 1) >= 0) throw new Error('the store is away');
        await mark(...args);
      };
      await (await wake()).result();
      expect(fixture.offers).toHaveLength(1);
      expect(fixture.ids('forwarded')).toEqual([1, 2]);
    });
  });

  it('sends nothing while forwarding is switched off', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.deps.settings.enabled = false;
      fixture.add(2);
      expect(await (await wake()).result()).toMatchObject({ phase: 'idle', forwarded: 0 });
      expect(fixture.offers).toHaveLength(0);
      expect(await fixture.activities.watchersWaiting()).toEqual([]);
    });
  });
});

// A server for each test: after wakes that crossed a new run or an end its clock stood still for the next test.
describe('forwardSignals, from run to run', () => {
  beforeEach(open, 60_000);
  afterEach(close);

  it('keeps the parts of a split through a failure in the middle and a new run at every step', async () => {
    await onStage(
      async ({ fixture, wake }) => {
        fixture.add(12);
        fixture.answer(({ number, ids }) =>
          number % 3 === 0 ? refusal(500) : ids.includes(7) ? refusal(400) : ok,
        );
        const handle = await wake();
        await until('all decided', async () => fixture.ids('waiting').length === 0);
        expect(fixture.accepted).toEqual(range(1, 12).filter((id) => id !== 7));
        expect(fixture.ids('quarantined')).toEqual([7]);
        await anotherRun(handle);
        await handle.result();
      },
      { input: { stepsPerRun: 1 } },
    );
  });

  it('keeps a cool-down through a new run, and a storm of wakes does not shorten it', async () => {
    await onStage(
      async ({ fixture, wake }) => {
        fixture.add(2);
        fixture.answer(({ number }) => (number === 1 ? refusal(403) : ok));
        const handle = await wake();
        await until('holding', async () => fixture.errors.length === 1);
        await Promise.all(range(1, 40).map(() => wake()));
        await anotherRun(handle);
        await handle.result();
        expect(fixture.accepted).toEqual([1, 2]);
        expect(fixture.offers).toHaveLength(2);
        expect(gaps(fixture)[0]).toBeGreaterThanOrEqual(HOUR);
      },
      { input: { stepsPerRun: 7 } },
    );
  });

  it('loses nothing when signals and wakes keep coming while it works, pauses, continues as new and ends', async () => {
    await onStage(
      async ({ fixture, wake }) => {
        let handle = await wake();
        for (let i = 0; i < 60; i += 1) {
          fixture.add(1 + (i % 3));
          handle = await wake();
          if (i % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 30));
        }
        await handle.result();
        await until('all sent', async () => fixture.ids('waiting').length === 0);
        expect(fixture.accepted).toEqual(range(1, fixture.items.length));
      },
      { input: { stepsPerRun: 5, idleMs: 1 } },
    );
  });

  it('starts anew after it has completed', async () => {
    await onStage(async ({ fixture, wake }) => {
      fixture.add(1);
      const first = await wake();
      await first.result();
      fixture.add(2);
      const second = await wake();
      expect(second.signaledRunId).not.toBe(first.signaledRunId);
      await second.result();
      expect(fixture.accepted).toEqual([1, 2, 3]);
    });
  });

  it('looks once more before it ends, so that signals whose wake was lost are sent', async () => {
    await onStage(async ({ fixture, wake }) => {
      const handle = await wake();
      await until(
        'idle',
        async () => (await handle.query<ForwardingView>('forwardingStatus')).phase === 'idle',
      );
      fixture.add(2);
      await handle.result();
      expect(fixture.accepted).toEqual([1, 2]);
    });
  });

  it('offers the same ids again when the worker died in the middle of sending', async () => {
    const given: number[][][] = [];
    let fixture: ScriptedForwarding | undefined;
    await onStage(
      async (stage) => {
        fixture = stage.fixture;
        fixture.add(120);
        const view = await (await stage.wake()).result();
        const rest = [range(51, 100), range(101, 120)];
        // What the heartbeat told is over is not given out again.
        expect(given).toEqual([[range(1, 50), ...rest], rest]);
        expect(fixture.accepted).toEqual(range(1, 120));
        expect(fixture.errors).toMatchObject([{ cause: 'network' }]);
        expect(view.forwarded).toBe(120);
      },
      {
        override: {
          sendBatches: async (work) => {
            given.push(work.batches.map(({ ids }) => ids));
            if (given.length > 1) return fixture!.activities.sendBatches(work);
            const report = await fixture!.activities.sendBatches({
              ...work,
              batches: work.batches.slice(0, 1),
            });
            // No more heartbeats and no answer: to the server this worker is dead.
            await until('taken for dead', async () => given.length > 1);
            return report;
          },
        },
      },
    );
  }, 90_000);

  describe('an operator', () => {
    it('pauses a watcher: nothing is offered until it is resumed, and then everything in order', () =>
      onStage(async ({ fixture, wake }) => {
        fixture.pause();
        fixture.add(60);
        const handle = await wake();
        await until('the actor stands', async () => (await viewOf(handle)).hold?.cause === 'paused');
        await wake();
        fixture.add(1);
        expect(fixture.offers).toHaveLength(0);
        expect(fixture.errors).toEqual([]);
        fixture.pause(null);
        const from = await env.currentTimeMs();
        await wake('resume');
        await until('all is sent', async () => fixture.accepted.length === 61);
        expect(fixture.accepted).toEqual(range(1, 61));
        // The word was enough: the actor did not wait for its own next look.
        expect(fixture.offers[0]!.atMs - from).toBeLessThan(MINUTE);
      }));

    it('finds a pause whose end nobody told of', () =>
      onStage(async ({ fixture, wake }) => {
        fixture.pause();
        fixture.add(1);
        const handle = await wake();
        await until('the actor stands', async () => (await viewOf(handle)).hold?.cause === 'paused');
        fixture.pause(null);
        await handle.result();
        expect(fixture.accepted).toEqual([1]);
      }));

    it('ends a cool-down', () =>
      onStage(async ({ fixture, wake }) => {
        fixture.answer(({ number }) => (number === 1 ? refusal(403) : ok));
        fixture.add(1);
        const handle = await wake();
        await until('the actor holds', async () => (await viewOf(handle)).hold?.cause === 'forbidden');
        await wake();
        expect(fixture.offers).toHaveLength(1);
        await wake('retry');
        await until('it is sent', async () => fixture.accepted.length === 1);
        expect(gaps(fixture)[0]).toBeLessThan(HOUR / 2);
      }));
  });
});
