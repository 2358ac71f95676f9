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

/** The end of a run over these backups, of which those that are complete have runs of their own. */
async function endOf(
  run: { kind: 'backup' | 'restore'; backupId: string; state: 'completed' | 'failed' | 'cancelled' },
  { keep, whole }: { keep: number; whole: readonly string[] },
) {
  const backups = createFakeBackups();
  const { runs, objects: storage } = backups;
  for (const id of whole) {
    await complete(storage, id);
    await runs.insert({ run_id: `run of ${id}`, kind: 'backup', backup_id: id, started_by: 'schedule' });
    await runs.finish(`run of ${id}`, { state: 'completed', error: null });
  }
  await runs.insert({ run_id: 'this', kind: run.kind, backup_id: run.backupId, started_by: 'schedule' });
  const { endBackupRun } = createBackupActivities({
    adapters: { backups } as unknown as BackedUpAdapters,
    settings: { keep, scratchDirectory: folder },
  });
  return { storage, runs, end: () => endBackupRun({ ...run, runId: 'this', error: null }) };
}

test.each(['failed', 'cancelled'] as const)(
  'a restore that has %s leaves every backup where it is',
  async (state) => {
    const whole = [OLDEST, NEWEST];
    const { storage, runs, end } = await endOf(
      { kind: 'restore', backupId: OLDEST, state },
      { keep: 1, whole },
    );
    await end();
    expect((await storage.folders()).sort()).toEqual([...whole].sort());
    expect((await runs.get('this'))?.state).toBe(state);
  },
);

test.each(['failed', 'cancelled'] as const)(
  'a backup that has %s takes away its own folder alone',
  async (state) => {
    const { storage, end } = await endOf(
      { kind: 'backup', backupId: NEWEST, state },
      { keep: 1, whole: [OLDEST, FAILED] },
    );
    for (const id of [NEWEST, BROKEN_OFF])
      await storage.put(`${id}/000000-counters.tar.gz`, Buffer.from('part'));
    await end();
    expect((await storage.folders()).sort()).toEqual([OLDEST, FAILED, BROKEN_OFF].sort());
  },
);

test.each([
  [2, [FAILED, NEWEST]],
  [3, [OLDEST, FAILED, NEWEST]],
  [4, [OLDEST, FAILED, NEWEST]],
])('of the complete backups the newest %i stay', async (keep, left) => {
  const { storage, runs, end } = await endOf(
    { kind: 'backup', backupId: NEWEST, state: 'completed' },
    { keep, whole: [OLDEST, FAILED] },
  );
  await complete(storage, NEWEST);
  await end();
  expect((await storage.folders()).sort()).toEqual([...left].sort());
  expect((await runs.lastBackup())?.backup_id).toBe(NEWEST);
});

test('a removal from a folder that was cut short is finished by the next one', async () => {
  const storage = createFolderStorage(folder);
  for (const id of [OLDEST, NEWEST]) await complete(storage, id);
  await mkdir(join(folder, '.unfinished-0001'));
  await writeFile(join(folder, '.unfinished-0001', 'part'), 'left');
  await removeOldBackups(storage, 1);
  expect(await readdir(folder)).toEqual([NEWEST]);
});
