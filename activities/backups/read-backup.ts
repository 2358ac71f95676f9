import { BACKUP_SECTIONS } from '../../schemas/backups/backups.js';
import type { BackupManifest, BackupPart } from '../../schemas/backups/backups.js';
import type { BackupStorage } from '../ports/backups.js';
import { requireDigest, unpackPart } from './part-archive.js';
import type { PartEntry } from './part-archive.js';

/** Parts in the order in which they are restored. */
export function partsInOrder({ parts }: BackupManifest): BackupPart[] {
  return BACKUP_SECTIONS.flatMap((section) => parts.filter((part) => part.section === section));
}

/** The files of a part. @throws AppError BACKUP_NOT_USABLE when it is not what was written, NOT_FOUND */
export async function readPart(
  storage: BackupStorage,
  backupId: string,
  { name, sha256 }: BackupPart,
  signal: AbortSignal,
): Promise<PartEntry[]> {
  return await unpackPart(await storage.get(`${backupId}/${name}`, signal), sha256, name);
}

/** @throws AppError BACKUP_NOT_USABLE when a part is not what was written, NOT_FOUND */
export async function checkPart(
  storage: BackupStorage,
  backupId: string,
  { name, sha256 }: BackupPart,
  signal: AbortSignal,
): Promise<void> {
  requireDigest(await storage.get(`${backupId}/${name}`, signal), sha256, name);
}
