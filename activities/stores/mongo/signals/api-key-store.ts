import type { Db } from 'mongodb';
import type { ApiKeyRecord, KeyScope } from '../../../../schemas/signals/api-keys.js';
import type { ApiKeyStore } from '../../../ports/signals.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

/** A named key as collection `api_keys` keeps it. */
interface ApiKeyDocument {
  _id: string;
  /** Unique. */
  name: string;
  scopes: KeyScope[];
  /** SHA-256 of the key in hexadecimal; unique. */
  digest: string;
  previous: { digest: string; until: Date } | null;
  created_at: Date;
  rotated_at: Date | null;
  last_used_at: Date | null;
}

function toRecord(document: ApiKeyDocument): ApiKeyRecord {
  return {
    id: document._id,
    name: document.name,
    scopes: document.scopes,
    createdAt: document.created_at,
    rotatedAt: document.rotated_at,
    lastUsedAt: document.last_used_at,
    previousUntil: document.previous?.until ?? null,
  };
}

/** Two rotations at the same moment follow each other; more than a few do not happen. */
const ATTEMPTS = 5;

/** The named keys of the management side. Keys are random and long, so their plain digest is safe to keep. */
export function createMongoApiKeyStore(db: Db): ApiKeyStore {
  const keys = db.collection<ApiKeyDocument>('api_keys');
  return withMongoErrors<ApiKeyStore>({
    async create({ id, name, scopes, digest, at }) {
      try {
        await keys.insertOne({
          _id: id,
          name,
          scopes: [...scopes],
          digest,
          previous: null,
          created_at: at,
          rotated_at: null,
          last_used_at: null,
        });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
    async list() {
      return (await keys.find().sort({ name: 1 }).toArray()).map(toRecord);
    },
    async find(digest, now) {
      const document =
        (await keys.findOne({ digest })) ??
        (await keys.findOne({ 'previous.digest': digest, 'previous.until': { $gt: now } }));
      return document && toRecord(document);
    },
    async rotate(id, { digest, previousUntil, at }) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const present = await keys.findOne({ _id: id });
        if (present === null) return null;
        const previous = previousUntil === null ? null : { digest: present.digest, until: previousUntil };
        const rotated = await keys.findOneAndUpdate(
          { _id: id, digest: present.digest },
          { $set: { digest, previous, rotated_at: at } },
          { returnDocument: 'after' },
        );
        if (rotated !== null) return toRecord(rotated);
      }
      throw new Error('the key is rotated by others all the time');
    },
    async remove(id) {
      const removed = await keys.findOneAndDelete({ _id: id });
      return removed && toRecord(removed);
    },
    async touch(id, at) {
      await keys.updateOne({ _id: id }, { $max: { last_used_at: at } });
    },
  });
}
