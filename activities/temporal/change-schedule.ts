import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';

/** As Temporal's service describes it. */
export type Schedule = NonNullable<
  Awaited<ReturnType<Client['workflowService']['describeSchedule']>>['schedule']
>;

/** A change is looked at after so long: Temporal has applied or dropped it by then, or the next look will tell. */
const LOOK_PAUSE_MS = 100;

function atOnce<T>(call: () => Promise<T>): Promise<T> {
  return call();
}

/**
 * Changes a part of a schedule and keeps the rest. The SDK's `update` writes the whole schedule as it was read, and
 * Temporal applies changes some time after it took them: a pause in between would be lost. So the update names the
 * state that was read (`conflict_token`, `temporal/api/workflowservice/v1/request_response.proto`); the server drops
 * one whose state is no longer the present one, without an error, and it is written anew.
 * @param wanted the schedule as it is to be; null: it is as wanted
 * @param options.ask bounds each call in time
 * @returns false when it was still changing after so many looks
 */
export async function changeSchedule(
  client: Client,
  scheduleId: string,
  wanted: (schedule: Schedule | null | undefined) => Promise<Schedule | null>,
  options: { looks: number; ask?: <T>(call: () => Promise<T>) => Promise<T> },
): Promise<boolean> {
  const { workflowService } = client;
  const { namespace, identity } = client.options;
  const { looks, ask = atOnce } = options;
  let writtenAgainst: string | null = null;
  for (let look = 0; look < looks; look += 1) {
    const { schedule: present, conflictToken } = await ask(() =>
      workflowService.describeSchedule({ namespace, scheduleId }),
    );
    const schedule = await wanted(present);
    if (schedule === null) return true;
    const state = Buffer.from(conflictToken).toString('hex');
    if (state !== writtenAgainst) {
      const update = { namespace, scheduleId, identity, requestId: randomUUID(), conflictToken, schedule };
      await ask(() => workflowService.updateSchedule(update));
    }
    writtenAgainst = state;
    await setTimeout(LOOK_PAUSE_MS);
  }
  return false;
}
