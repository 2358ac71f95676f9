import { expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createBackupActivities } from '../../../activities/backups/backup-activities.js';
import { writeManifest } from '../../../activities/backups/manifest.js';
import { WITHOUT_DOCUMENTS } from '../../../activities/backups/without-documents.js';
import type { BackedUpAdapters } from '../../../activities/ports/adapters.js';
import { BACKUP_FORMAT } from '../../../schemas/backups/backups.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';
import { createFakeBackups } from '../../support/fakes/backups/fake-backups.js';

const ID = 'nightly';
const now = new Date(0).toISOString();

/** A restore that is to clear next, at a worker without documents; answers which collections it has cleared. */
async function clearWithoutDocuments(counts: Record<string, number>): Promise<string[]> {
  const cleared: string[] = [];
  const fakes = createFakeBackups();
  const archive = { ...fakes.archive, clear: async (collection: string) => void cleared.push(collection) };
  await writeManifest(fakes.objects, {
    format: BACKUP_FORMAT,
    backup_id: ID,
    started_at: now,
    finished_at: now,
    vectors: false,
    secrets_key: null,
    record_steps: [],
    counts,
    parts: [],
  });
  const adapters = {
    ...createFakeStores(),
    ...WITHOUT_DOCUMENTS,
    backups: { ...fakes, archive, hasDocuments: false },
  } as unknown as BackedUpAdapters;
  const { restoreBackupSlice } = createBackupActivities({
    adapters,
    settings: { keep: 0, scratchDirectory: '' },
  });
  const position = { phase: 'clearing', part: 0, done: 0, total: 0, counts: {} };
  await new MockActivityEnvironment()
    .run(restoreBackupSlice, { runId: 'one', backupId: ID, replace: true, position })
    .catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
      cleared.push('left to another worker');
    });
  return cleared;
}

test('a worker without documents leaves a restore with documents to another one before it clears', async () => {
  expect(await clearWithoutDocuments({ files: 3 })).toEqual(['left to another worker']);
});

test('it takes one of the signals alone', async () => {
  const cleared = await clearWithoutDocuments({ alerts: 3 });
  expect(cleared).toContain('alerts');
  expect(cleared).not.toContain('left to another worker');
});
