import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ParentClosePolicy,
  getExternalWorkflowHandle,
  patched,
  proxyActivities,
  setCurrentDetails,
  startChild,
} from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/workflow';
import type { ForwardingActivities } from '../../activities/signals/forwarding-activities.js';
import type { MetricsActivities } from '../../activities/signals/metrics-activities.js';
import { forwardWorkflowId, metricsWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { quick } from '../activity-profiles.js';
import { forwardMetrics } from './forward-metrics.js';
import { forwardSignals, look, reachable, wake } from './forward-signals.js';

export interface SweepForwardingInput {
  prefix: string;
}

/**
 * The net under the gateway: hands over signals, and metrics, that were stored while Temporal was away, or by a gateway
 * that died before it could tell the actor; and cuts the back-off of watchers short when CAPI takes signals of others.
 * Each takes a bounded share; the next turn of `upkeepSignals` takes those behind it.
 */
export async function sweepForwarding(
  input: SweepForwardingInput,
): Promise<{ started: number; woken: number }> {
  const { watchersWaiting, needlesslyHeld } = proxyActivities<ForwardingActivities>({
    ...quick,
    taskQueue: taskQueues(input.prefix).alerts,
  });
  const result = { started: 0, woken: 0 };
  // Each turn of a sweep would have those without a token offer again: `wake` says that there may be one.
  const word = patched('look') ? look : wake;
  const startOrTell = async (
    actor: typeof forwardSignals | typeof forwardMetrics,
    workflowId: string,
    watcher: string,
    what: 'signals' | 'metrics',
  ): Promise<void> => {
    try {
      await startChild(actor, {
        workflowId,
        parentClosePolicy: ParentClosePolicy.ABANDON,
        args: [{ prefix: input.prefix, watcher }],
        staticSummary: `${what} of ${watcher}`,
      });
      result.started += 1;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      if (await told(workflowId, word)) result.woken += 1;
    }
  };
  setCurrentDetails('looks for signals and metrics that no plan forwards');
  for (const watcher of await watchersWaiting())
    await startOrTell(forwardSignals, forwardWorkflowId(input.prefix, watcher), watcher, 'signals');
  // A sweep that was under way when this was added goes on without it; the next one does it.
  if (!patched('metrics')) return result;
  const { watchersHolding } = proxyActivities<MetricsActivities>({
    ...quick,
    taskQueue: taskQueues(input.prefix).alerts,
  });
  for (const watcher of await watchersHolding())
    await startOrTell(forwardMetrics, metricsWorkflowId(input.prefix, watcher), watcher, 'metrics');
  if (!patched('reachable')) return result;
  for (const watcher of await needlesslyHeld())
    if (await told(forwardWorkflowId(input.prefix, watcher), reachable)) result.woken += 1;
  return result;
}

/** An actor that ended between the two calls is started by the next run. */
async function told(workflowId: string, word: SignalDefinition): Promise<boolean> {
  try {
    await getExternalWorkflowHandle(workflowId).signal(word);
    return true;
  } catch (error) {
    if (CancellationScope.current().consideredCancelled) throw error;
    return false;
  }
}
