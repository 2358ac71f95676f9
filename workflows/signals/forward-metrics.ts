import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { MetricsActivities } from '../../activities/signals/metrics-activities.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { external, quick } from '../activity-profiles.js';
import { decideDelivery } from './decide-delivery.js';
import { look, retry, wake } from './forward-signals.js';
import { answerOf, holdOf, holdWords } from './forwarding-state.js';
import type { Hold } from './forwarding-state.js';
import { reported } from './reported.js';

export interface ForwardMetricsInput {
  prefix: string;
  watcher: string;
  /** Pause between two bodies; 1 s unless told. */
  paceMs?: number;
  /** Pause behind one part of a larger body; a minute unless told (proxy spec, 4.5). */
  partPaceMs?: number;
  /** So many offers and wakes, then a new run with an empty history; Temporal may ask for it earlier. */
  stepsPerRun?: number;
  /** What the run before left; absent at the start. */
  state?: MetricsState;
}

/** Plain JSON: why the queue stands, and what came of the rest. */
export interface MetricsState {
  failures: number;
  hold: Hold | null;
  sent: number;
  refused: number;
}

/**
 * A timer below two seconds, which Temporal may fire a second late. It delays nothing: metrics that CAPI can be given
 * are sent as they come, and what was held is sent later at a pace that CAPI does not notice.
 */
const BODY_PACE_MS = 1000;
/** Between the parts of a larger body (proxy spec, 4.5). */
const PART_PACE_MS = 60_000;

const metricsStatus = defineQuery<MetricsState>('metricsStatus');

/**
 * Sends what a watcher's metrics CAPI could not be given when they came, the oldest first, and ends when nothing is
 * left. It is started again when more are held.
 */
// eslint-disable-next-line complexity -- the loop of a recorded workflow, whose steps keep their order
export async function forwardMetrics(input: ForwardMetricsInput): Promise<MetricsState> {
  const { watcher, paceMs = BODY_PACE_MS, partPaceMs = PART_PACE_MS, stepsPerRun = 500 } = input;
  const taskQueue = taskQueues(input.prefix).alerts;
  const { sendMetrics } = proxyActivities<MetricsActivities>({ ...external, taskQueue });
  const { nextMetrics, removeMetrics, refuseMetrics } = proxyActivities<MetricsActivities>({
    ...quick,
    taskQueue,
  });
  const state: MetricsState = input.state ?? { failures: 0, hold: null, sent: 0, refused: 0 };
  let woken = false;
  let steps = 0;
  const runIsFull = (): boolean => steps >= stepsPerRun || workflowInfo().continueAsNewSuggested;
  const waits = (): boolean => state.hold !== null && state.hold.untilMs > Date.now();

  const describe = (): void => {
    const { hold, sent, refused } = state;
    const now = hold !== null && waits() ? holdWords(hold) : 'sending';
    setCurrentDetails(`${now}; ${sent} sent, ${refused} refused`);
  };

  describe();
  setHandler(metricsStatus, () => state);
  setHandler(wake, () => {
    woken = true;
    steps += 1;
    // It may tell of a newer token; no back-off and no cool-down is shortened.
    if (state.hold?.untilToken === true) state.hold.untilMs = 0;
  });
  setHandler(look, () => {
    woken = true;
    steps += 1;
  });
  setHandler(retry, () => {
    woken = true;
    state.failures = 0;
    if (state.hold !== null) state.hold.untilMs = 0;
  });

  for (;;) {
    describe();
    if (state.hold !== null && waits())
      await condition(() => !waits() || runIsFull(), state.hold.untilMs - Date.now());
    if (runIsFull()) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof forwardMetrics>({ ...input, state });
    }
    if (waits()) continue;
    woken = false;
    const next = await nextMetrics(watcher);
    if (next === null) {
      if (woken) continue;
      break;
    }
    steps += 1;
    const report = await reported(() => sendMetrics({ watcher, id: next.id }));
    const decision = decideDelivery(report, state.failures, Math.random);
    if (decision.step === 'hold') {
      state.failures = decision.growing ? state.failures + 1 : 0;
      state.hold = holdOf(report, decision, state.hold, Date.now());
      continue;
    }
    state.failures = 0;
    state.hold = null;
    if (decision.step === 'split') {
      const { status, message } = answerOf(report);
      await refuseMetrics(next.id, `CAPI answered ${status}: ${message}`);
      state.refused += 1;
    } else if (report.outcome === 'accepted') {
      if (!report.marked) await removeMetrics(next.id);
      state.sent += 1;
    }
    await sleep(next.part ? partPaceMs : paceMs);
  }
  await condition(allHandlersFinished);
  return state;
}
