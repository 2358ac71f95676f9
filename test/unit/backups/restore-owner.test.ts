import { beforeEach, describe, expect, it } from '@jest/globals';
import { writeManifest } from '../../../activities/backups/manifest.js';
import { restoreSlice } from '../../../activities/backups/restore-backup.js';
import type { RestorePosition, RestoreTarget } from '../../../activities/backups/restore-backup.js';
import { BACKUP_FORMAT } from '../../../schemas/backups/backups.js';
import { sampleChunk } from '../../contracts/samples.js';
import { createFakeBackupStorage } from '../../support/fakes/backups/fake-backup-storage.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';

const ID = 'nightly';
const now = new Date(0).toISOString();
const EMPTY = {
  format: BACKUP_FORMAT,
  backup_id: ID,
  started_at: now,
  finished_at: now,
  vectors: false,
  secrets_key: null,
  record_steps: [],
  counts: {},
  parts: [],
};

let target: RestoreTarget;

/** A fresh record store beside a vector store that holds a chunk of another one. */
beforeEach(async () => {
  const stores = createFakeStores();
  const storage = createFakeBackupStorage();
  await writeManifest(storage, EMPTY);
  const archive = { hasRecords: async () => false, clear: async () => undefined };
  target = {
    ...stores,
    storage,
    archive,
    keyFingerprints: [],
    needsFormerKeys: async () => false,
    knownSteps: [],
    hasDocuments: true,
  } as unknown as RestoreTarget;
  await stores.chunks.ensureSchema([{ vectorField: 'v', dimension: 1 }]);
  await stores.chunks.ownerOf('the store of before');
  await stores.chunks.put([{ chunk: sampleChunk(), vector: [1] }], 'v');
});

async function restore(replace: boolean): Promise<void> {
  const control = { signal: new AbortController().signal, isOver: () => true, reached: () => undefined };
  for (let position: RestorePosition | null = null; position?.phase !== 'done';)
    position = await restoreSlice(target, { backupId: ID, replace }, position, control);
}

describe('a restore into a fresh record store, on the chunks of another one', () => {
  it('is refused', async () => {
    await expect(restore(false)).rejects.toMatchObject({ code: 'RESTORE_NOT_EMPTY' });
    expect(await target.chunks.ownerOf('any')).toBe('the store of before');
  });

  it('with --replace makes the chunks its own', async () => {
    await restore(true);
    await target.chunks.put([{ chunk: sampleChunk(), vector: [1] }], 'v');
    expect(await target.chunks.ownerOf('any')).toBe(await target.recordStore.id());
  });
});
