import { describe, test, expect } from '@jest/globals';
import type { Subject } from './subject.js';
import type { CounterStore } from '../../activities/ports/files.js';
import { useSubject } from './subject.js';
import { times } from './samples.js';

export function counterStoreContract(subject: Subject<CounterStore>): void {
  describe(`counter store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('200 calls at once answer 200 numbers, and later ones are greater', async () => {
      const numbers = await Promise.all(times(200, () => store().nextGeneration()));
      expect(new Set(numbers).size).toBe(200);
      expect(await store().nextGeneration()).toBeGreaterThan(Math.max(...numbers));
      expect(numbers.every((number) => Number.isSafeInteger(number) && number > 0)).toBe(true);
    });
  });
}
