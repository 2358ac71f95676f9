import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fitWeight } from '../../../../activities/retrieval/evaluation/fit-weight.js';
import { mean } from '../../../../activities/retrieval/evaluation/measures.js';

describe('fitWeight', () => {
  it('chooses by all questions, and measures each by the choice of the other half', () => {
    const values = new Map([
      [0, [1, 0.2, 0.9, 0.2]],
      [0.5, [0.1, 0.8, 0.1, 0.8]],
      [1, [0, 0, 0, 0]],
    ]);
    // Even questions want words alone, odd ones half of each: each half is served what the other wants.
    expect(fitWeight(values)).toEqual({ weight: 0, heldOut: [0.1, 0.2, 0.1, 0.2] });
  });

  it('takes the lowest of equal weights, in whatever order they were tried', () => {
    expect(
      fitWeight(
        new Map([
          [0.4, [0.5, 0.5]],
          [0.1, [0.5, 0.5]],
          [0.9, [0.5, 0.4]],
        ]),
      ),
    ).toEqual({ weight: 0.1, heldOut: [0.5, 0.5] });
    // 0.1 + 0.2 is more than 0.3 to the last digit, and is not better.
    expect(
      fitWeight(
        new Map([
          [0.2, [0.3, 0, 0]],
          [0.6, [0.1, 0, 0.2]],
        ]),
      ).weight,
    ).toBe(0.2);
  });

  it('promises no more than the best weight has for each half', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }).chain((questions) =>
          fc.array(fc.array(share, { minLength: questions, maxLength: questions }), {
            minLength: 1,
            maxLength: 6,
          }),
        ),
        (table) => {
          const { weight, heldOut } = fitWeight(new Map(table.map((values, at) => [at / 10, values])));
          const best = Math.max(...table.map(mean));
          expect(mean(table[Math.round(weight * 10)]!)).toBeCloseTo(best, 8);
          for (const [at, value] of heldOut.entries())
            expect(table.map((values) => values[at])).toContain(value);
          for (const parity of [0, 1]) {
            const half = (values: readonly number[]): number[] => values.filter((_, at) => at % 2 === parity);
            if (half(heldOut).length > 0)
              expect(mean(half(heldOut))).toBeLessThanOrEqual(
                Math.max(...table.map((values) => mean(half(values)))) + 1e-9,
              );
          }
        },
      ),
    );
  });
});
