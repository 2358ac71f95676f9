import type { Db } from 'mongodb';
import type { UserRecord } from '../../../schemas/documents.js';
import type { UserStore } from '../../ports.js';
import { isDuplicateKey, withMongoErrors } from './mongo-errors.js';

const ADMIN_ID = 1;

interface UserDocument {
  _id: number;
  display_name: string;
  is_admin: boolean;
  /** Absent and not null when there is none: the unique index is sparse. */
  token_digest?: string;
  file_quota?: number | null;
  created_at: Date;
}

const toRecord = ({ _id, ...rest }: UserDocument): UserRecord => ({
  user_id: _id,
  display_name: rest.display_name,
  is_admin: rest.is_admin,
  token_digest: rest.token_digest ?? null,
  file_quota: rest.file_quota ?? null,
  created_at: rest.created_at,
});

/** Users in collection `users`, by number. */
export const createMongoUserStore = (db: Db): UserStore => {
  const users = db.collection<UserDocument>('users');

  const upsertAdmin = async (tokenDigest: string | null): Promise<UserRecord> => {
    const document = await users.findOneAndUpdate(
      { _id: ADMIN_ID },
      {
        $set: { is_admin: true, ...(tokenDigest === null ? {} : { token_digest: tokenDigest }) },
        ...(tokenDigest === null ? { $unset: { token_digest: '' as const } } : {}),
        $setOnInsert: { display_name: 'Admin', created_at: new Date() },
      },
      { upsert: true, returnDocument: 'after' },
    );
    if (document === null) throw new Error('an upsert answers a document');
    return toRecord(document);
  };

  return withMongoErrors<UserStore>({
    async ensureAdmin(tokenDigest) {
      try {
        return await upsertAdmin(tokenDigest);
      } catch (error) {
        // Several processes start at once: the second insert loses, and finds the record when it asks again.
        if (!isDuplicateKey(error)) throw error;
        return await upsertAdmin(tokenDigest);
      }
    },
    async findByTokenDigest(digest) {
      const document = await users.findOne({ token_digest: digest });
      return document && toRecord(document);
    },
    async get(userId) {
      const document = await users.findOne({ _id: userId });
      return document && toRecord(document);
    },
  });
};
