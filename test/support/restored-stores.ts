import { tmpdir } from 'node:os';
import { BSON } from 'mongodb';
import { packPart } from '../../activities/backups/part-archive.js';
import type { PartEntry } from '../../activities/backups/part-archive.js';
import type { StoredFile } from '../../activities/backups/stored-records.js';
import { writeManifest } from '../../activities/backups/manifest.js';
import { restoreSlice } from '../../activities/backups/restore-backup.js';
import type { RestorePosition, RestoreTarget } from '../../activities/backups/restore-backup.js';
import type { RecordArchive, StoredDocument } from '../../activities/ports/backups.js';
import type { FileStore } from '../../activities/ports/files.js';
import { BACKUP_FORMAT } from '../../schemas/backups/backups.js';
import type { BackupPart, BackupSection } from '../../schemas/backups/backups.js';
import type { FileRecord } from '../../schemas/documents/documents.js';
import { createFakeBackupStorage } from './fakes/backups/fake-backup-storage.js';
import { createFakeRecordArchive } from './fakes/backups/fake-record-archive.js';
import { createFakeStores } from './fakes/create-fake-stores.js';

export const ID = '20260131T235959Z-0a1b2c3d';

/** Some records of a collection, or files without chunks, which are a part of their own. */
interface GivenPart {
  section: BackupSection;
  collection: string;
  records: readonly StoredDocument[];
}

function entriesOf({ collection, records }: GivenPart): PartEntry[] {
  const lines = records.map((record) => Buffer.from(BSON.EJSON.stringify(record)));
  if (collection !== 'files')
    return [{ name: `records/${collection}.ndjson`, bytes: Buffer.from(lines.join('\n')) }];
  return records.flatMap((record, at) => {
    const {
      upload_id: uploadId,
      task_id: taskId,
      generation,
    } = record['live'] as StoredFile['live'] & object;
    const uploads = [{ uploadId, taskId, generation }];
    return [
      { name: `files/${record._id}/begin.json`, bytes: Buffer.from(JSON.stringify({ uploads })) },
      { name: `files/${record._id}/upload/${uploadId}`, bytes: Buffer.from(`bytes of ${record._id}`) },
      { name: `files/${record._id}/record.ndjson`, bytes: lines[at]! },
    ];
  });
}

/** What a restore asks of the store of files, on the records that it writes. */
function filesOf(
  archive: RecordArchive,
  records: (collection: string) => StoredDocument[],
): Pick<FileStore, 'get' | 'getMany' | 'markDeleted'> {
  const toRecord = (file: StoredDocument): FileRecord =>
    ({ ...file, file_key: file._id }) as unknown as FileRecord;
  const named = (partition: string, fileId: string): StoredDocument | undefined =>
    records('files').find((file) => file['name_key'] === `${partition}/${fileId}`);
  return {
    async get(partition, fileId) {
      const found = named(partition, fileId);
      return found === undefined ? null : toRecord(found);
    },
    async getMany(fileKeys) {
      const found = await archive.getMany('files', fileKeys);
      return new Map([...found].map(([key, file]) => [String(key), toRecord(file)]));
    },
    async markDeleted(partition, fileId) {
      const found = named(partition, fileId)!;
      const { name_key: _name, ...nameless } = found;
      await archive.write('files', [
        { ...nameless, live: null, pending_task: null, tombstone_at: new Date() },
      ]);
      return toRecord(found);
    },
  };
}

/** Stores in memory, and a storage for backups of a part for each of these. */
export async function openRestoredStores(given: readonly GivenPart[]) {
  const storage = createFakeBackupStorage();
  const parts: BackupPart[] = [];
  for (const [number, part] of given.entries()) {
    const { packed, sha256 } = await packPart(entriesOf(part));
    const { section, records } = part;
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
    vectors: true,
    secrets_key: null,
    record_steps: [],
    counts: {},
    parts,
  });
  const { archive, records } = createFakeRecordArchive();
  const stores = createFakeStores();
  const target = {
    ...stores,
    files: { ...stores.files, ...filesOf(archive, records) },
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
