import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';

/** A stack that sweeps as often as a delivered one does; tests sweep every two seconds. */
export const openBenchStack = (overrides: Record<string, string> = {}): Promise<RunningStack> =>
  openStack({ SWEEP_INTERVAL_SECONDS: '30', SWEEP_GRACE_SECONDS: '10', ...overrides });
