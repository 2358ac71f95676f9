/** Backups of everything that the stores keep, and the records of the runs that make and restore them. */

export const BACKUP_RUN_KINDS = ['backup', 'restore'] as const;
export type BackupRunKind = (typeof BACKUP_RUN_KINDS)[number];

export const BACKUP_RUN_STATES = ['running', 'completed', 'failed', 'cancelled'] as const;
export type BackupRunState = (typeof BACKUP_RUN_STATES)[number];

export function isFinalBackupState(state: BackupRunState): boolean {
  return state !== 'running';
}

/** One run that makes a backup or restores one. */
export interface BackupRun {
  run_id: string;
  kind: BackupRunKind;
  backup_id: string;
  state: BackupRunState;
  /** What is being done: the section of the backup. */
  phase: string;
  /** Records, a file with its bytes and chunks counted as one. Never goes down. */
  done: number;
  /** About how many there are; null until it is known. */
  total: number | null;
  figures: Record<string, number>;
  /** The id of the user, or `schedule`. */
  started_by: string;
  error: { code: string; message: string } | null;
  started_at: Date;
  updated_at: Date;
  finished_at: Date | null;
}

/**
 * The parts of a backup by what they hold, in the order in which they are restored. What others refer to comes first:
 * partitions and users before files, files before tasks.
 */
export const BACKUP_SECTIONS = ['counters', 'settings', 'files', 'tasks', 'signals'] as const;
export type BackupSection = (typeof BACKUP_SECTIONS)[number];

/** One object of a backup: a gzipped tar of some megabytes. */
export interface BackupPart {
  name: string;
  section: BackupSection;
  bytes: number;
  /** Hexadecimal, of the object as it is stored. */
  sha256: string;
  records: number;
}

/** What stands in the same place in every backup; written last, so that a backup without it is none. */
export interface BackupManifest {
  format: number;
  backup_id: string;
  started_at: string;
  finished_at: string;
  /** Without vectors the chunks are embedded again when they are restored. */
  vectors: boolean;
  /** Fingerprint of the SECRETS_KEY that sealed what is sealed in it; null: there was none. */
  secrets_key: string | null;
  /** Of keys before it that may have sealed some of it, where it was made before everything was sealed anew. */
  former_keys?: string[] | undefined;
  /** The steps over records that were done when it was made. */
  record_steps: string[];
  /** Records by collection; uploads, chunks and their bytes. */
  counts: Record<string, number>;
  parts: BackupPart[];
}

/** Fingerprints of all keys that open what is sealed in a backup, the newest first. */
export function keysOf({
  secrets_key: key,
  former_keys: former = [],
}: Pick<BackupManifest, 'secrets_key' | 'former_keys'>): string[] {
  return key === null ? former : [key, ...former];
}

/** A later release may write another one; what reads a backup refuses formats that it does not know. */
export const BACKUP_FORMAT = 1;

/** Ids are made of the time and the run, so that their order is that of the backups. */
export const BACKUP_ID_PATTERN = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;
