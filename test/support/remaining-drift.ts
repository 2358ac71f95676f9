import { checkStores } from '../../activities/documents/clean-up/check-stores.js';
import type { Drift } from '../../activities/documents/clean-up/check-stores.js';
import type { RunningStack } from './running-stack.js';
import { until } from './until.js';

/**
 * What is left over once the work and the scheduled sweep have had their time: nothing, when all went well. The
 * sweep runs by itself here, every two seconds; asking for it would hide that it does not.
 * @param known drifts that were there before, in words of JSON
 */
export async function remainingDrift(
  stack: Pick<RunningStack, 'adapters'>,
  withinMs = 60_000,
  known: ReadonlySet<string> = new Set(),
): Promise<Drift[]> {
  let drifts: Drift[] = [];
  let checked = false;
  await until(
    'the stores agree',
    async () => {
      const found = await checkStores(stack.adapters, { deduplicate: true });
      drifts = found.filter((drift) => !known.has(JSON.stringify(drift)));
      checked = true;
      return drifts.length === 0;
    },
    { withinMs, everyMs: 500 },
  ).catch((error: unknown) => {
    // Time is up: the drifts tell more than that. A check that could not be made is no agreement.
    if (!checked || drifts.length === 0) throw error;
  });
  return drifts;
}
