import { countChangedHours } from './count-alerts.js';
import { runUpkeep } from '../run-upkeep.js';
import type { UpkeepInput } from '../run-upkeep.js';
import { sweepForwarding } from './sweep-forwarding.js';

/** A question counts what is missing; this keeps it little. */
const COUNT_EVERY_MS = 60_000;
/** Steps of counting in one turn: what waits to be forwarded is looked for between them. */
const COUNT_STEPS = 10;

/**
 * One for all workers: hands over signals and metrics that the actors were not told of, and brings the statistics up to
 * date once a minute.
 */
export async function upkeepSignals(input: UpkeepInput): Promise<never> {
  let countAt = 0;
  return runUpkeep(input, {
    sweep: ({ prefix }) => sweepForwarding({ prefix }),
    async count({ prefix }) {
      if (Date.now() < countAt) return;
      const { left } = await countChangedHours(prefix, COUNT_STEPS);
      countAt = left ? 0 : Date.now() + COUNT_EVERY_MS;
    },
  });
}
