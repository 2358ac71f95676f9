import { z } from 'zod';
import { BACKUP_ID_PATTERN, BACKUP_RUN_KINDS, BACKUP_RUN_STATES } from './backups.js';

/** Bodies of the endpoints of backups. */

const BackupId = z
  .string()
  .regex(BACKUP_ID_PATTERN, 'must be the id of a backup')
  .meta({ description: 'Such as `20260131T235959Z-0a1b2c3d`' });

export const BackupParams = z.object({ backup_id: BackupId });
export const BackupRunParams = z.object({ run_id: z.string().min(1).max(100) });

export const BackupStart = z
  .strictObject({
    vectors: z.boolean().default(true).meta({
      description: 'False: smaller, and chunks are embedded again when the backup is restored',
    }),
  })
  .meta({ id: 'BackupStart' });

export const RestoreStart = z
  .strictObject({
    backup_id: BackupId,
    replace: z
      .boolean()
      .default(false)
      .meta({ description: 'Restore also where records are: they are removed first' }),
  })
  .meta({ id: 'RestoreStart' });

export const BackupRunStarted = z.object({ run_id: z.string() }).meta({ id: 'BackupRunStarted' });

export const BackupRunBody = z
  .object({
    run_id: z.string(),
    kind: z.enum(BACKUP_RUN_KINDS),
    backup_id: z.string(),
    state: z.enum(BACKUP_RUN_STATES),
    phase: z.string().meta({ description: 'The section that is being written or restored' }),
    done: z.int().meta({ description: 'Records; a file with its bytes and chunks counts as one' }),
    total: z.int().nullable(),
    figures: z.record(z.string(), z.number()),
    started_by: z.string().meta({ description: 'The id of the user, or `schedule`' }),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    started_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'BackupRun' });
export type BackupRunBody = z.infer<typeof BackupRunBody>;

const BackupBody = z
  .object({
    backup_id: z.string(),
    usable: z.boolean().meta({ description: 'False: its manifest is damaged, or of a later release' }),
    started_at: z.iso.datetime().nullable(),
    finished_at: z.iso.datetime().nullable(),
    vectors: z.boolean().nullable(),
    bytes: z.int().nullable(),
    counts: z.record(z.string(), z.number()),
    secrets_key: z
      .string()
      .nullable()
      .meta({ description: 'Fingerprint of the SECRETS_KEY that the secrets in it are sealed with' }),
    missing_keys: z.array(z.string()).meta({
      description:
        'Fingerprints of keys that secrets in it are sealed with and that this service does not have',
    }),
    key_known: z.boolean().meta({ description: 'Whether this service has every key that is needed' }),
  })
  .meta({ id: 'Backup' });

export const BackupList = z
  .object({
    place: z.string().nullable().meta({ description: 'Where backups are kept; null: nowhere' }),
    backups: z.array(BackupBody),
  })
  .meta({ id: 'BackupList' });
export type BackupList = z.infer<typeof BackupList>;

export const BackupRuns = z.object({ runs: z.array(BackupRunBody) }).meta({ id: 'BackupRuns' });
