import type { BackupAdapters, BackupStorage, RecordArchive } from '../../../../activities/ports/backups.js';
import { createFakeBackupRunStore } from './fake-backup-run-store.js';
import { createFakeBackupStorage } from './fake-backup-storage.js';

/** What the routes of backups ask: the storage, the records of runs, and whether anything is stored. */
export function createFakeBackups() {
  const held = new Set<string>();
  const workerOnly = (): never => {
    throw new Error('the gateway reads and writes no records of a backup');
  };
  const archive: RecordArchive = {
    hasRecords: async (collection) => held.has(collection),
    estimate: workerOnly,
    page: workerOnly,
    getMany: workerOnly,
    existing: workerOnly,
    matching: workerOnly,
    write: workerOnly,
    remove: workerOnly,
    raiseCounter: workerOnly,
    clear: workerOnly,
    encode: workerOnly,
    decode: workerOnly,
  };
  const objects = createFakeBackupStorage();
  const adapters: BackupAdapters & { storage: BackupStorage | null } = {
    storage: objects,
    runs: createFakeBackupRunStore(),
    archive,
    keyFingerprints: ['0123456789abcdef'],
    needsFormerKeys: async () => false,
    knownSteps: ['a step'],
    hasDocuments: true,
  };
  return { ...adapters, held, objects };
}
