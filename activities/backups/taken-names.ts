import { AppError } from '../../schemas/app-error.js';
import { DEFAULT_ADMIN } from '../../schemas/documents/users.js';
import type { RecordArchive, StoredDocument } from '../ports/backups.js';
import type { Adapters } from '../ports/adapters.js';
import type { StoredFile } from './stored-records.js';

/*
 * Two records with one name: a backup holds both where one was deleted, or moved, and another one made of its name
 * while it was read; and while a restore runs others may take a name of the backup. A unique key refuses the second.
 */

type Field = readonly string[];

/** Unique keys besides the id, of collections where one record may stand in another one's place. */
const UNIQUE: Readonly<Record<string, readonly Field[]>> = {
  users: [['external_user_id'], ['email_key'], ['token_digest']],
  workspaces: [['name_key']],
  prompts: [['prompt_type', 'name']],
  question_sets: [['partition_key', 'name', 'version']],
  api_keys: [['name'], ['digest']],
};

/**
 * Writes records. One that was made after the backup gives way to that of the backup, to which others of it refer; of
 * two of the backup the one that was made later stays. An alert that is there already stays. Answers how many records
 * of the backup are not there.
 */
export async function writeUnique(
  archive: RecordArchive,
  collection: string,
  records: readonly StoredDocument[],
  finishedAt: Date,
): Promise<number> {
  let leftOut = 0;
  for (const record of await archive.write(collection, records)) {
    const holders = await holdersOf(archive, collection, record);
    if (holders === null || holders.some((holder) => isKept(collection, holder, { record, finishedAt }))) {
      leftOut += 1;
      continue;
    }
    await archive.remove(
      collection,
      holders.map(({ _id }) => _id),
    );
    leftOut += holders.filter((holder) => !isLater(holder, finishedAt)).length;
    leftOut += (await archive.write(collection, [record])).length;
  }
  return leftOut;
}

/** The other records that have a unique value of this one; null where it is not looked for. */
async function holdersOf(
  archive: RecordArchive,
  collection: string,
  record: StoredDocument,
): Promise<StoredDocument[] | null> {
  const keys = UNIQUE[collection];
  if (keys === undefined) return null;
  const found = new Map<string | number, StoredDocument>();
  for (const fields of keys) {
    if (fields.some((field) => record[field] === undefined)) continue;
    const match = Object.fromEntries(fields.map((field) => [field, record[field]]));
    for (const holder of await archive.matching(collection, match)) found.set(holder._id, holder);
  }
  found.delete(record._id);
  return [...found.values()];
}

function isKept(
  collection: string,
  holder: StoredDocument,
  { record, finishedAt }: { record: StoredDocument; finishedAt: Date },
): boolean {
  if (collection === 'users' && holder._id === DEFAULT_ADMIN) return true;
  const { created_at: madeAt } = record;
  return !isLater(holder, finishedAt) && madeAt instanceof Date && isLater(holder, madeAt);
}

function isLater({ created_at: madeAt }: StoredDocument, time: Date): boolean {
  return madeAt instanceof Date && madeAt > time;
}

/**
 * Writes the record of a file, unless one that was made later has its name: generations do not tell, since a file with
 * a restored task has a new one. An older one is deleted as by a user; its clean-up does the rest. `former` is its key.
 */
export async function placeFile(
  { archive, files, claims }: Pick<Adapters, 'files' | 'claims'> & { archive: RecordArchive },
  record: StoredFile,
): Promise<{ placed: boolean; former: string | null }> {
  if ((await archive.write('files', [record])).length === 0) return { placed: true, former: null };
  const { partition, file_id: fileId } = record;
  const holder = await files.get(partition, fileId);
  let former: string | null = null;
  if (holder !== null) {
    // A failed upload leaves a record that holds nothing but the name.
    const isPresent = holder.live !== null || holder.pending_task !== null;
    if (isPresent && holder.created_at > record.created_at) return { placed: false, former: null };
    if (isPresent) former = (await files.markDeleted(partition, fileId, holder.file_key))?.file_key ?? null;
    else await archive.remove('files', [holder.file_key]);
    // The same bytes may come back under the other record.
    await claims.releaseFiles([holder.file_key]);
  }
  // Whatever took the name in this moment is looked at by the next attempt.
  if ((await archive.write('files', [record])).length > 0)
    throw new AppError('STORAGE_ERROR', `The name of the file ${record._id} was taken meanwhile.`);
  return { placed: true, former };
}
