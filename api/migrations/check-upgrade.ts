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

/** What the stored data needs, how long by the counts, what goes dark and what is in the way. */
export async function checkUpgrade(
  migrations: readonly Migration[],
  store: Pick<MigrationStore, 'latest' | 'list'>,
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
    backup: {
      state: 'unknown',
      note: 'The service makes no backups and cannot see those of MongoDB and OpenSearch; both belong to one moment.',
    },
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
