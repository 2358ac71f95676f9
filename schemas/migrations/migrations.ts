/** The records of migrations: runs that bring what an earlier release stored to the shape of this one. */
export const MIGRATIONS = ['vector-store', 'default-embedder', 'records', 'secrets'] as const;
export type MigrationName = (typeof MIGRATIONS)[number];

/**
 * `dry_run` reads and counts alone; `verify` checks what a run has made and changes nothing; `rollback` goes back to
 * what the last run replaced, where that is kept.
 */
export const MIGRATION_MODES = ['dry_run', 'run', 'verify', 'rollback'] as const;
export type MigrationMode = (typeof MIGRATION_MODES)[number];

export const MIGRATION_STATES = ['running', 'paused', 'completed', 'failed', 'cancelled'] as const;
export type MigrationState = (typeof MIGRATION_STATES)[number];

/** Where a run stands between two slices; only the migration itself reads more of it than the phase. */
export interface MigrationPosition {
  /** What is being done, in plain words: `copying`, `verifying`. */
  phase: string;
  [detail: string]: unknown;
}

/** One run of a migration. */
export interface MigrationRun {
  run_id: string;
  name: MigrationName;
  mode: MigrationMode;
  state: MigrationState;
  phase: string;
  /** What `done` and `total` count. */
  unit: string;
  /** Never goes down. */
  done: number;
  /** Null until it is known. */
  total: number | null;
  /** Null: as fast as the engines take it. */
  pages_per_second: number | null;
  /** Counts by name, such as rows without an embedder. */
  figures: Record<string, number>;
  /** The id of the user, or what started it: a schedule, a process at its start. */
  started_by: string;
  /** Why it failed. */
  error: { code: string; message: string } | null;
  started_at: Date;
  updated_at: Date;
  finished_at: Date | null;
}

export function isFinalMigrationState(state: MigrationState): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}
