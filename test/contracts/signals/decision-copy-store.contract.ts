import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { DecisionCopyStore } from '../../../activities/ports/signals.js';
import { times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

/** The server removes copies of an earlier week. */
const AT = new Date();

/** What every store of decision copies promises: one change at a time, each on top of the one before. */
export function decisionCopyStoreContract(subject: Subject<DecisionCopyStore>): void {
  describe(`decision copy store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('a copy is kept per watcher and version, until it is dropped', async () => {
      const watcher = `w-${randomUUID()}`;
      expect(await store().read(watcher, 'v3')).toBeNull();
      const bytes = randomBytes(3_000_000);
      expect(await store().write(watcher, 'v3', { bytes, at: AT, behind: false }, 0)).toBe(true);
      const kept = await store().read(watcher, 'v3');
      expect([kept?.revision, kept?.at, kept?.bytes.equals(bytes)]).toEqual([1, AT, true]);
      expect(await store().read(watcher, 'v2')).toBeNull();
      await store().drop(watcher, 'v3');
      await store().drop(watcher, 'v3');
      expect(await store().read(watcher, 'v3')).toBeNull();
    });

    test('a copy is behind until it is noted, or written, otherwise; none is made by the note', async () => {
      const watcher = `w-${randomUUID()}`;
      expect(await store().setBehind(watcher, 'v3', true)).toBe(false);
      expect(await store().read(watcher, 'v3')).toBeNull();
      const copy = { bytes: Buffer.from('x'), at: AT, behind: true };
      await store().write(watcher, 'v3', copy, 0);
      expect(await store().read(watcher, 'v3')).toMatchObject({ behind: true, revision: 1 });
      expect(await store().setBehind(watcher, 'v3', false)).toBe(true);
      expect(await store().setBehind(watcher, 'v3', true)).toBe(false);
      expect(await store().setBehind(watcher, 'v3', true)).toBe(true);
      expect(await store().read(watcher, 'v3')).toMatchObject({ behind: true, revision: 1 });
      expect(await store().write(watcher, 'v3', { ...copy, behind: false }, 1)).toBe(true);
      expect(await store().read(watcher, 'v3')).toMatchObject({ behind: false, revision: 2 });
    });

    test('of several writers on one revision one wins', async () => {
      const watcher = `w-${randomUUID()}`;
      for (const revision of [0, 1, 2]) {
        const answers = await Promise.all(
          times(5, (i) =>
            store().write(watcher, 'v2', { bytes: Buffer.from([i]), at: AT, behind: false }, revision),
          ),
        );
        expect(answers.filter(Boolean)).toHaveLength(1);
      }
      expect((await store().read(watcher, 'v2'))?.revision).toBe(3);
      expect(await store().write(watcher, 'v2', { bytes: Buffer.from('x'), at: AT, behind: false }, 0)).toBe(
        false,
      );
    });
  });
}
