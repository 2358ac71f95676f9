import { randomBytes } from 'node:crypto';
import type { Adapters } from '../../ports/adapters.js';
import type { UserPatch, UserRecord } from '../../../schemas/documents/users.js';
import { sha256Hex } from '../../../schemas/sha256.js';

/** The form of the wire contract, section 1.7: `or-` and 32 hexadecimal digits. */
export function newToken(): string {
  return `or-${randomBytes(16).toString('hex')}`;
}

/**
 * Makes a user. A positive DEFAULT_FILE_QUOTA is written into the record, so that a later default changes nothing.
 * @param token plain; only its digest is kept
 * @throws AppError USER_EXISTS
 */
export async function createUser(
  { users, counters }: Pick<Adapters, 'users' | 'counters'>,
  fields: UserPatch,
  { token, defaultFileQuota }: { token: string | null; defaultFileQuota: number },
): Promise<UserRecord> {
  return users.create({
    user_id: await counters.nextUserId(),
    display_name: fields.display_name ?? null,
    external_user_id: fields.external_user_id ?? null,
    email: fields.email ?? null,
    is_admin: fields.is_admin ?? false,
    file_quota: fields.file_quota ?? (defaultFileQuota > 0 ? defaultFileQuota : null),
    token_digest: token === null ? null : sha256Hex(token),
  });
}
