import type { MigrationStore } from '../../../../activities/ports/migrations.js';
import { isFinalMigrationState } from '../../../../schemas/migrations/migrations.js';
import type { MigrationRun } from '../../../../schemas/migrations/migrations.js';
import { newOperation } from '../../../../schemas/run-record.js';
import { copyRecord } from '../copy-record.js';

/** Runs of migrations in a Map, in the order in which they began. */
export function createFakeMigrationStore(): MigrationStore {
  const runs = new Map<string, MigrationRun>();
  const openRun = (runId: string): MigrationRun | null => {
    const run = runs.get(runId);
    return run === undefined || isFinalMigrationState(run.state) ? null : run;
  };
  const change = (runId: string, fields: (run: MigrationRun) => Partial<MigrationRun>): void => {
    const run = openRun(runId);
    if (run !== null) runs.set(runId, { ...run, ...copyRecord(fields(run)), updated_at: new Date() });
  };
  const newestFirst = (): MigrationRun[] => [...runs.values()].reverse();
  return {
    async insert(given) {
      if (runs.has(given.run_id)) return;
      runs.set(given.run_id, { ...given, ...newOperation() });
    },
    async get(runId) {
      return copyRecord(runs.get(runId) ?? null);
    },
    async latest() {
      const seen = new Map<string, MigrationRun>();
      for (const run of runs.values()) seen.set(`${run.name} ${run.mode}`, run);
      return copyRecord([...seen.values()]);
    },
    async list(name, limit) {
      return copyRecord(newestFirst().filter((run) => run.name === name)).slice(0, limit);
    },
    async report(runId, progress) {
      change(runId, ({ done }) => ({ ...progress, done: Math.max(done, progress.done) }));
    },
    async setPaused(runId, paused) {
      change(runId, () => ({ state: paused ? 'paused' : 'running' }));
    },
    async finish(runId, { state, error }) {
      change(runId, () => ({ state, error, finished_at: new Date() }));
    },
  };
}
