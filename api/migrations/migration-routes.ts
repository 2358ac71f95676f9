import { randomUUID } from 'node:crypto';
import type { Migration } from '../../activities/ports/migrations.js';
import { AppError } from '../../schemas/app-error.js';
import { isFinalMigrationState } from '../../schemas/migrations/migrations.js';
import type { MigrationName, MigrationRun } from '../../schemas/migrations/migrations.js';
import {
  ChunkIndexList,
  ChunkIndexParams,
  MigrationList,
  MigrationPace,
  MigrationParams,
  MigrationRuns,
  MigrationStart,
  MigrationStarted,
  UpgradeCheck,
} from '../../schemas/migrations/migrations-api.js';
import type { GatewayDeps } from '../gateway-deps.js';
import { checkUpgrade } from './check-upgrade.js';
import { cancelRun } from '../http/cancel-run.js';
import { presentRun, progressEvents } from '../http/progress-events.js';
import { empty, followingStream, json, route } from '../http/route.js';
import type { Route } from '../http/route.js';

const RUNS_LISTED = 50;

const TAG = 'Migrations';

/** Migrations of what an earlier release stored, run by administrators. */
export function migrationRoutes({ adapters, workflows }: GatewayDeps): Route[] {
  const { store, indexes, migrations } = adapters.migrations;

  const find = (name: MigrationName): Migration => {
    const found = migrations.find((migration) => migration.name === name);
    if (found === undefined) throw new AppError('NOT_FOUND');
    return found;
  };

  const openRuns = async (name: MigrationName): Promise<MigrationRun[]> =>
    (await store.list(name, RUNS_LISTED)).filter(({ state }) => !isFinalMigrationState(state));

  /** Runs that no workflow is at work on: they were ended in Temporal, maybe while writers waited for a switch. */
  const giveUp = async (name: MigrationName, runs: readonly MigrationRun[]): Promise<void> => {
    if (name === 'vector-store') {
      const live = (await indexes.list()).find((index) => index.live);
      if (live !== undefined) await indexes.blockWrites(live.index, false);
    }
    for (const { run_id } of runs) await store.finish(run_id, { state: 'cancelled', error: null });
  };

  const cancel = (name: MigrationName): Promise<void> =>
    cancelRun({
      open: () => openRuns(name),
      cancel: () => workflows.cancelMigration(name),
      notRunning: 'MIGRATION_NOT_RUNNING',
      end: (open) => giveUp(name, open),
    });

  const steer = (
    word: 'pause' | 'resume' | 'cancel',
    summary: string,
    ask: (name: MigrationName) => Promise<void>,
  ) =>
    route({
      method: 'post',
      path: `/admin/migrations/{name}/${word}`,
      summary,
      tag: TAG,
      auth: 'admin',
      request: { params: MigrationParams },
      responses: { 202: { description: 'Asked for' } },
      errors: ['MIGRATION_NOT_RUNNING', 'SERVICE_UNAVAILABLE'],
      async handle(_ctx, { params }) {
        await ask(params.name);
        return empty(202);
      },
    });

  return [
    route({
      method: 'get',
      path: '/admin/migrations',
      summary: 'What can be migrated, what is pending, and what ran',
      tag: TAG,
      auth: 'admin',
      responses: { 200: { description: 'Migrations', schema: MigrationList } },
      async handle() {
        const latest = await store.latest();
        const rows = await Promise.all(
          migrations.map(async (migration) => ({
            name: migration.name,
            title: migration.title,
            unit: migration.unit,
            modes: [...migration.modes],
            ...(await lookForPending(migration)),
            latest: latest.filter(({ name }) => name === migration.name).map(presentRun),
          })),
        );
        return json(200, { migrations: rows });
      },
    }),
    route({
      method: 'get',
      path: '/admin/upgrade-check',
      summary: 'What the stored data needs before this release works on all of it, and what is in the way',
      tag: TAG,
      auth: 'admin',
      responses: {
        200: { description: 'What will migrate, how long, and what goes dark', schema: UpgradeCheck },
      },
      async handle() {
        const { runs, storage } = adapters.backups;
        const last = await runs.lastBackup();
        const lastBackup =
          last === null || last.finished_at === null
            ? null
            : {
                finishedAt: last.finished_at,
                place: storage?.place ?? 'a place that BACKUP_LOCATION does not name any more',
              };
        return json(200, await checkUpgrade(migrations, store, { lastBackup }));
      },
    }),
    route({
      method: 'post',
      path: '/admin/migrations/{name}',
      summary: 'Run a migration, count what it would do, or verify what it made; one run of each at a time',
      tag: TAG,
      auth: 'admin',
      request: { params: MigrationParams, body: MigrationStart, bodyOptional: true },
      responses: { 202: { description: 'Started', schema: MigrationStarted } },
      errors: ['MIGRATION_RUNNING', 'MIGRATION_NOT_POSSIBLE', 'SERVICE_UNAVAILABLE'],
      async handle({ principal }, { params, body }) {
        const migration = find(params.name);
        if (!migration.modes.includes(body.mode))
          throw new AppError(
            'MIGRATION_NOT_POSSIBLE',
            `The migration ${migration.name} has no ${body.mode}.`,
          );
        // A worker of a release that knows no verification would do what is pending.
        if (body.mode === 'verify' && (await migration.pending()) !== null)
          throw new AppError(
            'MIGRATION_NOT_POSSIBLE',
            `The migration ${migration.name} has something to do: run it first.`,
          );
        const runId = randomUUID();
        await workflows.startMigration({
          runId,
          name: migration.name,
          unit: migration.unit,
          mode: body.mode,
          pagesPerSecond: body.pages_per_second,
          startedBy: String(principal.userId),
        });
        return json(202, { run_id: runId });
      },
    }),
    route({
      method: 'get',
      path: '/admin/migrations/{name}/runs',
      summary: 'The last runs of a migration, the newest first',
      tag: TAG,
      auth: 'admin',
      request: { params: MigrationParams },
      responses: { 200: { description: 'Runs', schema: MigrationRuns } },
      async handle(_ctx, { params }) {
        return json(200, { runs: (await store.list(params.name, RUNS_LISTED)).map(presentRun) });
      },
    }),
    route({
      method: 'get',
      path: '/admin/migrations/{name}/events',
      summary: 'Progress of the latest run until it ends, as server-sent events',
      tag: TAG,
      auth: 'admin',
      request: { params: MigrationParams },
      responses: { 200: { description: 'Each event is a MigrationRun', contentType: 'text/event-stream' } },
      errors: ['NOT_FOUND'],
      async handle(ctx, { params }) {
        const latest = async (): Promise<MigrationRun | undefined> => (await store.list(params.name, 1))[0];
        if ((await latest()) === undefined) throw new AppError('NOT_FOUND', 'This migration never ran.');
        return followingStream(progressEvents(latest, ({ state }) => isFinalMigrationState(state), ctx));
      },
    }),
    route({
      method: 'get',
      path: '/admin/indexes',
      summary: 'The indexes of the vector store: the live one, and those that migrations replaced',
      tag: TAG,
      auth: 'admin',
      responses: { 200: { description: 'Indexes', schema: ChunkIndexList } },
      errors: ['VDB_CONNECTION_ERROR'],
      async handle() {
        const listed = await indexes.list();
        return json(200, {
          indexes: listed.map(({ index, live, schema, step, chunks }) => ({
            index,
            live,
            schema,
            step,
            chunks,
          })),
        });
      },
    }),
    route({
      method: 'delete',
      path: '/admin/indexes/{index}',
      summary: 'Drop an index that a migration replaced; no rollback leads to it any more',
      tag: TAG,
      auth: 'admin',
      request: { params: ChunkIndexParams },
      responses: { 204: { description: 'Dropped' } },
      errors: ['NOT_FOUND', 'MIGRATION_NOT_POSSIBLE', 'MIGRATION_RUNNING', 'VDB_CONNECTION_ERROR'],
      async handle(_ctx, { params }) {
        const open = (await store.latest()).find(
          ({ name, state }) => name === 'vector-store' && !isFinalMigrationState(state),
        );
        if (open !== undefined)
          throw new AppError(
            'MIGRATION_RUNNING',
            'A migration of the vector store is running: it may use the index.',
          );
        await indexes.drop(params.index);
        return empty(204);
      },
    }),
    steer('pause', 'Pause the run after its present slice', (name) => workflows.pauseMigration(name)),
    steer('resume', 'Let a paused run go on', (name) => workflows.resumeMigration(name)),
    steer('cancel', 'Give the run up where that is safe, and remove what it had built', cancel),
    route({
      method: 'post',
      path: '/admin/migrations/{name}/pace',
      summary: 'Change how fast the run may go',
      tag: TAG,
      auth: 'admin',
      request: { params: MigrationParams, body: MigrationPace },
      responses: { 202: { description: 'Asked for' } },
      errors: ['MIGRATION_NOT_RUNNING', 'SERVICE_UNAVAILABLE'],
      async handle(_ctx, { params, body }) {
        await workflows.paceMigration(params.name, body.pages_per_second);
        return empty(202);
      },
    }),
  ];
}

/** An engine that is away must not hide the rest of the list. */
async function lookForPending(migration: Migration) {
  try {
    return { pending: await migration.pending(), unknown: null };
  } catch (error) {
    return { pending: null, unknown: AppError.from(error).message };
  }
}
