import { expect, test } from '@jest/globals';
import { readManifest } from '../../../activities/backups/manifest.js';
import { backupSlice } from '../../../activities/backups/write-backup.js';
import type { BackupPosition, BackupSource } from '../../../activities/backups/write-backup.js';
import { createFakeBackupRunStore } from '../../support/fakes/backups/fake-backup-run-store.js';
import { createFakeBackupStorage } from '../../support/fakes/backups/fake-backup-storage.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';

const ID = '20260131T235959Z-0a1b2c3d';

type Keys = Pick<BackupSource, 'keyFingerprints' | 'needsFormerKeys'>;

/** The present key first, and whether something is sealed with one before it. */
function keys(keyFingerprints: string[], isSealedByFormer: boolean): Keys {
  return { keyFingerprints, needsFormerKeys: async () => isSealedByFormer };
}

/** A backup of empty stores, begun by a worker with some keys and ended by one with others. */
async function keysNamed(atFirst: Keys, atLast = atFirst) {
  const storage = createFakeBackupStorage();
  const archive = { page: async () => [], getMany: async () => new Map(), estimate: async () => 0 };
  const runs = createFakeBackupRunStore();
  const source = { ...createFakeStores(), storage, archive, runs, knownSteps: [], hasDocuments: true };
  const order = { runId: 'run', backupId: ID, vectors: true };
  const signal = new AbortController().signal;
  const control = { signal, isOver: () => true, reached: () => undefined };
  let position: BackupPosition | null = null;
  for (let isFirst = true; position?.phase !== 'done'; isFirst = false) {
    const worker = { ...source, ...(isFirst ? atFirst : atLast) } as unknown as BackupSource;
    position = await backupSlice(worker, order, position, control);
  }
  const { secrets_key: present, former_keys: former } = await readManifest(storage, ID);
  return { present, former };
}

test('a backup names the present key alone where nothing is sealed with another one', async () => {
  expect(await keysNamed(keys([], false))).toEqual({ present: null, former: undefined });
  expect(await keysNamed(keys(['new', 'old'], false))).toEqual({ present: 'new', former: undefined });
});

test('between a change of the key and the sealing anew it names the key before as well', async () => {
  expect(await keysNamed(keys(['new', 'old'], true))).toEqual({ present: 'new', former: ['old'] });
});

test('what was read before the sealing anew, or before the change of the key, is not forgotten', async () => {
  const sealedAnew = keys(['new', 'old'], false);
  expect(await keysNamed(keys(['new', 'old'], true), sealedAnew)).toEqual({
    present: 'new',
    former: ['old'],
  });
  expect(await keysNamed(keys(['old'], false), sealedAnew)).toEqual({ present: 'new', former: ['old'] });
});
