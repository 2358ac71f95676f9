import type { Migration, MigrationSlice, SliceControl } from '../../activities/ports/migrations.js';
import type { MigrationMode, MigrationPosition } from '../../schemas/migrations/migrations.js';

/** Of slices of one page. */
export function sliceControl(): SliceControl {
  return {
    signal: new AbortController().signal,
    isOver: () => true,
    pace: async () => undefined,
    reached: () => undefined,
  };
}

/** Slice by slice to its end; positions pass through JSON, as they do in Temporal. */
export async function runMigration(
  migration: Migration,
  mode: MigrationMode,
): Promise<{ slices: number; last: MigrationSlice }> {
  let position: MigrationPosition | null = null;
  for (let slices = 1; ; slices += 1) {
    const last: MigrationSlice = await migration.slice(mode, position, sliceControl());
    if (last.ended) return { slices, last };
    position = JSON.parse(JSON.stringify(last.position)) as MigrationPosition;
  }
}
