import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createMigrationActivities } from '../../activities/migrations/migration-activities.js';
import { createRecordsMigration } from '../../activities/migrations/records.js';
import type { RecordStep } from '../../activities/migrations/records/record-step.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { startPendingMigrations } from '../../workers/pending-migrations.js';
import { createFakeMigrationStore } from '../support/fakes/migrations/fake-migration-store.js';
import { createFakeRecordCollections } from '../support/fakes/migrations/fake-record-collections.js';
import { createFakeRecordStepStore } from '../support/fakes/migrations/fake-record-step-store.js';
import { until } from '../support/until.js';
import { timeSkippingEnvironment, workflowBundle } from '../support/workflow-environment.js';

let env: TestWorkflowEnvironment;

beforeAll(async () => {
  env = await timeSkippingEnvironment();
}, 60_000);
afterAll(async () => {
  await env.teardown();
});

const STEP: RecordStep = {
  name: 'add-new',
  title: 'New is there',
  collection: 'things',
  fields: ['new'],
  change: ({ fields }) => ('new' in fields ? null : { set: { new: true } }),
};

it('a start runs what is pending, once however many workers start', async () => {
  const prefix = 'pending-';
  const store = createFakeMigrationStore();
  const records = createFakeRecordCollections();
  const steps = createFakeRecordStepStore();
  await records.plant('things', [{ _id: 'a' }]);
  const migration = createRecordsMigration({ records, steps }, [STEP]);
  // It waits for a person.
  const other = { ...migration, name: 'vector-store' as const };
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: taskQueues(prefix).migrations,
    workflowBundle: await workflowBundle(),
    activities: createMigrationActivities({ store, migrations: [migration, other] }),
  });
  const errors: unknown[] = [];
  const startWorker = (): (() => void) =>
    startPendingMigrations({ client: env.client, prefix, onError: (error) => errors.push(error) }, [
      migration,
      other,
    ]);
  const ends = [startWorker(), startWorker(), startWorker()];
  await worker.runUntil(() =>
    until('the run has ended', async () => (await store.list('records', 1))[0]?.state === 'completed'),
  );
  // Nothing is pending any more.
  ends.push(startWorker());
  for (const end of ends) end();
  expect(await records.read('things')).toEqual([{ _id: 'a', new: true }]);
  expect(await store.list('records', 10)).toEqual([
    expect.objectContaining({ started_by: 'start', done: 1, figures: { changed_by_add_new: 1 } }),
  ]);
  expect(await store.list('vector-store', 10)).toEqual([]);
  expect(errors).toEqual([]);
});
