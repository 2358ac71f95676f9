import { expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createMigrationActivities } from '../../../activities/migrations/migration-activities.js';
import type { Migration, MigrationSlice } from '../../../activities/ports/migrations.js';
import { createFakeMigrationStore } from '../../support/fakes/migrations/fake-migration-store.js';
import { until } from '../../support/until.js';

const RUN = { name: 'records', mode: 'run', pagesPerSecond: null } as const;

function sliceAt(at: number): MigrationSlice {
  return {
    position: { phase: 'counting', at },
    ended: at === 3,
    cancellable: true,
    done: at,
    total: 3,
    figures: { counted: at },
  };
}

test('a run ends the open ones before it, which no workflow is at work on', async () => {
  const store = createFakeMigrationStore();
  const activities = createMigrationActivities({ store, migrations: [] });
  const begin = (runId: string, run: Partial<Parameters<typeof activities.beginMigration>[0]> = {}) =>
    activities.beginMigration({ runId, ...RUN, unit: 'records', startedBy: 'someone', ...run });
  await begin('other', { name: 'secrets' });
  await begin('dry', { mode: 'dry_run' });
  await store.finish('dry', { state: 'completed', error: null });
  await begin('lost', { mode: 'verify' });
  await begin('present');
  const states = async () =>
    Promise.all(['other', 'dry', 'lost', 'present'].map(async (id) => (await store.get(id))?.state));
  expect(await states()).toEqual(['running', 'completed', 'failed', 'running']);
  expect(await store.get('lost')).toMatchObject({ error: { code: 'MIGRATION_NOT_RUNNING' } });
  // Repeated late, when the next one has begun.
  await begin('lost', { mode: 'verify' });
  expect(await states()).toEqual(['running', 'completed', 'failed', 'running']);
});

test('who watches sees how far a slice is while it goes on', async () => {
  const store = createFakeMigrationStore();
  const seen = () => store.get('one');
  const migration: Migration = {
    name: 'records',
    title: 'counts',
    unit: 'records',
    modes: ['run'],
    pending: async () => null,
    async slice(_mode, _position, control) {
      control.reached(sliceAt(1));
      await until('the first page is recorded', async () => (await seen())?.done === 1);
      // As often as pages come, but no more often than a person looks.
      for (let page = 0; page < 100; page += 1) control.reached(sliceAt(2));
      return sliceAt(3);
    },
    abandon: async () => undefined,
  };
  const activities = createMigrationActivities({ store, migrations: [migration] });
  await activities.beginMigration({ runId: 'one', ...RUN, unit: 'records', startedBy: 'someone' });
  const heartbeats: unknown[] = [];
  const environment = new MockActivityEnvironment();
  environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
  await environment.run(activities.runMigrationSlice, { runId: 'one', ...RUN, position: null });
  expect(await seen()).toMatchObject({ done: 3, total: 3, phase: 'counting', figures: { counted: 3 } });
  expect(heartbeats).toHaveLength(101);
});

test('a report that fails within a slice does not end it', async () => {
  const store = createFakeMigrationStore();
  let refused = 0;
  const migration: Migration = {
    name: 'records',
    title: 'counts',
    unit: 'records',
    modes: ['run'],
    pending: async () => null,
    async slice(_mode, _position, control) {
      control.reached(sliceAt(1));
      await until('the report is refused', async () => refused === 1);
      return sliceAt(3);
    },
    abandon: async () => undefined,
  };
  const failing = {
    ...store,
    async report(...given: Parameters<typeof store.report>) {
      if (given[1].done < 3) {
        refused += 1;
        throw new Error('the database is away');
      }
      return store.report(...given);
    },
  };
  const activities = createMigrationActivities({ store: failing, migrations: [migration] });
  await activities.beginMigration({ runId: 'one', ...RUN, unit: 'records', startedBy: 'someone' });
  const slice = await new MockActivityEnvironment().run(activities.runMigrationSlice, {
    runId: 'one',
    ...RUN,
    position: null,
  });
  expect(slice).toMatchObject({ done: 3 });
  expect(await store.get('one')).toMatchObject({ done: 3 });
});
