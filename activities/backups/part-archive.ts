import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { AppError } from '../../schemas/app-error.js';
import { sha256Hex } from '../../schemas/sha256.js';

/** One file of a part. */
export interface PartEntry {
  name: string;
  bytes: Uint8Array;
}

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** A part is closed at 16 MiB; one that says it holds so much more was not written by us. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
/** Of a tar: a header for each entry, and what fills its last block up. */
const ENTRY_BYTES = 1024;

/**
 * A gzipped tar, which every tool opens; and its SHA-256.
 * @throws AppError BACKUP_NOT_USABLE when it would be larger than what a restore opens
 */
export async function packPart(entries: readonly PartEntry[]): Promise<{ packed: Buffer; sha256: string }> {
  const size = entries.reduce((sum, { bytes }) => sum + bytes.length + ENTRY_BYTES, 2 * ENTRY_BYTES);
  if (size > MAX_UNPACKED_BYTES)
    throw new AppError('BACKUP_NOT_USABLE', `A part of ${size} bytes could not be restored.`);
  const tar = pack();
  const tarred: Buffer[] = [];
  const ended = (async () => {
    for await (const part of tar as AsyncIterable<Buffer>) tarred.push(part);
  })();
  for (const { name, bytes } of entries)
    tar.entry({ name, size: bytes.length, mtime: new Date(0) }, Buffer.from(bytes));
  tar.finalize();
  await ended;
  // Uploads are mostly compressed already: the quickest level is what text needs.
  const packed = await zip(Buffer.concat(tarred), { level: 1 });
  return { packed, sha256: sha256Hex(packed) };
}

/** @throws AppError BACKUP_NOT_USABLE when it is not what was written */
export function requireDigest(packed: Buffer, sha256: string, name: string): void {
  if (sha256Hex(packed) !== sha256)
    throw new AppError('BACKUP_NOT_USABLE', `${name} is damaged: its SHA-256 is not what the manifest says.`);
}

/** @throws AppError BACKUP_NOT_USABLE when it is not what was written */
export async function unpackPart(packed: Buffer, sha256: string, name: string): Promise<PartEntry[]> {
  requireDigest(packed, sha256, name);
  const entries: PartEntry[] = [];
  try {
    const tar = extract();
    tar.end(await unzip(packed, { maxOutputLength: MAX_UNPACKED_BYTES }));
    for await (const entry of tar) {
      const bytes: Buffer[] = [];
      for await (const part of entry as AsyncIterable<Buffer>) bytes.push(part);
      entries.push({ name: entry.header.name, bytes: Buffer.concat(bytes) });
    }
  } catch (error) {
    throw new AppError('BACKUP_NOT_USABLE', `${name} cannot be read.`, { cause: error });
  }
  return entries;
}
