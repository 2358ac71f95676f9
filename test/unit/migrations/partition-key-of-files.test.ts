import { expect, test } from '@jest/globals';
import { createRecordsMigration } from '../../../activities/migrations/records.js';
import { RECORD_STEPS } from '../../../activities/migrations/records/record-steps.js';
import { partitionKeyOfFiles } from '../../../activities/migrations/records/partition-key-of-files.js';
import { createFakeRecordCollections } from '../../support/fakes/migrations/fake-record-collections.js';
import { createFakeRecordStepStore } from '../../support/fakes/migrations/fake-record-step-store.js';
import { runMigration } from '../../support/run-migration.js';

test('files without the key of their partition get its name, which is its key', async () => {
  expect(RECORD_STEPS).toContain(partitionKeyOfFiles);
  const records = createFakeRecordCollections();
  await records.plant('files', [
    { _id: 'first', partition: 'papers', file_id: 'one' },
    { _id: 'later', partition: 'papers', partition_key: 'a-key', file_id: 'two' },
  ]);
  const migration = createRecordsMigration({ records, steps: createFakeRecordStepStore() }, [
    partitionKeyOfFiles,
  ]);
  const { last } = await runMigration(migration, 'run');
  expect(last.figures).toEqual({ changed_by_partition_key_of_files: 1 });
  expect(await records.read('files')).toEqual([
    { _id: 'first', partition: 'papers', partition_key: 'papers', file_id: 'one' },
    { _id: 'later', partition: 'papers', partition_key: 'a-key', file_id: 'two' },
  ]);
});
