import type { Stage } from '../../schemas/documents/tasks.js';
import type { Meter } from '../ports/meter.js';

/** How long a document was in a stage, also when it failed there: that is where its time went. */
export async function timed<T>(
  meter: Pick<Meter, 'stageTook'>,
  stage: Stage,
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  try {
    return await work();
  } finally {
    meter.stageTook(stage, (performance.now() - started) / 1000);
  }
}
