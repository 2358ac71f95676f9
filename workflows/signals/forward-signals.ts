import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ForwardingActivities } from '../../activities/signals/forwarding-activities.js';
import type { SeveralReport, SignalBatch } from '../../activities/signals/signal-delivery.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { external, quick } from '../activity-profiles.js';
import { decideDelivery } from './decide-delivery.js';
import { answerOf, forwardingWords, freshState, halves, holdOf, nudge } from './forwarding-state.js';
import type { ForwardingState } from './forwarding-state.js';
import { reported, reportedSeveral } from './reported.js';

export interface ForwardSignalsInput {
  /** In front of task queues and workflow ids of this installation. */
  prefix: string;
  watcher: string;
  /** Pause between two batches of an actor that began before the worker kept the pace; 100 ms unless told. */
  paceMs?: number;
  /** How long an actor without work waits for more before it ends; 3 minutes unless told. */
  idleMs?: number;
  /** So many calls that offer, and wakes, then a new run with an empty history; Temporal may ask for it earlier. */
  stepsPerRun?: number;
  /** What the run before left; absent at the start. */
  state?: ForwardingState;
}

export type ForwardingView = ForwardingState & { watcher: string; phase: 'sending' | 'holding' | 'idle' };

/** There may be something new: signals, or a token. Shortens no back-off and no cool-down. */
export const wake = defineSignal('wake');
/** A sweep found something that waits, and knows of no token: unlike `wake` it ends no hold. */
export const look = defineSignal('look');
/** An operator lets the signals of a paused watcher go. */
const resume = defineSignal('resume');
/** CAPI has taken signals of another watcher: a back-off from an outage is cut short. */
export const reachable = defineSignal('reachable');
/** Operator command: the next offer is made now, whatever the actor waits for. */
export const retry = defineSignal('retry');
/** What an operator asks in the Temporal UI. */
const forwardingStatus = defineQuery<ForwardingView>('forwardingStatus');

/**
 * The actor of one watcher: takes up the signals that have waited longest, has them offered to CAPI batch by batch, and
 * goes on by what came of it. It alone sends for this watcher, so order holds. It knows ids, never signals, and they
 * are in its history before they are offered: a batch whose outcome is unknown is offered again with the same ids,
 * hence with the same bytes. Nothing is marked without a 2xx.
 *
 * While signals flow there is no timer: Temporal fires one up to a second late, which is the time of twenty batches.
 */
