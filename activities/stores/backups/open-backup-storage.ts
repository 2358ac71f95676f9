import type { Config } from '../../../schemas/config/config.js';
import type { BackupStorage } from '../../ports/backups.js';
import { createFolderStorage } from './folder-storage.js';

const BUCKET = /^s3:\/\/([^/]+)\/?(.*)$/;

/** Where BACKUP_LOCATION says; null: nowhere. The client of S3 is loaded only where it is wanted. */
export async function openBackupStorage({ location, s3 }: Config['backups']): Promise<BackupStorage | null> {
  if (location === null) return null;
  const [, bucket, path] = BUCKET.exec(location) ?? [];
  if (bucket === undefined) return createFolderStorage(location);
  const { createS3Storage } = await import('./s3-storage.js');
  return createS3Storage({ ...s3, bucket, prefix: withoutSlashes(path ?? '') });
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}
