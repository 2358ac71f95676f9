import { AppError } from '../../schemas/app-error.js';
import { keysOf } from '../../schemas/backups/backups.js';
import type { BackupManifest } from '../../schemas/backups/backups.js';
import type { BackupAdapters, BackupStorage, RecordArchive } from '../ports/backups.js';
import { TELLING } from './backup-contents.js';
import { readManifest } from './manifest.js';
import { HOLDS_DOCUMENTS } from './without-documents.js';

export interface RestoreOrder {
  backupId: string;
  /** Removes what is there. */
  replace: boolean;
}

/**
 * Whether a backup can be restored here.
 * @throws AppError BACKUP_NOT_USABLE, RESTORE_NOT_EMPTY, NOT_FOUND
 */
export async function checkRestore(
  target: Pick<BackupAdapters, 'archive' | 'keyFingerprints' | 'knownSteps' | 'hasDocuments'> & {
    storage: BackupStorage;
  },
  { backupId, replace }: RestoreOrder,
  signal?: AbortSignal,
): Promise<BackupManifest> {
  const manifest = await readManifest(target.storage, backupId, signal);
  const { record_steps: steps } = manifest;
  const missing = keysOf(manifest).filter((key) => !target.keyFingerprints.includes(key));
  if (missing.length > 0)
    throw new AppError(
      'BACKUP_NOT_USABLE',
      `The secrets in the backup are sealed with a SECRETS_KEY of the fingerprint ${missing.join(' and ')}; ` +
        `set it as SECRETS_KEY, or as SECRETS_KEY_PREVIOUS beside another one.`,
    );
  const unknown = steps.filter((step) => !target.knownSteps.includes(step));
  if (unknown.length > 0)
    throw new AppError(
      'BACKUP_NOT_USABLE',
      `The backup was made by a later release: this one does not know ${unknown.join(', ')}.`,
    );
  if (!target.hasDocuments && (manifest.counts['files'] ?? 0) > 0)
    throw new AppError('BACKUP_NOT_USABLE', HOLDS_DOCUMENTS);
  if (!replace) await requireEmpty(target.archive);
  return manifest;
}

/** @throws AppError RESTORE_NOT_EMPTY that names what there is */
export async function requireEmpty(archive: RecordArchive): Promise<void> {
  const held: string[] = [];
  for (const collection of TELLING) if (await archive.hasRecords(collection)) held.push(collection);
  if (held.length > 0)
    throw new AppError(
      'RESTORE_NOT_EMPTY',
      `The stores hold records already (${held.join(', ')}); a restore would replace them.`,
    );
}
