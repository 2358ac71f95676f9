import type { Membership, UploaderCounts, UserRecord } from '../../../schemas/documents/users.js';

function identity(user: UserRecord, counts: UploaderCounts | undefined) {
  return {
    id: user.user_id,
    display_name: user.display_name,
    external_user_id: user.external_user_id,
    email: user.email,
    is_admin: user.is_admin,
    file_quota: user.file_quota,
    file_count: counts?.files ?? 0,
  };
}

/** A user as administrators see it. */
export function presentUser(user: UserRecord, counts: UploaderCounts | undefined) {
  return {
    ...identity(user, counts),
    created_at: user.created_at.toISOString(),
  };
}

/** A user whose token is shown, this once. */
export function presentNewUser(user: UserRecord, token: string) {
  return { ...identity(user, undefined), token };
}

export function presentMembership({ partition, role, added_at }: Membership) {
  return {
    partition,
    role,
    added_at: added_at.toISOString(),
  };
}

/** A user as shown to itself. */
export function presentMe(
  user: UserRecord,
  { files, pending }: UploaderCounts,
  memberships: readonly Membership[],
  quota: number,
) {
  return {
    ...identity(user, { files, pending }),
    memberships: memberships.map(presentMembership),
    pending_files: pending,
    total_files: files + pending,
    file_quota: quota,
    chainlit_enabled: false,
  };
}
