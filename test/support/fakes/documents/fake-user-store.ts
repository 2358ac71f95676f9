import type { UserStore } from '../../../../activities/ports/users.js';
import { AppError } from '../../../../schemas/app-error.js';
import { ConfigError } from '../../../../schemas/config/config-error.js';
import type { UserRecord } from '../../../../schemas/documents/users.js';
import { copyRecord } from '../copy-record.js';

function begins(text: string | null, prefix: string): boolean {
  return text?.toLowerCase().startsWith(prefix.toLowerCase()) === true;
}

function sameEmail(a: string | null, b: string | null | undefined): boolean {
  return a !== null && b != null && a.toLowerCase() === b.toLowerCase();
}

/** Users in a Map. Each method does its work without awaiting, so that it is as atomic as an update. */
export function createFakeUserStore(): UserStore {
  const users = new Map<number, UserRecord>();
  /** Digest of the AUTH_TOKEN that user 1 last had its token from. */
  let environmentDigest: string | null = null;
  const all = (): UserRecord[] => [...users.values()].sort((a, b) => a.user_id - b.user_id);
  const present = (): UserRecord[] => all().filter(({ deleted_at }) => deleted_at === null);
  const one = (userId: number): UserRecord | undefined => present().find((user) => user.user_id === userId);
  const find = (matches: (user: UserRecord) => boolean): UserRecord | null =>
    copyRecord(present().find(matches) ?? null);
  const refuseTwins = (userId: number, wanted: Partial<UserRecord>): void => {
    const { external_user_id: id, email, token_digest: digest } = wanted;
    const twin = present().some(
      (user) =>
        user.user_id !== userId &&
        ((id != null && user.external_user_id === id) ||
          sameEmail(user.email, email) ||
          (digest != null && user.token_digest === digest)),
    );
    if (twin) throw new AppError('USER_EXISTS');
  };
  return {
    async ensureAdmin(tokenDigest) {
      const admin = users.get(1) ?? {
        user_id: 1,
        display_name: 'Admin',
        external_user_id: null,
        email: null,
        is_admin: true,
        file_quota: null,
        token_digest: null,
        created_at: new Date(),
        deleted_at: null,
      };
      const changed = tokenDigest === null || tokenDigest !== environmentDigest;
      const holder = present().find(({ token_digest: digest }) => digest !== null && digest === tokenDigest);
      if (changed && holder !== undefined && holder.user_id !== 1)
        throw new ConfigError(
          `AUTH_TOKEN: it is the token of user ${holder.user_id}; the administrator needs its own.`,
        );
      users.set(1, { ...admin, ...(changed ? { token_digest: tokenDigest } : {}) });
      environmentDigest = tokenDigest;
      return copyRecord(users.get(1) ?? admin);
    },
    findByTokenDigest: async (digest) => find(({ token_digest }) => token_digest === digest),
    get: async (userId) => copyRecord(one(userId) ?? null),
    async getMany(userIds) {
      return new Map(
        userIds.flatMap((id) => {
          const user = one(id);
          return user === undefined ? [] : [[id, copyRecord(user)] as const];
        }),
      );
    },
    list: async () => present().map(copyRecord),
    async create(user) {
      refuseTwins(user.user_id, user);
      if (users.has(user.user_id)) throw new AppError('USER_EXISTS');
      const record = { ...user, created_at: new Date(), deleted_at: null };
      users.set(user.user_id, record);
      return copyRecord(record);
    },
    async update(userId, patch) {
      const user = one(userId);
      if (user === undefined) return null;
      refuseTwins(userId, patch);
      return copyRecord(Object.assign(user, patch));
    },
    async setToken(userId, tokenDigest) {
      const user = one(userId);
      return user === undefined ? null : copyRecord(Object.assign(user, { token_digest: tokenDigest }));
    },
    async findByIdentity({ externalUserId, email }) {
      const byId = externalUserId == null ? null : find((user) => user.external_user_id === externalUserId);
      return byId ?? (email == null ? null : find((user) => sameEmail(user.email, email)));
    },
    async search({ text, after, limit, without }) {
      const long = [...text].length >= 3;
      return present()
        .filter(
          (user) =>
            user.user_id > after &&
            !without.includes(user.user_id) &&
            (String(user.user_id) === String(/^\d{1,15}$/.test(text) ? Number(text) : '') ||
              (long && (begins(user.display_name, text) || begins(user.email, text)))),
        )
        .slice(0, limit)
        .map(copyRecord);
    },
    async markDeleted(userId) {
      const user = one(userId);
      if (user === undefined) return false;
      Object.assign(user, {
        deleted_at: new Date(),
        is_admin: false,
        token_digest: null,
        external_user_id: null,
        email: null,
      });
      return true;
    },
    listDeleted: async (limit) =>
      all()
        .filter(({ deleted_at }) => deleted_at !== null)
        .slice(0, limit)
        .map(copyRecord),
    async remove(userId) {
      if (users.get(userId)?.deleted_at != null) users.delete(userId);
    },
  };
}
