import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createBackupActivities } from '../../../activities/backups/backup-activities.js';
import { removeOldBackups } from '../../../activities/backups/list-backups.js';
import { writeManifest } from '../../../activities/backups/manifest.js';
import type { BackedUpAdapters } from '../../../activities/ports/adapters.js';
import type { BackupStorage } from '../../../activities/ports/backups.js';
import { createFolderStorage } from '../../../activities/stores/backups/folder-storage.js';
import { BACKUP_FORMAT } from '../../../schemas/backups/backups.js';
import { createFakeBackups } from '../../support/fakes/backups/fake-backups.js';

const [COPIED, OLDEST, BROKEN_OFF, FAILED, NEWEST] = [
  '20251231T000000Z-0a1b2c3d',
  '20260101T000000Z-0a1b2c3d',
  '20260102T000000Z-0a1b2c3d',
  '20260103T000000Z-0a1b2c3d',
  '20260104T000000Z-0a1b2c3d',
] as const;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tamis-left-over-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function complete(storage: BackupStorage, id: string): Promise<void> {
  await storage.put(`${id}/000000-counters.tar.gz`, Buffer.from('part'));
  const at = new Date(0).toISOString();
  await writeManifest(storage, {
    format: BACKUP_FORMAT,
    backup_id: id,
    started_at: at,
    finished_at: at,
    vectors: false,
    secrets_key: null,
    record_steps: [],
    counts: {},
    parts: [],
  });
}

test('a backup that completes removes what is left of those that were broken off', async () => {
  const backups = createFakeBackups();
  const { runs, objects: storage } = backups;
  const started_by = 'schedule';
  for (const id of [OLDEST, BROKEN_OFF, FAILED, NEWEST])
    await runs.insert({ run_id: `run of ${id}`, kind: 'backup', backup_id: id, started_by });
  await runs.finish(`run of ${OLDEST}`, { state: 'completed', error: null });
  await runs.finish(`run of ${FAILED}`, { state: 'failed', error: null });
  for (const id of [OLDEST, NEWEST]) await complete(storage, id);
  // A backup that an operator is copying here has no manifest yet, and no run of this service made it.
  for (const name of [BROKEN_OFF, FAILED, COPIED, 'of another program'])
    await storage.put(`${name}/000000-counters.tar.gz`, Buffer.from('part'));
  const { endBackupRun } = createBackupActivities({
    adapters: { backups } as unknown as BackedUpAdapters,
    settings: { keep: 0, scratchDirectory: folder },
  });
  const run = { runId: `run of ${NEWEST}`, kind: 'backup', backupId: NEWEST } as const;
  await endBackupRun({ ...run, state: 'completed', error: null });
  expect((await storage.folders()).sort()).toEqual([OLDEST, COPIED, NEWEST, 'of another program'].sort());
});

test('a removal from a folder that was cut short is finished by the next one', async () => {
  const storage = createFolderStorage(folder);
  for (const id of [OLDEST, NEWEST]) await complete(storage, id);
  await mkdir(join(folder, '.unfinished-0001'));
  await writeFile(join(folder, '.unfinished-0001', 'part'), 'left');
  await removeOldBackups(storage, 1);
  expect(await readdir(folder)).toEqual([NEWEST]);
});