// eslint-disable-next-line complexity -- the loop of a recorded workflow, whose steps keep their order
export async function forwardSignals(input: ForwardSignalsInput): Promise<ForwardingView> {
  const { watcher, idleMs = 180_000, stepsPerRun = 1000 } = input;
  // Asked once for the whole run: an execution that began with single batches ends its run with them.
  const several = patched('several-batches');
  const taskQueue = taskQueues(input.prefix).alerts;
  const { quarantineSignal, recordHold, markForwarded } = proxyActivities<ForwardingActivities>({
    ...quick,
    taskQueue,
  });
  const { takeUp, offer } = several ? offeringSeveral(watcher, taskQueue) : offeringOne(input, taskQueue);
  const state = input.state ?? freshState();
  let phase: ForwardingView['phase'] = 'sending';
  let woken = false;
  /** Whether the store may hold something that no look has found yet. */
  let unseen = true;
  let lastLook = false;
  /** The end of the hold has moved. */
  let moved = false;
  let steps = 0;
  const view = (): ForwardingView => ({ watcher, phase, ...state });
  const enter = (next: ForwardingView['phase']): void => {
    phase = next;
    setCurrentDetails(forwardingWords(view()));
  };
  const runIsFull = (): boolean => steps >= stepsPerRun || workflowInfo().continueAsNewSuggested;
  const held = (): boolean => state.hold !== null && state.hold.untilMs > Date.now();
  const tokenTold = (): boolean => woken && state.hold?.untilToken === true;
  const told = (): void => {
    woken = true;
    unseen = true;
  };

  enter('sending');
  setHandler(forwardingStatus, view);
  setHandler(wake, () => {
    told();
    steps += 1;
  });
  setHandler(look, () => {
    if (held()) unseen = true;
    else told();
    steps += 1;
  });
  setHandler(resume, () => {
    told();
    if (state.hold?.cause === 'paused') state.hold.untilMs = 0;
  });
  setHandler(reachable, () => {
    nudge(state, Date.now(), Math.random);
    moved = true;
    steps += 1;
  });
  setHandler(retry, () => {
    told();
    state.failures = 0;
    if (state.hold !== null) state.hold.untilMs = 0;
  });

  for (;;) {
    if (state.hold !== null && held()) {
      enter('holding');
      moved = false;
      await condition(() => tokenTold() || !held() || moved || runIsFull(), state.hold.untilMs - Date.now());
      // In the state, because a run that ends here must not take the news with it.
      if (tokenTold()) state.hold.untilMs = 0;
    }
    if (runIsFull()) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof forwardSignals>({ ...input, state });
    }
    if (held()) continue;
    enter('sending');
    // Before the look and the offer: what is told from here on is looked at afterwards.
    woken = false;

    if (state.work.length === 0 && unseen) {
      unseen = false;
      const { batches, more } = await takeUp();
      state.work.push(...batches);
      if (more) unseen = true;
    }
    if (state.work.length === 0) {
      enter('idle');
      if (lastLook && !woken) break;
      state.hold = null;
      // After the wait comes one more look, for signals whose wake was lost.
      lastLook = !(await condition(() => woken, idleMs));
      unseen = true;
      continue;
    }
    lastLook = false;

    steps += 1;
    const { done, forwarded, unmarked, report, restMs } = await offer(state.work);
    state.work.splice(0, done);
    state.forwarded += forwarded;
    // CAPI has them, and this history says so: the marks are set however long the store is away.
    if (unmarked.length > 0) await markForwarded({ watcher, ids: unmarked });
    if (done > 0) {
      state.failures = 0;
      state.hold = null;
      delete state.nudges;
    }
    const decision = report === null ? null : decideDelivery(report, state.failures, Math.random);
    if (report !== null && decision?.step === 'hold') {
      state.failures = decision.growing ? state.failures + 1 : 0;
      state.hold = holdOf(report, decision, state.hold, Date.now());
      // A pause is no error, and the watcher's record says it already.
      if (decision.cause !== 'paused') await recordHold({ watcher, hold: state.hold });
      continue;
    }
    state.failures = 0;
    state.hold = null;
    const refused = state.work[0];
    if (report !== null && decision?.step === 'split' && refused !== undefined) {
      if (refused.ids.length > 1) state.work.splice(0, 1, ...halves(refused));
      else {
        await quarantineSignal({ watcher, id: refused.ids[0]!, ...answerOf(report) });
        state.quarantined += 1;
        state.work.shift();
      }
    }
    if (restMs > 0) await sleep(restMs);
  }
  await condition(allHandlersFinished);
  return view();
}

/** How an actor gets its work and has it offered. */
interface Offering {
  takeUp(): Promise<{ batches: SignalBatch[]; more: boolean }>;
  offer(work: readonly SignalBatch[]): Promise<SeveralReport>;
}

function offeringSeveral(watcher: string, taskQueue: string): Offering {
  const { nextBatches } = proxyActivities<ForwardingActivities>({ ...quick, taskQueue });
  const { sendBatches } = proxyActivities<ForwardingActivities>({ ...external, taskQueue });
  return {
    takeUp: () => nextBatches(watcher),
    offer: (work) => reportedSeveral(() => sendBatches({ watcher, batches: [...work] })),
  };
}

/**
 * For an execution that began before `nextBatches` came: one batch for each call, and the pace kept by a timer below
 * two seconds, which Temporal may fire a second late. Its next run sends several.
 */
function offeringOne({ watcher, paceMs = 100 }: ForwardSignalsInput, taskQueue: string): Offering {
  const { nextBatch } = proxyActivities<ForwardingActivities>({ ...quick, taskQueue });
  const { sendBatch } = proxyActivities<ForwardingActivities>({ ...external, taskQueue });
  return {
    async takeUp() {
      const batch = await nextBatch(watcher);
      return { batches: batch === null ? [] : [batch], more: true };
    },
    async offer([batch]) {
      const none = { done: 0, forwarded: 0, unmarked: [], report: null, restMs: paceMs };
      if (batch === undefined) return none;
      const report = await reported(() => sendBatch({ watcher, ...batch }));
      if (report.outcome === 'nothing') return { ...none, done: 1 };
      if (report.outcome !== 'accepted') return { ...none, report };
      const unmarked = report.marked ? [] : batch.ids;
      return { ...none, done: 1, forwarded: report.count, unmarked };
    },
  };
}
