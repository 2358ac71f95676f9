import type { Workbench } from './workbench.js';

const INTERVAL_MS = 1_000;

/** Says how far a build has come while it is under way; `describe` looks at what it has left behind so far. */
export async function reportProgress<T>(
  bench: Workbench,
  subject: string,
  describe: () => string,
  work: Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    try {
      bench.report.progress(subject, describe());
    } catch {
      // what it looks at is not there yet, or no longer
    }
  }, INTERVAL_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
