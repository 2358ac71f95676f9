import type { BackupPart, BackupSection } from '../../schemas/backups/backups.js';
import type { BackupRunStore, BackupStorage } from '../ports/backups.js';
import { packPart } from './part-archive.js';
import type { PartEntry } from './part-archive.js';

/** Few enough to be held and sent at once, many enough that requests are no burden. */
const PART_BYTES = 16 * 1024 * 1024;

/** Collects files of a part and puts it into the storage once it is large enough. */
export function createPartWriter(
  { storage, runs }: { storage: BackupStorage; runs: Pick<BackupRunStore, 'putPart'> },
  target: { runId: string; backupId: string; signal: AbortSignal },
) {
  let entries: PartEntry[] = [];
  let size = 0;
  let records = 0;

  return {
    add(name: string, bytes: Uint8Array): void {
      entries.push({ name, bytes });
      size += bytes.length;
    },
    count(number: number): void {
      records += number;
    },
    isFull: (): boolean => size >= PART_BYTES,
    isEmpty: (): boolean => entries.length === 0,
    /** A repeated attempt writes the same number again. */
    async close(number: number, section: BackupSection): Promise<void> {
      const { packed, sha256 } = await packPart(entries);
      const name = `${String(number).padStart(6, '0')}-${section}.tar.gz`;
      await storage.put(`${target.backupId}/${name}`, packed, target.signal);
      const part: BackupPart = { name, section, bytes: packed.length, sha256, records };
      await runs.putPart(target.runId, number, part);
      entries = [];
      size = 0;
      records = 0;
    },
  };
}

export type PartWriter = ReturnType<typeof createPartWriter>;
