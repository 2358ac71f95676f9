import type { ApiKeyStore } from '../../../../activities/ports/signals.js';
import type { ApiKeyRecord } from '../../../../schemas/signals/api-keys.js';
import { copyRecord } from '../copy-record.js';

interface StoredKey extends ApiKeyRecord {
  digest: string;
  previousDigest: string | null;
}

function toRecord({ digest: _digest, previousDigest: _previous, ...record }: StoredKey): ApiKeyRecord {
  return copyRecord(record);
}

/** Named keys in a Map, by id. */
export function createFakeApiKeyStore(): ApiKeyStore {
  const keys = new Map<string, StoredKey>();
  return {
    async create({ id, name, scopes, digest, at }) {
      if ([...keys.values()].some((key) => key.name === name || key.digest === digest || key.id === id))
        return false;
      keys.set(id, {
        id,
        name,
        scopes: [...scopes],
        digest,
        previousDigest: null,
        createdAt: at,
        rotatedAt: null,
        lastUsedAt: null,
        previousUntil: null,
      });
      return true;
    },
    async list() {
      return [...keys.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(toRecord);
    },
    async find(digest, now) {
      const found = [...keys.values()].find(
        (key) =>
          key.digest === digest ||
          (key.previousDigest === digest && key.previousUntil !== null && key.previousUntil > now),
      );
      return found === undefined ? null : toRecord(found);
    },
    async rotate(id, { digest, previousUntil, at }) {
      const key = keys.get(id);
      if (key === undefined) return null;
      Object.assign(key, {
        previousDigest: previousUntil === null ? null : key.digest,
        previousUntil,
        digest,
        rotatedAt: at,
      });
      return toRecord(key);
    },
    async remove(id) {
      const key = keys.get(id);
      keys.delete(id);
      return key === undefined ? null : toRecord(key);
    },
    async touch(id, at) {
      const key = keys.get(id);
      if (key !== undefined && (key.lastUsedAt === null || key.lastUsedAt < at)) key.lastUsedAt = at;
    },
  };
}
