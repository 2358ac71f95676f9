import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitInTwo } from '../../../activities/models/split-text.js';

describe('splitInTwo', () => {
  test('loses nothing, makes both parts shorter and cuts no character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 0, maxLength: 400 }), (text) => {
        const parts = splitInTwo(text);
        if (parts === null) return expect(text.length).toBeLessThan(32);
        expect(parts.join('')).toBe(text);
        expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(text.length);
        expect(/\p{Surrogate}/u.test(parts.join('\n'))).toBe(/\p{Surrogate}/u.test(text));
      }),
    );
  });

  test.each([
    [`${'a '.repeat(20)}\n\n${'b '.repeat(22)}`, 'b '.repeat(22)],
    [`One short sentence of words. Another short sentence here.`, 'Another short sentence here.'],
    ['word '.repeat(20), 'word '.repeat(10)],
    ['x'.repeat(64), 'x'.repeat(32)],
  ])('cuts %j where it hurts least', (text, second) => expect(splitInTwo(text)?.[1]).toBe(second));

  test('takes time in proportion to the text', () => {
    expect(splitInTwo('x'.repeat(2_000_000))?.[0]).toHaveLength(1_000_000);
    expect(splitInTwo(' '.repeat(500_000))).not.toBeNull();
  });
});
