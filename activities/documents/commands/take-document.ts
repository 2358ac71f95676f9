import { randomUUID } from 'node:crypto';
import { AppError } from '../../../schemas/app-error.js';
import type { Config } from '../../../schemas/config/config.js';
import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { PartitionRecord } from '../../../schemas/documents/partitions.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import type { Principal } from '../../../schemas/documents/users.js';
import type { Adapters } from '../../ports/adapters.js';
import type { WorkflowStarter } from '../../ports/tasks.js';
import type { Warnings } from '../../temporal/ask-temporal.js';
import { newFileKey } from './admit-task.js';
import { admitUpload } from './admit-upload.js';
import { checkUpload } from './check-upload.js';
import { confirmAdmission } from './confirm-admission.js';
import { createPartition, requireMayCreatePartition, withdrawPartition } from './create-partition.js';
import type { UploadToAdmit } from './new-task.js';
import type { Received, UploadName } from './received-upload.js';
import { alreadyExists, noSuchFile, noSuchPartition } from './refusals.js';
import { requireAdmissible, requireEmbedder } from './require-admissible.js';
import { serverAbilities } from './server-abilities.js';

export interface TakeDocumentDeps {
  adapters: Adapters;
  config: Pick<Config, 'callbacks' | 'documents' | 'parsing'>;
  workflows: WorkflowStarter;
  log: Warnings;
}

/** Whose document it is. */
export interface Uploader {
  readonly principal: Principal;
  /** Let in as one who may write there, not past a partition that was missing. */
  isEditorOf(partition: string): boolean;
  /** After bytes that took long to come. @throws AppError when the caller's token or session has ended */
  admitAnew(): Promise<void>;
  /** Of a partition that was created, or made anew, since. @throws AppError unless the caller may write there now */
  requireEditor(partition: string): Promise<void>;
  taskUrl(taskId: string): string;
}

/** Where the document goes. */
interface Place {
  partition: string;
  file_id: string;
  /** Whether a new document may create the partition where that is missing; a replacement never does. */
  creates_partition?: boolean;
}

/** A partition that was read so long ago is read anew: a large upload takes minutes. */
const RECENT_MS = 1000;

/**
 * Checks that need no document, its bytes, checks that need them, admission. Refused at any point, nothing is left.
 * @param by whose document it is
 * @param receive stores the bytes under the name given, as those of a file that admission will confirm
 */
export async function takeDocument(
  deps: TakeDocumentDeps,
  by: Uploader,
  { partition, file_id: fileId, creates_partition: creates = true }: Place,
  intent: TaskRecord['intent'],
  receive: (upload: UploadName) => Promise<Received>,
): Promise<TaskRecord> {
  const { adapters, config, log } = deps;
  const target = { partition, fileId, taskUrl: by.taskUrl };
  const place = await checkTarget(deps, by, target, intent);
  const requirePartition = (): void => {
    if (intent === 'replace') throw noSuchFile(target);
    if (!creates) throw noSuchPartition(partition);
  };
  if (place === null) requirePartition();
  const checkedAt = performance.now();

  const uploadId = randomUUID();
  // A key of its own also for what replaces a file: what cleans up behind that one must not find these bytes.
  const foreseen = { fileKey: newFileKey(), generation: await adapters.counters.nextGeneration() };
  const received = await receive({ blobId: uploadId, ...foreseen });
  try {
    const isRecent = performance.now() - checkedAt < RECENT_MS;
    if (!isRecent) await by.admitAnew();
    const known = place !== null && isRecent ? place : await adapters.partitions.get(partition);
    // Deleted while the bytes came.
    if (known === null) requirePartition();
    // Made while the bytes came, perhaps by another caller; or so long ago was the role asked for.
    if (known !== null && (known !== place || !by.isEditorOf(partition))) await by.requireEditor(partition);
    let present: FileRecord | null | undefined;
    const checked = await checkUpload(received, {
      stores: adapters,
      uploadId,
      abilities: await serverAbilities(deps, known),
      allowPrivateCallbacks: config.callbacks.allowPrivateAddresses,
      ...(intent === 'create'
        ? {
            requireNew: async () => void (present = await requireNew(deps, target)),
            findWorkspaces: (ids: readonly string[]) => findWorkspaces(adapters, partition, ids),
          }
        : {}),
    });
    const { task, partitionKey } = await admitInto(deps, by, known, {
      ...target,
      ...checked,
      intent,
      userId: by.principal.userId,
      foreseen,
      isUnlimited: by.principal.isAdmin,
      ...(present !== undefined && { present }),
    });
    await confirmAdmission(commandDeps(deps), {
      partition,
      partitionKey,
      fileId,
      fileKey: task.file_key,
      userId: by.principal.userId,
      workspaces: checked.workspaces,
    });
    return task;
  } catch (error) {
    await received
      .discard()
      .catch((failure: unknown) =>
        log.warn({ err: failure }, 'bytes of a refused upload are left to the sweep'),
      );
    throw error;
  }
}

