import { AppError } from '../../schemas/app-error.js';
import { BACKUP_ID_PATTERN } from '../../schemas/backups/backups.js';
import type { BackupManifest } from '../../schemas/backups/backups.js';
import type { BackupStorage } from '../ports/backups.js';
import { readManifest } from './manifest.js';

/** Manifests of the backups that are complete, the newest first. One that is damaged is null. */
export async function listBackups(
  storage: BackupStorage,
): Promise<{ id: string; manifest: BackupManifest | null }[]> {
  const ids = (await storage.folders()).filter((folder) => BACKUP_ID_PATTERN.test(folder));
  const found: { id: string; manifest: BackupManifest | null }[] = [];
  for (const id of ids.sort().reverse())
    try {
      found.push({ id, manifest: await readManifest(storage, id) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'BACKUP_NOT_USABLE') found.push({ id, manifest: null });
      // Being made, or given up: without a manifest.
      else if (error.code !== 'NOT_FOUND') throw error;
    }
  return found;
}

/** Removes all complete backups but the newest ones; what is not ours stays. Answers the ids of those removed. */
export async function removeOldBackups(storage: BackupStorage, keep: number): Promise<string[]> {
  const complete = (await listBackups(storage)).filter(({ manifest }) => manifest !== null);
  const old = complete.slice(keep).map(({ id }) => id);
  for (const id of old) await storage.removeFolder(id);
  return old;
}

/** Removes what is there of backups that were given up: no manifest names their parts. */
export async function removeBrokenOff(storage: BackupStorage, brokenOff: readonly string[]): Promise<void> {
  const folders = new Set(await storage.folders());
  const left = brokenOff.filter((id) => folders.has(id));
  if (left.length === 0) return;
  const listed = new Set((await listBackups(storage)).map(({ id }) => id));
  for (const id of left) if (!listed.has(id)) await storage.removeFolder(id);
}
