/** The records of users, and what a caller may see. */
export const ROLES = ['viewer', 'editor', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** The user that the environment makes: its token is AUTH_TOKEN. */
export const DEFAULT_ADMIN = 1;

/** A user. User 1 is the admin made from AUTH_TOKEN, and every caller when authentication is off. */
export interface Principal {
  userId: number;
  displayName: string;
  isAdmin: boolean;
}

/**
 * What a caller may see; built by the auth middleware, needed by every method that returns user data.
 * `all` is for a super admin and for the service's own clean-up only.
 */
export type Scope =
  | { readonly kind: 'all'; readonly userId: number }
  | { readonly kind: 'partitions'; readonly userId: number; readonly roles: Readonly<Record<string, Role>> };

/** What the service itself sees; it is no user. */
export const EVERYTHING: Scope = { kind: 'all', userId: 0 };

/** Whether a partition lies inside a scope (own keys only: a partition may be named like an Object member). */
export function inScope(scope: Scope, partition: string): boolean {
  return scope.kind === 'all' || Object.hasOwn(scope.roles, partition);
}

export interface UserRecord {
  user_id: number;
  display_name: string | null;
  /** Name at an identity provider; unique. */
  external_user_id: string | null;
  /** Unique, compared without case. */
  email: string | null;
  is_admin: boolean;
  /** Files this user may have; -1: no limit; null: DEFAULT_FILE_QUOTA. */
  file_quota: number | null;
  token_digest: string | null;
  created_at: Date;
  /** Being deleted: only the clean-up reads it. */
  deleted_at: Date | null;
}

/** What an administrator may change of a user; absent fields stay as they are. */
export type UserPatch = Partial<
  Pick<UserRecord, 'display_name' | 'external_user_id' | 'email' | 'is_admin' | 'file_quota'>
>;

/** What a user has uploaded, wherever it lies; derived from the file records. */
export interface UploaderCounts {
  /** Live files. */
  files: number;
  /** Files whose first indexing still runs. */
  pending: number;
}

const UNLIMITED = -1;

/** Files a user may have; -1: no limit (administrators always). */
export function effectiveQuota(
  user: Pick<UserRecord, 'is_admin' | 'file_quota'>,
  defaultQuota: number,
): number {
  const quota = user.is_admin ? UNLIMITED : (user.file_quota ?? defaultQuota);
  return quota < 0 ? UNLIMITED : quota;
}

export interface Membership {
  user_id: number;
  partition: string;
  role: Role;
  added_at: Date;
}
