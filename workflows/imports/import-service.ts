import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertMemo,
} from '@temporalio/workflow';
import type { ImportActivities } from '../../activities/imports/import-activities.js';
import type { ImportPosition } from '../../activities/imports/import-slice.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { bulk, quick } from '../activity-profiles.js';
import { causeOf } from '../cause-of.js';
import { notifyDispatcher } from '../documents/notify-dispatcher.js';
import { goesOnAsNew } from '../goes-on-as-new.js';

/** No address and no token: the record of the source has them. */
export interface ImportServiceInput {
  prefix: string;
  runId: string;
  sourceId: string;
  dryRun: boolean;
  requestsPerSecond: number;
  startedBy: string;
  /** Of the tasks that come of it. */
  timeoutMs: number;
  /** Set when a run goes on as a new one. */
  continued?: { position: ImportPosition; paused: boolean };
}

const pauseSignal = defineSignal('pause');
const resumeSignal = defineSignal('resume');
const progressQuery = defineQuery<{ paused: boolean; position: ImportPosition | null }>('progress');

/**
 * Takes over what another service holds, slice by slice. Slices are activities of some seconds, so that a pause takes
 * effect soon, and each starts where the one before ended. What is taken is indexed by the plans of any upload.
 */
export async function importService(input: ImportServiceInput): Promise<Record<string, number>> {
  const taskQueue = taskQueues(input.prefix).migrations;
  const { runImportSlice } = proxyActivities<ImportActivities>({ ...bulk, taskQueue });
  const { beginImport, pauseImport, endImport } = proxyActivities<ImportActivities>({ ...quick, taskQueue });
  const { runId, sourceId, dryRun, requestsPerSecond, startedBy } = input;

  let position = input.continued?.position ?? null;
  let isPaused = input.continued?.paused ?? false;
  setHandler(pauseSignal, () => {
    isPaused = true;
  });
  setHandler(resumeSignal, () => {
    isPaused = false;
  });
  setHandler(progressQuery, () => ({ paused: isPaused, position }));

  const waitForTurn = async (): Promise<void> => {
    if (!isPaused) return;
    setCurrentDetails(`${sourceId}: paused`);
    await pauseImport({ runId, paused: true });
    await condition(() => !isPaused);
    await pauseImport({ runId, paused: false });
  };

  const work = async (): Promise<void> => {
    if (input.continued === undefined) await beginImport({ runId, sourceId, dryRun, startedBy });
    while (position?.phase !== 'done') {
      await waitForTurn();
      const slice = await runImportSlice({ runId, sourceId, dryRun, requestsPerSecond, startedBy, position });
      position = slice.position;
      if (slice.admitted) await notifyDispatcher(input);
      const { phase, done, total, waitMs } = position;
      setCurrentDetails(`${sourceId}: ${phase}, ${done} of ${total ?? 'so many'} files`);
      upsertMemo({ phase, done, total });
      if (goesOnAsNew()) return;
      if (waitMs > 0) await condition(() => isPaused, waitMs);
    }
  };

  setCurrentDetails(`${sourceId}: starting`);
  try {
    await work();
  } catch (error) {
    const end = isCancellation(error)
      ? ({ state: 'cancelled', error: null } as const)
      : ({ state: 'failed', error: causeOf(error) } as const);
    await CancellationScope.nonCancellable(() => endImport({ runId, ...end }));
    throw error;
  }
  if (position !== null && position.phase !== 'done')
    return continueAsNew<typeof importService>({ ...input, continued: { position, paused: isPaused } });
  await CancellationScope.nonCancellable(() => endImport({ runId, state: 'completed', error: null }));
  return position?.figures ?? {};
}
