import type { Membership, UploaderCounts, UserRecord } from '../../../schemas/documents/users.js';

const identity = (user: UserRecord, counts: UploaderCounts | undefined) => ({
  id: user.user_id,
  display_name: user.display_name,
  external_user_id: user.external_user_id,
  email: user.email,
  is_admin: user.is_admin,
  file_quota: user.file_quota,
  file_count: counts?.files ?? 0,
});

/** A user as administrators see it. */
export const presentUser = (user: UserRecord, counts: UploaderCounts | undefined) => ({
  ...identity(user, counts),
  created_at: user.created_at.toISOString(),
});

/** A user whose token is shown, this once. */
export const presentNewUser = (user: UserRecord, token: string) => ({ ...identity(user, undefined), token });

export const presentMembership = ({ partition, role, added_at }: Membership) => ({
  partition,
  role,
  added_at: added_at.toISOString(),
});

/** A user as shown to itself. */
export const presentMe = (
  user: UserRecord,
  { files, pending }: UploaderCounts,
  memberships: readonly Membership[],
  quota: number,
) => ({
  ...identity(user, { files, pending }),
  memberships: memberships.map(presentMembership),
  pending_files: pending,
  total_files: files + pending,
  file_quota: quota,
  chainlit_enabled: false,
});
