import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ForwardingActivities } from '../activities/forwarding-activities.js';
import { taskQueues } from '../schemas/task-queues.js';
import { external, quick } from './activity-profiles.js';
import { decideDelivery } from './decide-delivery.js';
import { answerOf, freshState, halves, holdOf } from './forwarding-state.js';
import type { ForwardingState } from './forwarding-state.js';
import { reported } from './reported.js';

export interface ForwardSignalsInput {
  /** In front of task queues and workflow ids of this installation. */
  prefix: string;
  watcher: string;
  /** Pause between two batches; 100 ms unless told. */
  paceMs?: number;
  /** How long an actor without work waits for more before it ends; 3 minutes unless told. */
  idleMs?: number;
  /** So many offers and wakes, then a new run with an empty history; Temporal may ask for it earlier. */
  stepsPerRun?: number;
  /** What the run before left; absent at the start. */
  state?: ForwardingState;
}

export type ForwardingView = ForwardingState & { watcher: string; phase: 'sending' | 'holding' | 'idle' };

/** There may be something new: signals, or a token. Shortens no back-off and no cool-down. */
export const wake = defineSignal('wake');
/** An operator lets the signals of a paused watcher go. */
const resume = defineSignal('resume');
/** An operator wants the next offer now, whatever the actor waits for. */
const retry = defineSignal('retry');
/** What an operator asks in the Temporal UI. */
const forwardingStatus = defineQuery<ForwardingView>('forwardingStatus');

/**
 * The actor of one watcher: takes the oldest waiting signals, offers them to CAPI, and goes on by what came of it.
 * It alone sends for this watcher, so order holds. It knows ids, never signals, and marks nothing without a 2xx: a
 * batch whose outcome is unknown is offered again with the same ids, hence with the same bytes.
 */
export async function forwardSignals(input: ForwardSignalsInput): Promise<ForwardingView> {
  const { watcher, paceMs = 100, idleMs = 180_000, stepsPerRun = 1000 } = input;
  const taskQueue = taskQueues(input.prefix).alerts;
  const { sendBatch } = proxyActivities<ForwardingActivities>({ ...external, taskQueue });
  const { nextBatch, markForwarded, quarantineSignal, recordHold } = proxyActivities<ForwardingActivities>({
    ...quick,
    taskQueue,
  });
  const state = input.state ?? freshState();
  let phase: ForwardingView['phase'] = 'sending';
  let woken = false;
  let lastLook = false;
  let steps = 0;
  const view = (): ForwardingView => ({ watcher, phase, ...state });
  const runIsFull = (): boolean => steps >= stepsPerRun || workflowInfo().continueAsNewSuggested;
  const held = (): boolean => state.hold !== null && state.hold.untilMs > Date.now();
  const tokenTold = (): boolean => woken && state.hold?.untilToken === true;

  setHandler(forwardingStatus, view);
  setHandler(wake, () => {
    woken = true;
    steps += 1;
  });

  setHandler(resume, () => {
    woken = true;
    if (state.hold?.cause === 'paused') state.hold.untilMs = 0;
  });
  setHandler(retry, () => {
    woken = true;
    state.failures = 0;
    if (state.hold !== null) state.hold.untilMs = 0;
  });

  for (;;) {
    if (state.hold !== null && held()) {
      phase = 'holding';
      await condition(() => tokenTold() || !held() || runIsFull(), state.hold.untilMs - Date.now());
      // In the state, because a run that ends here must not take the news with it.
      if (tokenTold()) state.hold.untilMs = 0;
    }
    if (runIsFull()) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof forwardSignals>({ ...input, state });
    }
    if (held()) continue;
    phase = 'sending';
    // Before the look and the offer: what is told from here on is looked at afterwards.
    woken = false;

    if (state.work.length === 0) {
      const batch = await nextBatch(watcher);
      if (batch !== null) state.work.push(batch);
    }
    const batch = state.work[0];
    if (batch === undefined) {
      phase = 'idle';
      if (lastLook && !woken) break;
      state.hold = null;
      // After the wait comes one more look, for signals whose wake was lost.
      lastLook = !(await condition(() => woken, idleMs));
      continue;
    }
    lastLook = false;

    steps += 1;
    const report = await reported(() => sendBatch({ watcher, ...batch }));
    const decision = decideDelivery(report, state.failures, Math.random);
    if (decision.step === 'hold') {
      state.failures = decision.growing ? state.failures + 1 : 0;
      state.hold = holdOf(report, decision, state.hold, Date.now());
      // A pause is no fault of anybody, and the watcher's record says it already.
      if (decision.cause !== 'paused') await recordHold({ watcher, hold: state.hold });
      continue;
    }
    state.failures = 0;
    state.hold = null;
    if (decision.step === 'split' && batch.ids.length > 1) state.work.splice(0, 1, ...halves(batch));
    else {
      if (decision.step === 'split') {
        await quarantineSignal({ watcher, id: batch.ids[0]!, ...answerOf(report) });
        state.quarantined += 1;
      } else if (report.outcome === 'accepted') {
        // CAPI has it, and this history says so: the marks are set however long the store is away.
        if (!report.marked) await markForwarded({ watcher, ids: batch.ids });
        state.forwarded += report.count;
      }
      state.work.shift();
    }
    if (paceMs > 0) await sleep(paceMs);
  }
  await condition(allHandlersFinished);
  return view();
}
