/** Users and what they may have; see `adapters.ts` for the rules that hold for all ports. */
import type { UserPatch, UserRecord } from '../../schemas/documents/users.js';

export interface UserStore {
  /**
   * Creates user 1, the admin, or gives it the present token's digest (null when authentication is off).
   * @throws ConfigError that names AUTH_TOKEN when it is the token of another user
   */
  ensureAdmin(tokenDigest: string | null): Promise<UserRecord>;
  /** @param digest hexadecimal SHA-256 of the bearer token */
  findByTokenDigest(digest: string): Promise<UserRecord | null>;
  /** Null for one that is being deleted. */
  get(userId: number): Promise<UserRecord | null>;
  /** Those of the ids that exist. */
  getMany(userIds: readonly number[]): Promise<Map<number, UserRecord>>;
  /** By number. */
  list(): Promise<UserRecord[]>;
  /** @throws AppError USER_EXISTS for an external id, mail address or token in use */
  create(user: Omit<UserRecord, 'created_at' | 'deleted_at'>): Promise<UserRecord>;
  /** Null when there is no such user. @throws AppError USER_EXISTS */
  update(userId: number, patch: UserPatch): Promise<UserRecord | null>;
  /** The old token is dead from then on. Null when there is no such user. */
  setToken(userId: number, tokenDigest: string): Promise<UserRecord | null>;
  /** By external id first, then by mail address. */
  findByIdentity(identity: {
    externalUserId?: string | null | undefined;
    email?: string | null | undefined;
  }): Promise<UserRecord | null>;
  /**
   * Users whose name or mail address begins with a text (without case), or whose number it is; by number, after one.
   */
  search(request: {
    text: string;
    after: number;
    limit: number;
    without: readonly number[];
  }): Promise<UserRecord[]>;
  /** Takes token, names and visibility away in one update, and leaves a mark for the clean-up. False: no such user. */
  markDeleted(userId: number): Promise<boolean>;
  /** Marked, and not yet removed. */
  listDeleted(limit: number): Promise<UserRecord[]>;
  /** Removes a marked user for good. */
  remove(userId: number): Promise<void>;
}

/**
 * The part of a user's record that makes a quota hold: the tasks that will add a file to what the user has, each from
 * its admission until the file is live or given up. Every change is one update matched on the task, so that
 * repeating it is harmless.
 */
export interface QuotaStore {
  /** `turn` changes with every release: what was counted before one is out of date after it. */
  pending(userId: number): Promise<{ taskIds: string[]; turn: number }>;
  /**
   * Adds the task to the list while fewer than `room` are on it and `turn` is still the one that `room` was counted
   * at. A task that is on it already stays `reserved`.
   */
  reserve(input: {
    userId: number;
    taskId: string;
    room: number;
    turn: number;
  }): Promise<'reserved' | 'full' | 'changed'>;
  /** Takes tasks off whatever list they are on. */
  release(taskIds: readonly string[]): Promise<void>;
  /** The heir takes the place of a task that is on a list; nothing happens otherwise. */
  inherit(taskId: string, heir: string): Promise<void>;
  /** The lists that are not empty. */
  scan(): AsyncIterable<{ userId: number; taskIds: string[] }>;
}
