import { z } from 'zod';
import { MIGRATION_MODES, MIGRATION_STATES, MIGRATIONS } from './migrations.js';

/** Bodies of the endpoints of migrations. */

export const MigrationParams = z.object({ name: z.enum(MIGRATIONS) });

export const PagesPerSecond = z
  .number()
  .positive()
  .max(1_000)
  .nullable()
  .meta({ description: 'Pages a second at most; null: as fast as the engines take it' });

export const MigrationStart = z
  .strictObject({
    mode: z.enum(MIGRATION_MODES).default('run'),
    pages_per_second: PagesPerSecond.default(null),
  })
  .meta({ id: 'MigrationStart' });

export const MigrationPace = z
  .strictObject({ pages_per_second: PagesPerSecond })
  .meta({ id: 'MigrationPace' });

export const MigrationRunBody = z
  .object({
    run_id: z.string(),
    name: z.enum(MIGRATIONS),
    mode: z.enum(MIGRATION_MODES),
    state: z.enum(MIGRATION_STATES),
    phase: z.string().meta({ description: 'What is being done, in plain words' }),
    unit: z.string().meta({ description: 'What done and total count' }),
    done: z.int(),
    total: z.int().nullable(),
    pages_per_second: z.number().nullable(),
    figures: z.record(z.string(), z.number()),
    started_by: z.string().meta({ description: 'The id of the user, `schedule`, or `start`' }),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    started_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'MigrationRun' });
export type MigrationRunBody = z.infer<typeof MigrationRunBody>;

const Pending = z
  .object({
    what: z.string(),
    amount: z.int().nullable(),
    dark: z.array(z.string()).meta({ description: 'What does not work until it ran' }),
    obstacle: z.string().nullable().meta({ description: 'Why a run would fail as things stand' }),
  })
  .meta({ id: 'PendingMigration' });

const MigrationRow = z
  .object({
    name: z.enum(MIGRATIONS),
    title: z.string(),
    unit: z.string(),
    modes: z.array(z.enum(MIGRATION_MODES)),
    pending: Pending.nullable(),
    unknown: z
      .string()
      .nullable()
      .meta({ description: 'Why it could not be found out whether anything is pending' }),
    latest: z.array(MigrationRunBody).meta({ description: 'The latest run of each mode' }),
  })
  .meta({ id: 'MigrationRow' });

export const MigrationList = z.object({ migrations: z.array(MigrationRow) }).meta({ id: 'MigrationList' });

export const MigrationStarted = z.object({ run_id: z.string() }).meta({ id: 'MigrationStarted' });

export const MigrationRuns = z.object({ runs: z.array(MigrationRunBody) }).meta({ id: 'MigrationRuns' });

/** One name, neither a pattern nor a list. */
export const ChunkIndexParams = z.object({ index: z.string().regex(/^[a-z0-9_-]{1,100}$/) });

export const ChunkIndexList = z
  .object({
    indexes: z.array(
      z.object({
        index: z.string(),
        live: z.boolean().meta({ description: 'Searches and writes go to it' }),
        schema: z.int(),
        step: z.int().meta({ description: 'Counts changes of a schema that need an index built anew' }),
        chunks: z.int(),
      }),
    ),
  })
  .meta({ id: 'ChunkIndexList' });

export const UpgradeCheck = z
  .object({
    migrations: z.array(
      z.object({
        name: z.enum(MIGRATIONS),
        title: z.string(),
        what: z.string(),
        unit: z.string(),
        amount: z.int().nullable(),
        units_per_second: z.number(),
        rate_from: z
          .enum(['last_run', 'assumed'])
          .meta({ description: 'What the rate is taken from; pauses of the last run count as its time' }),
        seconds: z.int().nullable().meta({ description: 'How long it is expected to take' }),
        state: z.enum(MIGRATION_STATES).nullable().meta({ description: 'Of the run at work; null: none is' }),
        dark: z.array(z.string()),
        obstacle: z.string().nullable(),
      }),
    ),
    seconds: z.int().nullable().meta({ description: 'All of them, one after the other' }),
    dark: z
      .array(z.string())
      .meta({ description: 'What does not work until the migrations ran; empty: nothing' }),
    obstacles: z.array(z.string()).meta({ description: 'What would make a run fail as things stand' }),
    backup: z.object({
      state: z.enum(['none_known', 'known']),
      finished_at: z.iso.datetime().nullable().meta({ description: 'When the last backup ended' }),
      note: z.string(),
    }),
  })
  .meta({ id: 'UpgradeCheck' });
export type UpgradeCheck = z.infer<typeof UpgradeCheck>;
