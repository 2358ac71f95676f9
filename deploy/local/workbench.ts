import type { Paths } from './paths.js';
import type { Reporter } from './reporter.js';
import type { RunRecord } from './run-record.js';

/** What every part of the launcher works with; made once per command in `main.ts`. */
export interface Workbench {
  readonly paths: Paths;
  /** The environment and `.env`, see `readEnvironment`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly record: RunRecord;
  readonly report: Reporter;
  /** Aborted by Ctrl-C; everything that waits or builds gives up then. */
  readonly signal: AbortSignal;
}
