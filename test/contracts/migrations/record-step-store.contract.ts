import { describe, expect, test } from '@jest/globals';
import type { RecordStepStore } from '../../../activities/ports/migrations.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

/** What the record of steps promises: what is done stays done. */
export function recordStepStoreContract(subject: Subject<RecordStepStore>): void {
  describe(`record of steps (${subject.name})`, () => {
    const store = useSubject(subject);

    test('remembers each step once', async () => {
      expect(await store().applied()).toEqual([]);
      await Promise.all([store().markApplied('second'), store().markApplied('first')]);
      await store().markApplied('second');
      expect(await store().applied()).toEqual(['first', 'second']);
    });
  });
}
