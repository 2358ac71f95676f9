/**
 * Backups: where they are kept, and records as they are stored; see `adapters.ts` for the rules that hold for all
 * ports.
 */
import type { BackupPart, BackupRun } from '../../schemas/backups/backups.js';

/**
 * A folder or a bucket. Names are made of `[A-Za-z0-9._-]` and slashes. Methods throw AppError BACKUP_STORAGE_ERROR
 * when it cannot be used.
 */
export interface BackupStorage {
  /** Where it is, for people; without credentials. */
  readonly place: string;
  /** Whole or not at all; one of that name is replaced. */
  put(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** @throws AppError NOT_FOUND */
  get(name: string, signal?: AbortSignal): Promise<Buffer>;
  /** The first steps of all names: a backup each. */
  folders(): Promise<string[]>;
  /**
   * Removes everything below a first step, what comes last by its name first: one that is cut short leaves parts
   * without their manifest. Repeating it is harmless.
   */
  removeFolder(folder: string): Promise<void>;
  close(): void;
}

/** A record as it is stored, times as Date. */
export type StoredDocument = Record<string, unknown> & { _id: string | number };

/** Records of any collection as they are stored, whatever release wrote them. */
export interface RecordArchive {
  /** About how many there are, without counting them. */
  estimate(collection: string): Promise<number>;
  /**
   * By id, from behind a point; `null`: from the first on. Large records make a page shorter: it ends with the one that
   * brings it to `bytes`.
   * @param page.upTo no greater id
   */
  page(
    collection: string,
    page: { after: string | number | null; size: number; bytes?: number; upTo?: number | undefined },
  ): Promise<StoredDocument[]>;
  getMany(
    collection: string,
    ids: readonly (string | number)[],
  ): Promise<Map<string | number, StoredDocument>>;
  /** Which of these ids there are. */
  existing(collection: string, ids: readonly (string | number)[]): Promise<Set<string | number>>;
  /** Records with these values, which a unique key tells apart. */
  matching(collection: string, values: Record<string, unknown>): Promise<StoredDocument[]>;
  /**
   * Puts records down as they are, in place of those with the same ids. Alerts are counted anew afterwards. Answers
   * those that are not there, since a unique key other than the id refused them.
   */
  write(collection: string, records: readonly StoredDocument[]): Promise<StoredDocument[]>;
  remove(collection: string, ids: readonly (string | number)[]): Promise<void>;
  /** A counter is not below a value afterwards. */
  raiseCounter(name: string, value: number): Promise<void>;
  /** Removes all but what every start puts there: the administrator. */
  clear(collection: string): Promise<void>;
  /** Whether a collection holds more than what every start puts there: also what is seeded does not count. */
  hasRecords(collection: string): Promise<boolean>;
  /** MongoDB's extended JSON: one line for one record, and back. @throws AppError BACKUP_NOT_USABLE */
  encode(record: StoredDocument): string;
  decode(line: string): StoredDocument;
}

/** Records of runs, and the parts that a run has written so far. */
export interface BackupRunStore {
  /** Repeating it changes nothing. */
  insert(run: Pick<BackupRun, 'run_id' | 'kind' | 'backup_id' | 'started_by'>): Promise<void>;
  get(runId: string): Promise<BackupRun | null>;
  /** The newest first. */
  list(limit: number): Promise<BackupRun[]>;
  /** The last backup that came to its end and was not removed; null: there is none. */
  lastBackup(): Promise<BackupRun | null>;
  /** These backups are removed; `lastBackup` answers none of them any more. Repeating it changes nothing. */
  markRemoved(backupIds: readonly string[]): Promise<void>;
  /** Of a run that has not ended; `done` never goes down. */
  report(runId: string, progress: Pick<BackupRun, 'phase' | 'done' | 'total' | 'figures'>): Promise<void>;
  /** Once; repeating it changes nothing. */
  finish(runId: string, end: Pick<BackupRun, 'state' | 'error'>): Promise<void>;
  /** A part written again by a repeated attempt replaces the former one of its number. */
  putPart(runId: string, part: number, written: BackupPart): Promise<void>;
  /** In their order. */
  parts(runId: string): Promise<BackupPart[]>;
  dropParts(runId: string): Promise<void>;
}

/** What the gateway asks of Temporal for backups. */
export interface BackupStarter {
  /** @throws AppError BACKUP_RUNNING, SERVICE_UNAVAILABLE */
  startBackup(run: { runId: string; vectors: boolean; startedBy: string }): Promise<void>;
  /** @throws AppError BACKUP_RUNNING, SERVICE_UNAVAILABLE */
  startRestore(run: { runId: string; backupId: string; replace: boolean; startedBy: string }): Promise<void>;
  /** @throws AppError BACKUP_NOT_RUNNING, SERVICE_UNAVAILABLE */
  cancelBackup(): Promise<void>;
}

export interface BackupAdapters {
  /** Null where BACKUP_LOCATION names none. */
  storage: BackupStorage | null;
  runs: BackupRunStore;
  archive: RecordArchive;
  /** Fingerprints of the keys that open what is sealed, the present one first; empty without SECRETS_KEY. */
  keyFingerprints: readonly string[];
  /** Whether anything is sealed with another key than the present one. */
  needsFormerKeys(): Promise<boolean>;
  /** The steps over records that this release knows. */
  knownSteps: readonly string[];
  /** False where SERVICES leaves them out: a backup that holds any cannot be restored here. */
  hasDocuments: boolean;
}
