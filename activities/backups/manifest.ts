import { z } from 'zod';
import { AppError } from '../../schemas/app-error.js';
import { BACKUP_FORMAT, BACKUP_SECTIONS } from '../../schemas/backups/backups.js';
import type { BackupManifest } from '../../schemas/backups/backups.js';
import { sha256Hex } from '../../schemas/sha256.js';
import type { BackupStorage } from '../ports/backups.js';

const NAME = 'manifest.json';
const DIGEST_NAME = 'manifest.sha256';

const PART_NAME = /^[A-Za-z0-9._-]{1,100}$/;

const schema: z.ZodType<BackupManifest> = z.object({
  format: z.literal(BACKUP_FORMAT, { error: 'it is of a format that this release does not know' }),
  backup_id: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  vectors: z.boolean(),
  secrets_key: z.string().nullable(),
  former_keys: z.array(z.string()).optional(),
  record_steps: z.array(z.string()),
  counts: z.record(z.string(), z.number()),
  parts: z.array(
    z.object({
      name: z.string().regex(PART_NAME),
      section: z.enum(BACKUP_SECTIONS),
      bytes: z.int(),
      sha256: z.string(),
      records: z.int(),
    }),
  ),
});

/** The digest first: a manifest that can be read has one. */
export async function writeManifest(
  storage: BackupStorage,
  manifest: BackupManifest,
  signal?: AbortSignal,
): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  const { backup_id: id } = manifest;
  await storage.put(`${id}/${DIGEST_NAME}`, Buffer.from(`${sha256Hex(bytes)}  ${NAME}\n`), signal);
  await storage.put(`${id}/${NAME}`, bytes, signal);
}

/** @throws AppError NOT_FOUND without one, BACKUP_NOT_USABLE when it is damaged or of another format */
export async function readManifest(
  storage: BackupStorage,
  backupId: string,
  signal?: AbortSignal,
): Promise<BackupManifest> {
  const bytes = await storage.get(`${backupId}/${NAME}`, signal);
  const digest = (await storage.get(`${backupId}/${DIGEST_NAME}`, signal)).toString('utf8').slice(0, 64);
  if (digest !== sha256Hex(bytes)) throw new AppError('BACKUP_NOT_USABLE', 'The manifest is damaged.');
  const parsed = schema.safeParse(parseJson(bytes));
  if (!parsed.success)
    throw new AppError(
      'BACKUP_NOT_USABLE',
      `The manifest cannot be used: ${parsed.error.issues[0]?.message ?? 'it is no manifest'}.`,
    );
  return parsed.data;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
