import type { Collection, Db, Filter, UpdateFilter } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import { ConfigError } from '../../../../schemas/config/config-error.js';
import { DEFAULT_ADMIN } from '../../../../schemas/documents/users.js';
import type { UserPatch, UserRecord } from '../../../../schemas/documents/users.js';
import type { UserStore } from '../../../ports/users.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

/** Unique fields are absent, and not null, when there is nothing: their indexes are sparse. */
interface UserDocument {
  _id: number;
  display_name: string | null;
  external_user_id?: string;
  email?: string;
  /** The address in small letters: what is unique. */
  email_key?: string;
  is_admin: boolean;
  file_quota?: number | null;
  token_digest?: string;
  /** User 1 only: the digest of the AUTH_TOKEN that it last had its token from. */
  environment_digest?: string;
  created_at: Date;
  deleted_at?: Date;
}

function toRecord(document: UserDocument): UserRecord {
  return {
    user_id: document._id,
    display_name: document.display_name,
    external_user_id: document.external_user_id ?? null,
    email: document.email ?? null,
    is_admin: document.is_admin,
    file_quota: document.file_quota ?? null,
    token_digest: document.token_digest ?? null,
    created_at: document.created_at,
    deleted_at: document.deleted_at ?? null,
  };
}

function emailKey(email: string): string {
  return email.toLowerCase();
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

const PRESENT: Filter<UserDocument> = { deleted_at: { $exists: false } };

/** Sets what is given, and takes away what is given as null. */
function changeOf(patch: UserPatch): UpdateFilter<UserDocument> {
  const set: Record<string, unknown> = {};
  const unset: Record<string, ''> = {};
  for (const field of ['display_name', 'is_admin', 'file_quota'] as const)
    if (patch[field] !== undefined) set[field] = patch[field];
  const unique = (field: string, value: string | null | undefined): void => {
    if (value === null) unset[field] = '';
    else if (value !== undefined) set[field] = value;
  };
  unique('external_user_id', patch.external_user_id);
  unique('email', patch.email);
  unique('email_key', patch.email == null ? patch.email : emailKey(patch.email));
  return {
    ...(Object.keys(set).length === 0 ? {} : { $set: set }),
    ...(Object.keys(unset).length === 0 ? {} : { $unset: unset }),
  };
}

/** Users in collection `users`, by number. */
export function createMongoUserStore(db: Db): UserStore {
  const users = db.collection<UserDocument>('users');
  const present = (userId: number): Filter<UserDocument> => ({ _id: userId, ...PRESENT });
  const find = async (filter: Filter<UserDocument>): Promise<UserRecord | null> => {
    const document = await users.findOne(filter);
    return document && toRecord(document);
  };
  const change = async (userId: number, update: UpdateFilter<UserDocument>): Promise<UserRecord | null> => {
    const document = await users.findOneAndUpdate(present(userId), update, { returnDocument: 'after' });
    return document && toRecord(document);
  };

  return withMongoErrors<UserStore>({
    ensureAdmin: async (tokenDigest) => toRecord(await ensureAdmin(users, tokenDigest)),
    findByTokenDigest: (digest) => find({ token_digest: digest, ...PRESENT }),
    get: (userId) => find(present(userId)),
    async getMany(userIds) {
      const documents = await users.find({ _id: { $in: [...new Set(userIds)] }, ...PRESENT }).toArray();
      return new Map(documents.map((document) => [document._id, toRecord(document)]));
    },
    async list() {
      return (await users.find(PRESENT).sort({ _id: 1 }).toArray()).map(toRecord);
    },
    async create({ user_id, external_user_id, email, token_digest, ...rest }) {
      const document: UserDocument = {
        _id: user_id,
        ...rest,
        ...(external_user_id === null ? {} : { external_user_id }),
        ...(email === null ? {} : { email, email_key: emailKey(email) }),
        ...(token_digest === null ? {} : { token_digest }),
        created_at: new Date(),
      };
      await refusingTwins(() => users.insertOne(document));
      return toRecord(document);
    },
    async update(userId, patch) {
      const update = changeOf(patch);
      if (Object.keys(update).length === 0) return find(present(userId));
      return refusingTwins(() => change(userId, update));
    },
    setToken: (userId, tokenDigest) => change(userId, { $set: { token_digest: tokenDigest } }),
    async findByIdentity({ externalUserId, email }) {
      const byExternalId = externalUserId == null ? null : await find({ external_user_id: externalUserId });
      return byExternalId ?? (email == null ? null : find({ email_key: emailKey(email) }));
    },
    async search({ text, after, limit, without }) {
      const begins = { $regex: `^${escaped(text)}`, $options: 'i' };
      const number = /^\d{1,15}$/.test(text) ? [{ _id: Number(text) }] : [];
      const names = [...text].length < 3 ? [] : [{ display_name: begins }, { email: begins }];
      if (number.length + names.length === 0) return [];
      const documents = await users
        .find({
          $and: [PRESENT, { _id: { $gt: after, $nin: [...without] } }, { $or: [...number, ...names] }],
        })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return documents.map(toRecord);
    },
    async markDeleted(userId) {
      const { matchedCount } = await users.updateOne(present(userId), {
        $set: { deleted_at: new Date(), is_admin: false },
        $unset: { token_digest: '', external_user_id: '', email: '', email_key: '' },
      });
      return matchedCount === 1;
    },
    async listDeleted(limit) {
      const documents = await users
        .find({ deleted_at: { $exists: true } })
        .limit(limit)
        .toArray();
      return documents.map(toRecord);
    },
    async remove(userId) {
      await users.deleteOne({ _id: userId, deleted_at: { $exists: true } });
    },
  });
}

async function refusingTwins<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDuplicateKey(error)) throw new AppError('USER_EXISTS', undefined, { cause: error });
    throw error;
  }
}

/**
 * User 1 has the token of the environment, until another one is made for it: that one holds until AUTH_TOKEN itself
 * changes. So a restart brings no dead token back, and an operator who has lost the token sets a new one.
 */
async function ensureAdmin(users: Collection<UserDocument>, digest: string | null): Promise<UserDocument> {
  const change =
    digest === null
      ? {
          $set: { is_admin: true },
          $unset: { token_digest: '' as const, environment_digest: '' as const },
        }
      : { $set: { is_admin: true, token_digest: digest, environment_digest: digest } };
  const guard = digest === null ? {} : { environment_digest: { $ne: digest } };
  // Several processes start at once: the second insert loses, and finds the record when it asks again.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      const document = await users.findOneAndUpdate(
        { _id: DEFAULT_ADMIN, ...guard },
        { ...change, $setOnInsert: { display_name: 'Admin', created_at: new Date() } },
        { upsert: true, returnDocument: 'after' },
      );
      if (document !== null) return document;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const found = await users.findOne({ _id: DEFAULT_ADMIN });
      if (found !== null && (digest === null || found.environment_digest === digest)) return found;
      const holder = digest === null ? null : await users.findOne({ token_digest: digest });
      if (holder !== null && holder._id !== DEFAULT_ADMIN)
        throw new ConfigError(
          `AUTH_TOKEN: it is the token of user ${holder._id}; the administrator needs its own.`,
        );
    }
  }
  throw new Error('user 1 can neither be found nor made');
}
