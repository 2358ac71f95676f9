import { describe, expect, test } from '@jest/globals';
import type { RecordStore } from '../../activities/ports/record-store.js';
import { times } from './samples.js';
import { useSubject } from './subject.js';
import type { Subject } from './subject.js';

/** What a record store promises of its name: it has one, and keeps it. */
export function recordStoreContract(subject: Subject<RecordStore>): void {
  describe(`record store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('has one id, whoever asks first', async () => {
      const ids = await Promise.all(times(8, () => store().id()));
      expect(new Set(ids).size).toBe(1);
      expect(await store().id()).toBe(ids[0]);
    });

    test('has another id than another store', async () => {
      const other = await subject.open();
      expect(await other.store.id()).not.toBe(await store().id());
      await other.close();
    });
  });
}
