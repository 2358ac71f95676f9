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
import type { SwapActivities, SwapPosition } from '../../activities/documents/swap-activities.js';
import type { SwapStart, SwapStatus } from '../../schemas/documents/embedder-swaps.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { model, quick } from '../activity-profiles.js';
import { causeOf } from '../cause-of.js';
import { goesOnAsNew } from '../goes-on-as-new.js';

export interface SwapEmbedderInput {
  prefix: string;
  swap: SwapStart;
  /** Set when a run goes on as a new one. */
  continued?: { position: SwapPosition; paused: boolean };
}

/** What the query answers. */
export interface SwapProgressAnswer {
  paused: boolean;
  position: SwapPosition | null;
}

const pauseSignal = defineSignal('pause');
const resumeSignal = defineSignal('resume');
const progressQuery = defineQuery<SwapProgressAnswer>('progress');

/**
 * Moves a partition to another embedder, slice by slice: vectors beside those there are, a measurement, the switch, and
 * what was published in its moment. A cancel is obeyed until the switch.
 */
export async function swapEmbedder(input: SwapEmbedderInput): Promise<Exclude<SwapStatus, 'running'>> {
  const { swap } = input;
  const swapId = swap.swap_id;
  const taskQueue = taskQueues(input.prefix).models;
  const { runEmbedderSwapSlice } = proxyActivities<SwapActivities>({ ...model, taskQueue });
  const { beginEmbedderSwap, endEmbedderSwap } = proxyActivities<SwapActivities>({ ...quick, taskQueue });

  let position = input.continued?.position ?? null;
  let isPaused = input.continued?.paused ?? false;
  setHandler(pauseSignal, () => {
    isPaused = true;
  });
  setHandler(resumeSignal, () => {
    isPaused = false;
  });
  setHandler(progressQuery, () => ({ paused: isPaused, position }));

  const describe = (): void => {
    const { phase, done, total } = position ?? { phase: 'starting', done: 0, total: null };
    const share = total === null ? '' : ` of ${total}`;
    setCurrentDetails(`${isPaused ? 'paused; ' : ''}${phase}: ${done}${share} files`);
    upsertMemo({ phase, done, total });
  };

  setCurrentDetails(`starting: from ${swap.source_embedder} to ${swap.target_embedder}`);
  const obeysCancel = (at: SwapPosition | null): boolean =>
    at?.phase !== 'switching' && at?.phase !== 'finishing';
  /** Answers why the switch was held back; null when it was not. */
  const work = async (): Promise<string | null> => {
    if (input.continued === undefined) await beginEmbedderSwap(swap);
    while (position?.phase !== 'done') {
      const last: SwapPosition | null = position;
      const next = () => runEmbedderSwapSlice({ swapId, position: last });
      const isCancellable = obeysCancel(last);
      if (isPaused && isCancellable) {
        describe();
        await condition(() => !isPaused);
      }
      const slice = isCancellable ? await next() : await CancellationScope.nonCancellable(next);
      ({ position } = slice);
      describe();
      if (slice.held !== null) return slice.held;
      if (goesOnAsNew(obeysCancel(position))) return null;
    }
    return null;
  };
  const end = async (
    status: Exclude<SwapStatus, 'running'>,
    why: { code: string; message: string } | null,
  ) => {
    const { code = null, message: error = null } = why ?? {};
    await CancellationScope.nonCancellable(() => endEmbedderSwap({ swapId, status, error, code }));
    return status;
  };

  let held: string | null;
  try {
    held = await work();
  } catch (error) {
    if (isCancellation(error)) return end('cancelled', null);
    return end('failed', causeOf(error));
  }
  if (held !== null) return end('failed', { code: 'EMBEDDER_SWAP_HELD_BACK', message: held });
  if (position !== null && position.phase !== 'done')
    return continueAsNew<typeof swapEmbedder>({ ...input, continued: { position, paused: isPaused } });
  return end('completed', null);
}
