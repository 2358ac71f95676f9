import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ApiKeyStore } from '../../../activities/ports/signals.js';
import type { KeyScope } from '../../../schemas/signals/api-keys.js';
import { times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

function at(seconds: number): Date {
  return new Date(Date.UTC(2026, 2, 1, 12, 0, seconds));
}

/** What every store of named keys promises. */
export function apiKeyStoreContract(subject: Subject<ApiKeyStore>): void {
  describe(`API key store (${subject.name})`, () => {
    const store = useSubject(subject);
    const add = async (scopes: KeyScope[] = ['read']) => {
      const key = { id: randomUUID(), name: `key-${randomUUID()}`, scopes, digest: randomUUID(), at: at(0) };
      expect(await store().create(key)).toBe(true);
      return key;
    };

    test('a key is found by its digest, and its record holds no digest', async () => {
      const { id, name, digest } = await add(['read', 'write']);
      const found = await store().find(digest, at(1));
      expect(found).toEqual({
        id,
        name,
        scopes: ['read', 'write'],
        createdAt: at(0),
        rotatedAt: null,
        lastUsedAt: null,
        previousUntil: null,
      });
      expect(await store().find(randomUUID(), at(1))).toBeNull();
      expect(await store().find('', at(1))).toBeNull();
      expect(JSON.stringify(await store().list())).not.toContain(digest);
    });

    test('a name is given once, also to ten at once', async () => {
      const name = `key-${randomUUID()}`;
      const made = await Promise.all(
        times(10, () =>
          store().create({ id: randomUUID(), name, scopes: ['read'], digest: randomUUID(), at: at(0) }),
        ),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect((await store().list()).filter((key) => key.name === name)).toHaveLength(1);
    });

    test('rotation puts the new key in the place of the old one', async () => {
      const { id, digest } = await add();
      const next = randomUUID();
      const rotated = await store().rotate(id, { digest: next, previousUntil: null, at: at(5) });
      expect(rotated).toMatchObject({ id, rotatedAt: at(5), previousUntil: null });
      expect(await store().find(digest, at(6))).toBeNull();
      expect(await store().find(next, at(6))).toMatchObject({ id });
    });

    test('the old key stays valid as long as it was said, and no key before that', async () => {
      const { id, digest } = await add();
      const [second, third] = [randomUUID(), randomUUID()];
      await store().rotate(id, { digest: second, previousUntil: at(60), at: at(5) });
      expect(await store().find(digest, at(59))).toMatchObject({ id, previousUntil: at(60) });
      expect(await store().find(digest, at(60))).toBeNull();
      await store().rotate(id, { digest: third, previousUntil: at(90), at: at(10) });
      expect(await store().find(digest, at(20))).toBeNull();
      expect(await store().find(second, at(20))).toMatchObject({ id });
      expect(await store().find(third, at(500))).toMatchObject({ id });
    });

    test('of rotations at once one key is left', async () => {
      const { id } = await add();
      const digests = times(5, () => randomUUID());
      await Promise.all(
        digests.map((digest) => store().rotate(id, { digest, previousUntil: null, at: at(1) })),
      );
      const valid = await Promise.all(digests.map((digest) => store().find(digest, at(2))));
      expect(valid.filter((found) => found !== null)).toHaveLength(1);
    });

    test('a removed key is gone, with the one before it', async () => {
      const { id, digest, name } = await add();
      const next = randomUUID();
      await store().rotate(id, { digest: next, previousUntil: at(600), at: at(1) });
      expect(await store().remove(id)).toMatchObject({ id, name });
      expect(await store().remove(id)).toBeNull();
      expect(await store().rotate(id, { digest: randomUUID(), previousUntil: null, at: at(2) })).toBeNull();
      expect(await store().find(digest, at(3))).toBeNull();
      expect(await store().find(next, at(3))).toBeNull();
    });

    test('the last use never goes back', async () => {
      const { id, digest } = await add();
      await store().touch(id, at(9));
      await store().touch(id, at(7));
      expect(await store().find(digest, at(10))).toMatchObject({ lastUsedAt: at(9) });
      await store().touch(randomUUID(), at(9));
    });

    test('keys are listed by name', async () => {
      await add();
      await add();
      const names = (await store().list()).map(({ name }) => name);
      expect(names).toEqual([...names].sort());
    });
  });
}