function commandDeps({ adapters, config, workflows, log }: TakeDocumentDeps) {
  return { ...adapters, ...config.documents, workflows, log };
}

/**
 * Admits it into its partition. One that is made for it goes again where it is refused.
 * @param known null: there was no such partition
 */
async function admitInto(
  deps: TakeDocumentDeps,
  by: Uploader,
  known: PartitionRecord | null,
  upload: Omit<UploadToAdmit, 'embedder' | 'partitionKey'>,
): Promise<{ task: TaskRecord; partitionKey: string }> {
  // Deleted while the bytes came: a replacement makes none.
  if (known === null && upload.intent === 'replace') throw noSuchFile(upload);
  const { place, isNew } =
    known === null ? await openPartition(deps, by, upload.partition) : { place: known, isNew: false };
  const { embedder, partition_key: partitionKey } = place;
  try {
    return {
      task: await admitUpload(commandDeps(deps), { ...upload, embedder, partitionKey }),
      partitionKey,
    };
  } catch (error) {
    // Where a store failed it is not known what it did.
    if (isNew && error instanceof AppError && error.status < 500)
      await withdrawPartition(deps.adapters, place).catch((failure: unknown) =>
        deps.log.warn(
          { err: failure, partition: upload.partition },
          'the partition of a refused upload is left',
        ),
      );
    throw error;
  }
}

/**
 * Keys of the workspaces that an upload names.
 * @throws AppError WORKSPACE_NOT_FOUND (404), plain, for one that is not in this partition
 */
async function findWorkspaces(
  { workspaces }: Pick<Adapters, 'workspaces'>,
  partition: string,
  workspaceIds: readonly string[],
): Promise<string[]> {
  const keys: string[] = [];
  for (const id of new Set(workspaceIds)) {
    const found = await workspaces.get(partition, id);
    if (found === null) throw new AppError('WORKSPACE_NOT_FOUND', 'Workspace not found', { plain: true });
    keys.push(found.workspace_key);
  }
  return keys;
}

/** Answers the partition as it is before the bytes have come; null where it is yet to be made. */
async function checkTarget(
  { adapters, config }: TakeDocumentDeps,
  by: Uploader,
  { partition, fileId }: { partition: string; fileId: string },
  intent: TaskRecord['intent'],
): Promise<PartitionRecord | null> {
  await requireAdmissible(
    { ...adapters, ...config.documents },
    { partition, fileId, principal: by.principal, adds: intent === 'create' },
  );
  if (intent === 'replace') {
    const file = await adapters.files.get(partition, fileId);
    if (file === null || (file.live === null && file.pending_task === null))
      throw noSuchFile({ partition, fileId });
  }
  const present = await adapters.partitions.get(partition);
  if (present !== null) await requireEmbedder(adapters, present);
  else if (intent === 'create') {
    const { maxPartitionsPerUser } = config.documents;
    await requireMayCreatePartition(
      { ...adapters, maxPartitionsPerUser },
      { partition, userId: by.principal.userId },
    );
  }
  return present;
}

async function requireNew(
  { adapters }: TakeDocumentDeps,
  target: { partition: string; fileId: string },
): Promise<FileRecord | null> {
  const file = await adapters.files.get(target.partition, target.fileId);
  if (file?.live) throw alreadyExists(target);
  return file;
}

/** The upload's partition, created when it is missing; not before the upload has passed every check of its own. */
async function openPartition(
  { adapters, config }: TakeDocumentDeps,
  by: Uploader,
  partition: string,
): Promise<{ place: PartitionRecord; isNew: boolean }> {
  const present = await adapters.partitions.get(partition);
  if (present !== null) {
    await by.requireEditor(partition);
    return { place: present, isNew: false };
  }
  try {
    const { maxPartitionsPerUser } = config.documents;
    const place = await createPartition(
      { ...adapters, maxPartitionsPerUser },
      { partition, userId: by.principal.userId },
    );
    return { place, isNew: true };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'PARTITION_EXISTS') throw error;
    // Created in this moment, by this caller or by another: the role is asked of the record, not of the scope.
    await by.requireEditor(partition);
    const created = await adapters.partitions.get(partition);
    if (created === null) throw error;
    return { place: created, isNew: false };
  }
}
