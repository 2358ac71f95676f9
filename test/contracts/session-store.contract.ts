import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { SessionRecord, SessionStore } from '../../activities/ports/sessions.js';
import { useSubject } from './subject.js';
import type { Subject } from './subject.js';

/** In the future: by its own clock the server removes what has ended. */
function at(seconds: number): Date {
  return new Date(Date.UTC(2100, 2, 1, 12, 0, seconds));
}

/** What every store of sessions promises. */
export function sessionStoreContract(subject: Subject<SessionStore>): void {
  describe(`session store (${subject.name})`, () => {
    const store = useSubject(subject);
    const open = async (session: Partial<SessionRecord> = {}) => {
      const digest = randomUUID();
      await store().insert(digest, {
        tokenDigest: 'token',
        keyDigest: null,
        createdAt: at(0),
        expiresAt: at(60),
        ...session,
      });
      return digest;
    };

    test('a session is found by its digest until it ends', async () => {
      const digest = await open({ keyDigest: 'key' });
      expect(await store().find(digest, at(59))).toEqual({
        tokenDigest: 'token',
        keyDigest: 'key',
        createdAt: at(0),
        expiresAt: at(60),
      });
      expect(await store().find(digest, at(60))).toBeNull();
      for (const other of [randomUUID(), '', digest.slice(1)])
        expect(await store().find(other, at(1))).toBeNull();
    });

    test('its end moves on, and never back', async () => {
      const digest = await open();
      await store().prolong(digest, at(100));
      await store().prolong(digest, at(80));
      expect(await store().find(digest, at(99))).toMatchObject({ expiresAt: at(100), createdAt: at(0) });
      expect(await store().find(digest, at(100))).toBeNull();
    });

    test('one that was removed is gone, and stays so', async () => {
      const [digest, other] = [await open(), await open({ tokenDigest: null, keyDigest: 'key' })];
      await store().remove(digest);
      await store().remove(digest);
      await store().prolong(digest, at(1000));
      expect(await store().find(digest, at(1))).toBeNull();
      expect(await store().find(other, at(1))).toMatchObject({ tokenDigest: null, keyDigest: 'key' });
    });

    test('what an identity provider opened is removed by the session there, or by its subject', async () => {
      const [subject, sid] = [randomUUID(), randomUUID()];
      const identity = { userId: 7, subject, sid };
      const digests = await Promise.all([
        open({ tokenDigest: null, identity }),
        open({ tokenDigest: null, identity: { ...identity, sid: null } }),
        open({ tokenDigest: null, identity: { ...identity, subject: randomUUID(), sid: randomUUID() } }),
        open(),
      ]);
      const left = async () => {
        const found = await Promise.all(digests.map((digest) => store().find(digest, at(1))));
        return found.map((session) => session !== null);
      };
      expect(await store().find(digests[0], at(1))).toMatchObject({ identity });
      await store().removeIdentity({ sid });
      expect(await left()).toEqual([false, true, true, true]);
      await store().removeIdentity({ subject });
      expect(await left()).toEqual([false, false, true, true]);
    });

    test('two sessions of one token know nothing of each other', async () => {
      const [first, second] = [await open(), await open()];
      await store().prolong(first, at(500));
      await store().remove(second);
      expect(await store().find(first, at(400))).toMatchObject({ tokenDigest: 'token' });
    });
  });
}
