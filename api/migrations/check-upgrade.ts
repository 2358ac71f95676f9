import type { Migration, MigrationStore } from '../../activities/ports/migrations.js';
import { AppError } from '../../schemas/app-error.js';
import { isFinalMigrationState } from '../../schemas/migrations/migrations.js';
import type { MigrationName, MigrationRun } from '../../schemas/migrations/migrations.js';
import type { UpgradeCheck } from '../../schemas/migrations/migrations-api.js';

/** Of its unit a second where none ran yet: rather too low, on a small machine. */
const ASSUMED: Readonly<Record<MigrationName, number>> = {
  'vector-store': 500,
  'default-embedder': 50,
  records: 1_000,
  secrets: 1_000,
};

type Row = UpgradeCheck['migrations'][number];

/** A backup that came to its end. */
export interface KnownBackup {
  finishedAt: Date;
  /** Where it is kept, for people. */
  place: string;
}

/**
 * What the stored data needs, how long by the counts,
 * what goes dark, what is in the way, and whether a backup is known.
 * @param options.lastBackup null: none is known
 */
export async function checkUpgrade(
  migrations: readonly Migration[],
  store: Pick<MigrationStore, 'latest' | 'list'>,
  { lastBackup }: { lastBackup: KnownBackup | null },
): Promise<UpgradeCheck> {
  const latest = await store.latest();
  const unknown: string[] = [];
  const rows: Row[] = [];
  for (const migration of migrations)
    try {
      rows.push(...(await describe(migration, latest, store)));
    } catch (error) {
      unknown.push(`Whether ${migration.name} is needed is not known: ${AppError.from(error).message}`);
    }
  const lengths = rows.map(({ seconds }) => seconds);
  const isKnown = (seconds: number | null): seconds is number => seconds !== null;
  return {
    migrations: rows,
    seconds:
      unknown.length === 0 && lengths.every(isKnown) ? lengths.reduce((sum, each) => sum + each, 0) : null,
    dark: [...new Set(rows.flatMap(({ dark }) => dark))],
    obstacles: [...rows.flatMap(({ obstacle }) => obstacle ?? []), ...unknown],
    backup: describeBackup(lastBackup),
  };
}

function describeBackup(last: KnownBackup | null): UpgradeCheck['backup'] {
  if (last === null)
    return {
      state: 'none_known',
      finished_at: null,
      note:
        'No backup is known to the service. It cannot see those that were made of MongoDB and OpenSearch themselves; ' +
        'both must be of one moment.',
    };
  const finishedAt = last.finishedAt.toISOString();
  return {
    state: 'known',
    finished_at: finishedAt,
    note: `The last one ended at ${finishedAt} and is in ${last.place}. What was stored since is not part of it.`,
  };
}

async function describe(
  { name, title, unit, pending }: Migration,
  latest: readonly MigrationRun[],
  store: Pick<MigrationStore, 'list'>,
): Promise<Row[]> {
  const found = await pending();
  if (found === null) return [];
  const measured = lastRate(await store.list(name, RUNS_LOOKED_AT));
  const rate = measured ?? ASSUMED[name];
  const { what, amount, dark, obstacle } = found;
  const open = latest.find((run) => run.name === name && !isFinalMigrationState(run.state));
  return [
    {
      name,
      title,
      what,
      unit,
      amount,
      dark,
      obstacle,
      units_per_second: Math.round(rate * 10) / 10,
      rate_from: measured === null ? 'assumed' : 'last_run',
      seconds: amount === null ? null : Math.ceil(amount / rate),
      state: open?.state ?? null,
    },
  ];
}

const RUNS_LOOKED_AT = 20;

/** Of the last run that did something and came to its end. */
function lastRate(runs: readonly MigrationRun[]): number | null {
  for (const { mode, state, done, started_at, finished_at } of runs) {
    const seconds = ((finished_at?.getTime() ?? 0) - started_at.getTime()) / 1000;
    if (mode === 'run' && state === 'completed' && done > 0 && seconds > 0) return done / seconds;
  }
  return null;
}
