import { expect, test } from '@jest/globals';
import { packPart, unpackPart } from '../../../activities/backups/part-archive.js';
import { readManifest } from '../../../activities/backups/manifest.js';
import { backupSlice } from '../../../activities/backups/write-backup.js';
import type { BackupPosition, BackupSource } from '../../../activities/backups/write-backup.js';
import type { RecordArchive } from '../../../activities/ports/backups.js';
import { createFakeBackupRunStore } from '../../support/fakes/backups/fake-backup-run-store.js';
import { createFakeBackupStorage } from '../../support/fakes/backups/fake-backup-storage.js';
import { createFakeStores } from '../../support/fakes/create-fake-stores.js';

const ID = '20260131T235959Z-0a1b2c3d';
const MIB = 1024 * 1024;

/** Alerts of half a MiB each, numbered from 1. */
function archiveOf(alerts: number): Pick<RecordArchive, 'page' | 'getMany' | 'estimate' | 'encode'> {
  const raw = 'x'.repeat(MIB / 2);
  return {
    async page(collection, { after, size, bytes = Infinity }) {
      if (collection !== 'alerts') return [];
      const first = Number(after ?? 0) + 1;
      const most = Math.min(size, Math.ceil(bytes / raw.length), alerts - first + 1);
      return Array.from({ length: most }, (_, at) => ({ _id: first + at, raw }));
    },
    getMany: async () => new Map(),
    estimate: async () => 0,
    encode: (record) => JSON.stringify(record),
  };
}

test('many large records become parts of a usual size, and none is left out', async () => {
  const storage = createFakeBackupStorage();
  const source = {
    ...createFakeStores(),
    storage,
    archive: archiveOf(101),
    runs: createFakeBackupRunStore(),
    keyFingerprints: [],
    needsFormerKeys: async () => false,
  } as unknown as BackupSource;
  const order = { runId: 'run', backupId: ID, vectors: true };
  const control = { signal: new AbortController().signal, isOver: () => false, reached: () => undefined };
  let position: BackupPosition | null = null;
  while (position?.phase !== 'done') position = await backupSlice(source, order, position, control);
  const { parts, counts } = await readManifest(storage, ID);
  expect(counts).toEqual({ alerts: 101 });
  const ids: number[] = [];
  for (const { name, sha256, section } of parts) {
    expect(section).toBe('signals');
    const entries = await unpackPart(storage.objects.get(`${ID}/${name}`)!, sha256, name);
    expect(entries.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(26 * MIB);
    for (const { bytes } of entries)
      for (const line of Buffer.from(bytes).toString().split('\n')) ids.push(JSON.parse(line)._id);
  }
  expect(ids).toEqual(Array.from({ length: 101 }, (_, at) => at + 1));
});

test('a part that no restore would open is not written', async () => {
  const bytes = Buffer.alloc(64 * MIB);
  const entries = ['a', 'b', 'c', 'd'].map((name) => ({ name, bytes }));
  await expect(packPart(entries)).rejects.toMatchObject({ code: 'BACKUP_NOT_USABLE' });
});
