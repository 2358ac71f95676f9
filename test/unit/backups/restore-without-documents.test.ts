import { expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createBackupActivities } from '../../../activities/backups/backup-activities.js';
import { writeManifest } from '../../../activities/backups/manifest.js';
import { WITHOUT_DOCUMENTS } from '../../../activities/backups/without-documents.js';
import type { BackedUpAdapters } from '../../../activities/ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import { BACKUP_FORMAT } from '../../../schemas/backups/backups.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';
import { createFakeBackups } from '../../support/fakes/backups/fake-backups.js';

const ID = 'nightly';
const now = new Date(0).toISOString();

/** The activities of a worker without documents, and a backup that holds so many records. */
async function worker({ counts = {} }: { counts?: Record<string, number> }) {
  const cleared: string[] = [];
  let backups = 0;
  const fakes = createFakeBackups();
  const archive = {
    ...fakes.archive,
    clear: async (collection: string) => void cleared.push(collection),
    getMany: () => {
      backups += 1;
      throw new Error('a backup has begun');
    },
  };
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
  const activities = createBackupActivities({ adapters, settings: { keep: 0, scratchDirectory: '' } });
  return { activities, cleared, held: fakes.held, begun: () => backups };
}

/** A restore that is to clear next, at a worker without documents; answers which collections it has cleared. */
async function clearWithoutDocuments(counts: Record<string, number>): Promise<string[]> {
  const { activities, cleared } = await worker({ counts });
  const position = { phase: 'clearing', part: 0, done: 0, total: 0, counts: {} };
  await new MockActivityEnvironment()
    .run(activities.restoreBackupSlice, { runId: 'one', backupId: ID, replace: true, position })
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

test('it leaves the first step of such a restore to another one too, as long as there may be one', async () => {
  const first = { runId: 'one', backupId: ID, replace: true, position: null };
  const { activities } = await worker({ counts: { files: 3 } });
  await expect(new MockActivityEnvironment().run(activities.restoreBackupSlice, first)).rejects.toMatchObject(
    {
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
    },
  );
  const late = new MockActivityEnvironment({ attempt: 51 });
  await expect(late.run(activities.restoreBackupSlice, first)).rejects.toMatchObject({
    code: 'BACKUP_NOT_USABLE',
  });
});

test('it leaves the slices of a backup to another one where there are files', async () => {
  const order = { runId: 'one', backupId: 'next', vectors: false, position: null };
  const { activities, held, begun } = await worker({});
  const write = async (attempt: number) => {
    const error: unknown = await new MockActivityEnvironment({ attempt })
      .run(activities.writeBackupSlice, order)
      .catch((thrown: unknown) => thrown);
    return error instanceof AppError ? error.code : error;
  };
  await write(1);
  expect(begun()).toBe(1);
  held.add('files');
  expect(await write(1)).toBe('SERVICE_UNAVAILABLE');
  expect(begun()).toBe(1);
  // Where none has them, the backup fails by the files that it comes upon.
  await write(51);
  expect(begun()).toBe(2);
});
