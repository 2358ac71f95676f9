import type { Collection } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import type { FileStore } from '../../../ports/files.js';
import { nameKey, toFileRecord } from './file-document.js';
import type { FileDocument } from './file-document.js';
import { isDuplicateKey } from '../mongo-errors.js';

/** How often a record may change between our write and our look at it before we give up. */
const ATTEMPTS = 5;

type Input = Parameters<FileStore['admitFirst']>[0];
type Answer = Awaited<ReturnType<FileStore['admitFirst']>>;

/** The admission of a POST: insert, else examine the record that has the name, else take it over. */
export async function admitFirst(files: Collection<FileDocument>, input: Input): Promise<Answer> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const inserted = await insert(files, input);
    if (inserted !== null) return { outcome: 'admitted', file: toFileRecord(inserted) };
    const found = await files.findOne({ name_key: nameKey(input.partition, input.fileId) });
    // Deleted between the two calls (then the name is free) or: our key is a tombstone's (then it never will be).
    if (found === null) continue;
    const file = toFileRecord(found);
    if (file.pending_task === input.taskId) return { outcome: 'admitted', file };
    if (file.live !== null) return { outcome: 'exists', file };
    if (file.pending_task !== null) return { outcome: 'pending', file };
    if (file.file_key !== input.fileKey) return { outcome: 'other-key', file };
    if (file.latest_generation >= input.generation) return { outcome: 'stale' };
    const taken = await takeOver(files, input);
    if (taken !== null) return { outcome: 'admitted', file: toFileRecord(taken) };
  }
  throw new AppError('CONFLICT', 'The file changed while it was being admitted; try again.');
}

async function insert(files: Collection<FileDocument>, input: Input): Promise<FileDocument | null> {
  const now = new Date();
  const document: FileDocument = {
    _id: input.fileKey,
    name_key: nameKey(input.partition, input.fileId),
    partition: input.partition,
    partition_key: input.partitionKey,
    file_id: input.fileId,
    created_by: input.userId,
    ...belonging(input),
    ...attached(input),
    latest_generation: input.generation,
    live: null,
    pending_task: input.taskId,
    created_at: now,
    updated_at: now,
  };
  try {
    await files.insertOne(document);
    return document;
  } catch (error) {
    if (isDuplicateKey(error)) return null;
    throw error;
  }
}

function belonging({ workspaces = [] }: Input): Pick<FileDocument, 'workspaces' | 'independent'> {
  return {
    workspaces: [...workspaces],
    independent: workspaces.length === 0,
  };
}

function attached({ attachedTo }: Input): Pick<FileDocument, 'attached'> {
  if (attachedTo == null) return {};
  return { attached: { to: attachedTo.fileKey, generations: [attachedTo.generation] } };
}

/** A first task failed or was cancelled and left a record without a running task: one guarded update takes it over. */
function takeOver(files: Collection<FileDocument>, input: Input): Promise<FileDocument | null> {
  return files.findOneAndUpdate(
    {
      _id: input.fileKey,
      name_key: nameKey(input.partition, input.fileId),
      live: null,
      pending_task: null,
      latest_generation: { $lt: input.generation },
    },
    {
      $set: {
        pending_task: input.taskId,
        latest_generation: input.generation,
        created_by: input.userId,
        ...belonging(input),
        ...attached(input),
        metadata_patch: null,
        updated_at: new Date(),
      },
      // What a client uploads under the name of an attachment is none.
      ...(input.attachedTo == null ? { $unset: { attached: '' as const } } : {}),
      $inc: { revision: 1 },
    },
    { returnDocument: 'after' },
  );
}
