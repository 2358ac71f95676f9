import { checkStores } from '../../activities/documents/clean-up/check-stores.js';
import type { Drift } from '../../activities/documents/clean-up/check-stores.js';
import { removeOrphanBlobs } from '../../activities/documents/clean-up/remove-orphans.js';
import type { RunningStack } from './running-stack.js';
import { until } from './until.js';

/** Something that work passes through, and who is killed in it. */
export interface Moment {
  name: string;
  process: 'worker' | 'gateway';
  reached(stack: RunningStack): Promise<boolean>;
}

export interface Kill {
  process: Moment['process'];
  wanted: string;
  /** The wanted moment was met, so that the kill fell into it. */
  hit: boolean;
}

/** Kills whom a moment is about when it is met, or after 15 s all the same, and starts it again. */
export async function killAt(stack: RunningStack, { name, process, reached }: Moment): Promise<Kill> {
  const hit = await until(name, () => reached(stack), { withinMs: 15_000, everyMs: 1 }).catch(() => false);
  if (process === 'gateway') await stack.killGateway();
  else await stack.killWorker();
  await (process === 'gateway' ? stack.startGateway() : stack.startWorker());
  return { process, wanted: name, hit };
}

/** The gateway is away for seconds at a time: whoever got no answer asks again. */
export async function persist<T>(action: () => Promise<T>): Promise<T> {
  let result: { value: T } | undefined;
  let failure: unknown;
  await until(
    'the gateway takes the request',
    async () => {
      try {
        result = { value: await action() };
        return true;
      } catch (error) {
        failure = error;
        return false;
      }
    },
    { withinMs: 120_000, everyMs: 100 },
  ).catch(() => {
    throw failure;
  });
  return result!.value;
}

/**
 * What a crash left is swept up by the schedule alone; the reconciler is not asked, since it would heal what the
 * plans should have cleaned up. Only bytes without a task wait for the reconciler's next day, which is made to come
 * here: their gateway was killed before it could write the task, or the store went away before it could remove them.
 */
export async function sweptUp(stack: RunningStack): Promise<Drift[]> {
  const { adapters } = stack;
  let drifts: Drift[] | undefined;
  await until(
    'the stores agree',
    async () => {
      const found = await checkStores(adapters, { deduplicate: true });
      const known = await Promise.all(
        found.map(
          async ({ kind, subject }) => kind !== 'orphan-blob' || (await adapters.tasks.get(subject)) !== null,
        ),
      );
      drifts = found.filter((_drift, index) => known[index]);
      return drifts.length === 0;
    },
    { withinMs: 60_000, everyMs: 500 },
  ).catch((error: unknown) => {
    if (drifts === undefined || drifts.length === 0) throw error;
  });
  await removeOrphanBlobs(adapters, new Date(), AbortSignal.timeout(60_000));
  return drifts!.length > 0 ? drifts! : checkStores(adapters, { deduplicate: true });
}
