import { AppError } from '../../../schemas/app-error.js';
import type { Adapters } from '../../ports/adapters.js';
import { effectiveQuota } from '../../../schemas/documents/users.js';
import type { UploaderCounts } from '../../../schemas/documents/users.js';

type Stores = Pick<Adapters, 'users' | 'quotas' | 'files'>;

/** How many files a user may have, under the service's default; null for no limit. Administrators have none. */
async function quotaOf(
  { users }: Pick<Adapters, 'users'>,
  userId: number,
  defaultQuota: number,
): Promise<number | null> {
  const user = await users.get(userId);
  const quota = effectiveQuota(user ?? { is_admin: false, file_quota: null }, defaultQuota);
  return quota < 0 ? null : quota;
}

/** 403 and not the 429 of its class, with a plain text (wire contract, section 0). */
function exceeded(quota: number): AppError {
  return new AppError('QUOTA_EXCEEDED', `File quota exceeded: at most ${quota} files are allowed`, {
    status: 403,
    plain: true,
  });
}

/** Each round that fails means that another task of this user ended meanwhile. */
const MAX_ROUNDS = 1000;

async function countsOf({ files }: Pick<Stores, 'files'>, userId: number): Promise<UploaderCounts> {
  return (await files.countByUploader([userId])).get(userId) ?? { files: 0, pending: 0 };
}

/** Whether a new file of a user takes a place; nothing is counted for who has no limit. */
export async function takesPlace(
  stores: Pick<Stores, 'users'> & { defaultFileQuota: number },
  userId: number,
): Promise<boolean> {
  return (await quotaOf(stores, userId, stores.defaultFileQuota)) !== null;
}

/**
 * Takes a place for one more file, for as long as its task runs; nothing for a user without a limit. Files are
 * counted between reading the list and adding to it, and the addition fails when the list lost an entry in between:
 * so a file is never counted by neither.
 * @throws AppError QUOTA_EXCEEDED (403), plain
 */
export async function reserveQuota(
  stores: Stores & { defaultFileQuota: number },
  input: { userId: number; taskId: string },
): Promise<void> {
  const quota = await quotaOf(stores, input.userId, stores.defaultFileQuota);
  if (quota === null) return;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { taskIds, turn } = await stores.quotas.pending(input.userId);
    const { files } = await countsOf(stores, input.userId);
    const answer = await stores.quotas.reserve({ ...input, room: quota - files, turn });
    if (answer === 'reserved') return;
    if (answer === 'changed') continue;
    // Counted twice: as a file, and on the list that its task is about to leave.
    const published = await stores.files.liveTasks(taskIds);
    if (published.length === 0) throw exceeded(quota);
    await stores.quotas.release(published);
  }
  throw new AppError('CONFLICT', 'The quota keeps changing; try again.');
}

/**
 * What can be refused before the bytes have come. Only `reserveQuota` decides.
 * @throws AppError QUOTA_EXCEEDED (403), plain
 */
export async function requireQuota(
  stores: Stores & { defaultFileQuota: number },
  userId: number,
): Promise<void> {
  const quota = await quotaOf(stores, userId, stores.defaultFileQuota);
  if (quota === null) return;
  const { files, pending } = await countsOf(stores, userId);
  if (files + pending >= quota) throw exceeded(quota);
}
