import { describe, expect, test } from '@jest/globals';
import type { SavedRuleStore } from '../../../activities/ports/saved-rules.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

const AT = new Date('2026-11-24T12:00:00Z');

function setOf(...texts: string[]) {
  return { texts, savedBy: 'key', note: null, savedAt: AT };
}

/** What every store of saved rules promises: versions that follow each other, of two at once one. */
export function savedRuleStoreContract(subject: Subject<SavedRuleStore>): void {
  describe(`saved rules (${subject.name})`, () => {
    const store = useSubject(subject);

    test('are saved in versions, of which the newest stay', async () => {
      expect([await store().newest(), await store().get(), await store().list(9)]).toEqual([null, null, []]);
      const keep = 3;
      const first = await store().save({ ...setOf('a', 'b'), note: 'why' }, { after: 0, keep });
      expect(first).toEqual({ version: 1, ...setOf('a', 'b'), note: 'why' });
      expect(await store().save(setOf('late'), { after: 0, keep })).toBeNull();
      expect(await store().save(setOf('early'), { after: 7, keep })).toBeNull();
      expect(await store().save(setOf(), { after: 1, keep })).toMatchObject({ version: 2, texts: [] });
      expect(await store().newest()).toEqual({ version: 2, savedAt: AT });
      expect(await store().get()).toMatchObject({ version: 2 });
      expect(await store().get(1)).toEqual(first);

      const both = await Promise.all(['x', 'y'].map((text) => store().save(setOf(text), { after: 2, keep })));
      expect(both.filter((saved) => saved !== null)).toHaveLength(1);
      await store().save(setOf('last'), { after: 3, keep });
      expect((await store().list(9)).map(({ version, rules }) => [version, rules])).toEqual([
        [4, 1],
        [3, 1],
        [2, 0],
      ]);
      expect(await store().list(1)).toEqual([
        { version: 4, savedAt: AT, savedBy: 'key', note: null, rules: 1 },
      ]);
      expect(await store().get(1)).toBeNull();
    });
  });
}
