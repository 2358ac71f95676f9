import { defaultPayloadConverter } from '@temporalio/common';
import type { RunningStack } from '../support/running-stack.js';

/** Where the time of one workflow went, in milliseconds. */
export interface WorkflowTimes {
  /** From its start to its end. */
  total: number;
  /**
   * Inside each activity, from the start of the last attempt to its completion; of one within a task of the plan, from
   * when it was asked for, which is all that the history says.
   */
  activities: Record<string, number>;
  /** What is left: waiting for a slot, workflow tasks, and Temporal's own work. */
  rest: number;
}

type Time = { seconds?: unknown; nanos?: number | null } | null | undefined;

/** What a marker of the SDK says of a local activity. */
interface LocalActivity {
  activity_type: string;
  original_schedule_time: { seconds: number; nanos: number };
}

function milliseconds(time: Time): number {
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}

/** Reads the times from the workflow's history. @throws Error of Temporal when there is no such workflow */
export async function workflowTimes(stack: RunningStack, workflowId: string): Promise<WorkflowTimes> {
  const { events } = await stack.temporal.workflow.getHandle(workflowId).fetchHistory();
  const names = new Map<string, string>();
  const begun = new Map<string, number>();
  const activities: Record<string, number> = {};
  for (const event of events ?? []) {
    const at = milliseconds(event.eventTime);
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled != null) names.set(String(event.eventId), scheduled.activityType?.name ?? '');
    const started = event.activityTaskStartedEventAttributes;
    if (started != null) begun.set(String(started.scheduledEventId), at);
    const data = event.markerRecordedEventAttributes?.details?.['data']?.payloads?.[0];
    if (event.markerRecordedEventAttributes?.markerName === 'core_local_activity' && data != null) {
      const { activity_type: name, original_schedule_time: asked } =
        defaultPayloadConverter.fromPayload<LocalActivity>(data);
      activities[name] = (activities[name] ?? 0) + at - milliseconds(asked);
    }
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed != null) {
      const id = String(completed.scheduledEventId);
      const name = names.get(id) ?? '';
      activities[name] = (activities[name] ?? 0) + at - (begun.get(id) ?? at);
    }
  }
  const total = milliseconds(events?.at(-1)?.eventTime) - milliseconds(events?.[0]?.eventTime);
  const spent = Object.values(activities).reduce((sum, time) => sum + time, 0);
  return { total, activities, rest: total - spent };
}
