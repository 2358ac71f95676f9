import type { UserStore } from '../../../activities/ports.js';
import type { UserRecord } from '../../../schemas/documents.js';
import { copyRecord } from './copy-record.js';

/** Users in a Map. */
export const createFakeUserStore = (): UserStore => {
  const users = new Map<number, UserRecord>();
  return {
    async ensureAdmin(tokenDigest) {
      const admin = users.get(1) ?? {
        user_id: 1,
        display_name: 'Admin',
        is_admin: true,
        token_digest: null,
        file_quota: null,
        created_at: new Date(),
      };
      users.set(1, { ...admin, token_digest: tokenDigest });
      return { ...admin, token_digest: tokenDigest };
    },
    async findByTokenDigest(digest) {
      return copyRecord([...users.values()].find((user) => user.token_digest === digest) ?? null);
    },
    async get(userId) {
      return copyRecord(users.get(userId) ?? null);
    },
  };
};
