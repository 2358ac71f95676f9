import { randomUUID } from 'node:crypto';
import { bringAttached, settleChunks, settleClaims } from '../clean-up/settle-file.js';
import type { Adapters } from '../../ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import type { FileRecord, FileVersion, Metadata } from '../../../schemas/documents/documents.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import { mergeMetadata } from '../../../schemas/documents/merge-metadata.js';
import { requireMetadataSize } from './metadata-size.js';
import { askTemporal } from '../../temporal/ask-temporal.js';
import type { EndTaskDeps } from './end-task.js';
import { confirmPartition } from './confirm-admission.js';
import { alreadyExists, noSuchFile } from './refusals.js';

export interface PatchFileDeps extends EndTaskDeps {
  partitions: Adapters['partitions'];
  chunks: Adapters['chunks'];
  deduplicate: boolean;
}

export interface FilePatch {
  partition: string;
  fileId: string;
  metadata: Metadata;
  /** Where the file goes; null when it stays. */
  to: PartitionRecord | null;
}

/** Of a file with more chunks the filters follow in the background (wire contract, section 2). */
const MAX_CHUNKS_AT_ONCE = 1000;
/** Each round that fails means that something else changed the record in this moment. */
const MAX_ROUNDS = 200;

/**
 * The words of the live version, and those that an indexing under way will merge.
 * @throws AppError BAD_REQUEST when they would be too many
 */
function mergeInto(
  file: FileRecord,
  metadata: Metadata,
): { live: FileVersion | null; metadataPatch: Metadata | null } {
  const live = file.live && mergeMetadata(file.live, metadata);
  const metadataPatch = file.pending_task === null ? null : { ...file.metadata_patch, ...metadata };
  requireMetadataSize(live?.metadata ?? {}, file.live?.metadata);
  requireMetadataSize(metadataPatch ?? {}, file.metadata_patch ?? {});
  return { live, metadataPatch };
}

/**
 * Merges metadata into a file, and moves it, without touching text or vectors: one change of its record, which every
 * answer shows from then on. The chunks follow, so that filters do. An indexing that runs merges the words when it
 * publishes.
 * @throws AppError FILE_NOT_FOUND (404); FILE_EXISTS, DOCUMENT_CONTENT_EXISTS, CONFLICT (409) about the target
 */
export async function patchFile(deps: PatchFileDeps, patch: FilePatch): Promise<void> {
  const token = randomUUID();
  const { file, moved } = await changeRecord(deps, patch, token);
  const fileKey = file.file_key;
  try {
    if (moved && patch.to !== null) {
      await settleClaims(deps, fileKey);
      const mail = { ...patch.to, file_key: fileKey };
      await bringAttached(deps, mail, (attached, itsToken) => settleNowOrLater(deps, attached, itsToken));
    }
    await settleNowOrLater(deps, file, token);
  } catch (error) {
    // The record has decided: what fails from here on the sweep takes up, by the token.
    deps.log.warn({ err: error, file_key: fileKey }, 'what follows a change of a file is left to the sweep');
  }
  if (moved && patch.to !== null) {
    const { partition, partition_key: partitionKey } = patch.to;
    await confirmPartition(deps, { partition, partitionKey, fileId: patch.fileId, fileKey });
  }
}

async function settleNowOrLater(deps: PatchFileDeps, file: FileRecord, token: string): Promise<void> {
  const { file_key: fileKey } = file;
  if ((file.live?.chunk_count ?? 0) <= MAX_CHUNKS_AT_ONCE) await settleChunks(deps, fileKey, [token]);
  else
    await askTemporal(deps.log, `settling the chunks of file ${fileKey}`, () =>
      deps.workflows.startSettling(fileKey, token),
    );
}

async function changeRecord(
  deps: PatchFileDeps,
  { partition, fileId, metadata, to }: FilePatch,
  token: string,
): Promise<{ file: FileRecord; moved: boolean }> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const file = await deps.files.get(partition, fileId);
    if (file === null || (file.live === null && file.pending_task === null))
      throw noSuchFile({ partition, fileId });
    const target = to === null || to.partition_key === file.partition_key ? null : to;
    if (target !== null) await prepareMove(deps, file, target, token);
    const outcome = await deps.files.change({
      file,
      token,
      ...mergeInto(file, metadata),
      ...(target === null
        ? {}
        : {
            to: { partition: target.partition, partition_key: target.partition_key },
            // An attachment that leaves its mail is a file like any other.
            detach: true,
          }),
    });
    if (outcome === 'changed') return { file, moved: target !== null };
    if (outcome === 'exists' && target !== null) {
      await giveUpMove(deps, file, token);
      throw alreadyExists({ partition: target.partition, fileId });
    }
  }
  throw new AppError('CONFLICT', 'Too many changes of this file at once');
}

/** Before the record changes: the bytes are claimed in the target, so that they cannot be added there meanwhile. */
async function prepareMove(
  deps: PatchFileDeps,
  file: FileRecord,
  to: PartitionRecord,
  token: string,
): Promise<void> {
  const pending = file.pending_task === null ? null : await deps.tasks.get(file.pending_task);
  const versions = [
    ...(file.live === null ? [] : [{ ...file.live, taskId: file.live.task_id }]),
    ...(pending === null ? [] : [{ ...pending.upload, embedder: pending.embedder, taskId: pending.task_id }]),
  ];
  // It would come in behind the swap, with the old vectors alone.
  if (to.swap !== null) throw new AppError('EMBEDDER_SWAP_IN_PROGRESS');
  if (versions.some(({ embedder }) => embedder !== to.embedder))
    throw new AppError('CONFLICT', `Partition '${to.partition}' has another embedder`, { plain: true });
  await requireFreeNames(deps, file, to);
  if (!deps.deduplicate) return;
  await deps.files.announce(file.file_key, token);
  for (const { content_sha256: digest, taskId } of versions) {
    const { partition } = to;
    const claim = { partition, digest, fileKey: file.file_key, fileId: file.file_id, taskId };
    const holder = await deps.claims.claim(claim);
    if (holder === null) continue;
    await giveUpMove(deps, file, token);
    throw new AppError('DOCUMENT_CONTENT_EXISTS', undefined, {
      details: { existing_file_id: holder.existingFileId },
    });
  }
}

/** Of the attachments that come along: they are found out before the mail is gone. */
async function requireFreeNames(
  deps: PatchFileDeps,
  { file_key: fileKey }: FileRecord,
  to: PartitionRecord,
): Promise<void> {
  for (const attached of await deps.files.listAttached(fileKey)) {
    const { partition } = to;
    const there = await deps.files.get(partition, attached.file_id);
    if (there !== null && there.file_key !== attached.file_key)
      throw alreadyExists({ partition, fileId: attached.file_id });
    await requireFreeNames(deps, attached, to);
  }
}

async function giveUpMove(deps: PatchFileDeps, file: FileRecord, token: string): Promise<void> {
  await settleClaims(deps, file.file_key);
  await settleChunks(deps, file.file_key, [token]);
}
