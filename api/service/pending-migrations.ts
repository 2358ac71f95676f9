import type { Migration, PendingMigration } from '../../activities/ports/migrations.js';
import { ERROR_TABLE } from '../../schemas/error-table.js';
import type { CheckState, ReadyBody } from '../../schemas/documents/documents-api.js';
import type { MigrationName } from '../../schemas/migrations/migrations.js';

type PendingRow = ReadyBody['migrations'][number];

/** The worst of these is the state of all. */
const BY_WEIGHT = ['required', 'unavailable', 'timeout', 'pending', 'ok'] as const;
type MigrationsState = (typeof BY_WEIGHT)[number];

/**
 * What is to be migrated, for probes that need no token: no name of a partition or an endpoint is told.
 * @param stateOf looks, for as long as a probe may, and says why it could not
 */
export async function checkMigrations(
  migrations: readonly Migration[],
  stateOf: (probe: () => Promise<unknown>) => Promise<CheckState>,
): Promise<{ state: MigrationsState; rows: PendingRow[] }> {
  const looked = await Promise.all(
    migrations.map(async (migration) => {
      let found: PendingMigration | null = null;
      const state = await stateOf(async () => {
        found = await migration.pending();
      });
      if (state !== 'ok') return { state: state === 'timeout' ? state : ('unavailable' as const), rows: [] };
      if (found === null) return { state: 'ok' as const, rows: [] };
      const row = toRow(migration.name, found);
      return { state: row.state, rows: [row] };
    }),
  );
  const state = BY_WEIGHT.find((weight) => looked.some((one) => one.state === weight)) ?? 'ok';
  return { state, rows: looked.flatMap(({ rows }) => rows) };
}

function toRow(name: MigrationName, pending: PendingMigration): PendingRow {
  return {
    name,
    state: pending.dark.length > 0 ? 'required' : 'pending',
    dark: pending.dark,
    next: nextStep(name, pending),
  };
}

function nextStep(name: MigrationName, { obstacle }: PendingMigration): string {
  if (obstacle === null) return `POST /admin/migrations/${name} runs it.`;
  if (name === 'default-embedder') return ERROR_TABLE.DEFAULT_EMBEDDER_MIGRATION_REQUIRED.message;
  return 'It cannot run as things stand: GET /admin/migrations says why.';
}
