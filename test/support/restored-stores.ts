import { tmpdir } from 'node:os';
import { packPart } from '../../activities/backups/part-archive.js';
import { writeManifest } from '../../activities/backups/manifest.js';
import { restoreSlice } from '../../activities/backups/restore-backup.js';
import type { RestorePosition, RestoreTarget } from '../../activities/backups/restore-backup.js';
import type { StoredDocument } from '../../activities/ports/backups.js';
import { BACKUP_FORMAT } from '../../schemas/backups/backups.js';
import type { BackupPart, BackupSection } from '../../schemas/backups/backups.js';
import { createFakeBackupStorage } from './fakes/backups/fake-backup-storage.js';
import { createFakeRecordArchive } from './fakes/backups/fake-record-archive.js';
import { createFakeStores } from './fakes/create-fake-stores.js';

export const ID = '20260131T235959Z-0a1b2c3d';

/** Some records of a collection, which are a part of their own. */
interface GivenPart {
  section: BackupSection;
  collection: string;
  records: readonly StoredDocument[];
}

/** Stores in memory, and a storage for backups of a part for each of these. */
export async function openRestoredStores(given: readonly GivenPart[]) {
  const storage = createFakeBackupStorage();
  const parts: BackupPart[] = [];
  for (const [number, { section, collection, records }] of given.entries()) {
    const lines = records.map((record) => JSON.stringify(record)).join('\n');
    const entries = [{ name: `records/${collection}.ndjson`, bytes: Buffer.from(lines) }];
    const { packed, sha256 } = await packPart(entries);
    const name = `${String(number).padStart(6, '0')}-${section}.tar.gz`;
    await storage.put(`${ID}/${name}`, packed);
    parts.push({ name, section, bytes: packed.length, sha256, records: records.length });
  }
  const at = new Date('2026-01-31T23:59:59Z').toISOString();
  await writeManifest(storage, {
    format: BACKUP_FORMAT,
    backup_id: ID,
    started_at: at,
    finished_at: at,
    vectors: false,
    secrets_key: null,
    record_steps: [],
    counts: {},
    parts,
  });
  const { archive, records } = createFakeRecordArchive();
  const target = {
    ...createFakeStores(),
    storage,
    archive,
    keyFingerprints: [],
    needsFormerKeys: async () => false,
    knownSteps: [],
    hasDocuments: true,
    scratchDirectory: tmpdir(),
  } as unknown as RestoreTarget;

  return {
    storage,
    parts,
    archive,
    records,
    target,

    /** A whole restore, slice by slice; `between` is called after each. */
    async restore({
      replace = false,
      between,
    }: {
      replace?: boolean;
      between?(position: RestorePosition): Promise<unknown>;
    } = {}): Promise<RestorePosition> {
      const control = { signal: new AbortController().signal, isOver: () => true, reached: () => undefined };
      for (let position: RestorePosition | null = null; ;) {
        position = await restoreSlice(target, { backupId: ID, replace }, position, control);
        if (position.phase === 'done') return position;
        await between?.(position);
      }
    },
  };
}
