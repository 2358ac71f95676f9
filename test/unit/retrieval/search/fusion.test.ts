import { describe, expect, it, test } from '@jest/globals';
import fc from 'fast-check';
import {
  agreement,
  convexCombination,
  normalizeScores,
  reciprocalRankFusion,
  scaleScores,
} from '../../../../activities/retrieval/search/fusion.js';
import type { LegHit } from '../../../../activities/retrieval/search/fusion.js';

/** A leg as an engine gives it: distinct ids, best first. Scores on a grid, so that rescaling is exact enough. */
const leg = fc
  .uniqueArray(
    fc.record({ id: fc.stringMatching(/^[a-f]{1,2}$/), score: fc.integer({ min: -50, max: 50 }) }),
    {
      selector: ({ id }) => id,
      maxLength: 12,
    },
  )
  .map((hits) => hits.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)));
const weight = fc.constantFrom(0, 0.2, 0.5, 1);

function ids(hits: readonly { id: string }[]): string[] {
  return hits.map(({ id }) => id);
}

function rescale(hits: readonly LegHit[], factor: number, shift: number): LegHit[] {
  return hits.map(({ id, score }) => ({ id, score: score * factor + shift }));
}

describe('convexCombination', () => {
  test('weighs normalised scores, 0 where a leg lacks the hit', () => {
    const lexical = [
      { id: 'a', score: 12 },
      { id: 'b', score: 9 },
      { id: 'c', score: 2 },
    ];
    const dense = [
      { id: 'b', score: 0.9 },
      { id: 'd', score: 0.1 },
    ];
    expect(convexCombination(lexical, dense, { weight: 0.25 })).toEqual([
      { id: 'b', score: 0.75 * 0.7 + 0.25 },
      { id: 'a', score: 0.75 },
      { id: 'c', score: 0 },
      { id: 'd', score: 0 },
    ]);
  });

  test('counts hits that all score the same as found', () => {
    expect(normalizeScores([{ id: 'a', score: 3 }])).toEqual([{ id: 'a', score: 1 }]);
    expect(convexCombination([{ id: 'a', score: 3 }], [], { weight: 0.5 })).toEqual([
      { id: 'a', score: 0.5 },
    ]);
    expect(convexCombination([], [], { weight: 0.5 })).toEqual([]);
  });

  test('gives the union of the legs, each id once, scores falling from at most 1 to at least 0', () => {
    fc.assert(
      fc.property(leg, leg, weight, (lexical, dense, share) => {
        const fused = convexCombination(lexical, dense, { weight: share });
        expect(ids(fused).sort()).toEqual([...new Set([...ids(lexical), ...ids(dense)])].sort());
        fused.forEach(({ score }, index) => {
          expect(score).toBeLessThanOrEqual(fused[index - 1]?.score ?? 1);
          expect(score).toBeGreaterThanOrEqual(0);
        });
      }),
    );
  });

  test('does not depend on the scale of a leg, nor on the order of its hits', () => {
    // Powers of two keep the arithmetic exact, so that ties stay ties.
    fc.assert(
      fc.property(
        leg,
        leg,
        weight,
        fc.constantFrom(0.25, 2, 64),
        fc.integer(),
        (a, b, share, factor, shift) => {
          const fused = convexCombination(a, b, { weight: share });
          expect(convexCombination(rescale(a, factor, shift), b, { weight: share })).toEqual(fused);
          expect(convexCombination(a, rescale(b, factor, shift), { weight: share })).toEqual(fused);
          expect(convexCombination([...a].reverse(), [...b].reverse(), { weight: share })).toEqual(fused);
        },
      ),
    );
  });

  test('never places a hit behind one that both legs find worse', () => {
    fc.assert(
      fc.property(leg, leg, weight, (lexical, dense, share) => {
        const order = ids(convexCombination(lexical, dense, { weight: share }));
        const score = (hits: readonly LegHit[], id: string) =>
          hits.find((hit) => hit.id === id)?.score ?? -Infinity;
        for (const a of order)
          for (const b of order)
            if (
              score(lexical, a) > score(lexical, b) &&
              score(dense, a) > score(dense, b) &&
              share > 0 &&
              share < 1
            )
              if (score(lexical, b) > -Infinity || score(dense, b) > -Infinity)
                expect([order.indexOf(a) < order.indexOf(b), a, b]).toEqual([true, a, b]);
      }),
    );
  });
});

describe('reciprocalRankFusion', () => {
  test('adds 1 / (k + rank)', () => {
    const fused = reciprocalRankFusion(
      [
        [
          { id: 'a', score: 9 },
          { id: 'b', score: 8 },
        ],
        [{ id: 'b', score: 0.1 }],
      ],
      { k: 60 },
    );
    expect(fused).toEqual([
      { id: 'b', score: 1 / 62 + 1 / 61 },
      { id: 'a', score: 1 / 61 },
    ]);
  });

  test('gives the union, keeps a single leg as it is, breaks ties by id', () => {
    fc.assert(
      fc.property(fc.array(leg, { maxLength: 4 }), (legs) => {
        expect(ids(reciprocalRankFusion(legs)).sort()).toEqual([...new Set(legs.flatMap(ids))].sort());
        for (const one of legs) expect(ids(reciprocalRankFusion([one]))).toEqual(ids(one));
      }),
    );
    const tied = reciprocalRankFusion([[{ id: 'z', score: 1 }], [{ id: 'a', score: 1 }]]);
    expect(ids(tied)).toEqual(['a', 'z']);
  });
});

describe('scaleScores', () => {
  it('divides by the greatest score, whatever else was found', () => {
    const leg = [
      { id: 'a', score: 8 },
      { id: 'b', score: 2 },
    ];
    expect(scaleScores(leg)).toEqual([
      { id: 'a', score: 1 },
      { id: 'b', score: 0.25 },
    ]);
    expect(scaleScores([...leg, { id: 'c', score: 1 }]).slice(0, 2)).toEqual(scaleScores(leg));
  });

  it('keeps the order of a leg without a positive score, and takes an empty one', () => {
    const scaled = scaleScores([
      { id: 'a', score: -0.1 },
      { id: 'b', score: -0.4 },
    ]);
    expect(scaled[0]!.score).toBeGreaterThan(scaled[1]!.score);
    expect(scaleScores([])).toEqual([]);
  });
});

describe('agreement', () => {
  const found = (...ids: string[]) => ids.map((id, index) => ({ id, score: 100 - index }));

  it('is the share of the best dense hits that the lexical leg has', () => {
    expect(agreement(found('a', 'b', 'c', 'd'), found('a', 'c', 'x', 'y'))).toBe(0.5);
    expect(agreement(found('a', 'b'), found('x', 'y'))).toBe(0);
  });

  it('looks at ten, and at no more than a short leg could share', () => {
    const many = Array.from({ length: 20 }, (_, index) => `d${index}`);
    expect(agreement(found(...many.slice(10)), found(...many))).toBe(0);
    expect(agreement(found('d3'), found(...many))).toBe(1);
  });

  it('is 1 when a leg is empty: there is nothing to disagree with', () => {
    expect(agreement([], found('a'))).toBe(1);
    expect(agreement(found('a'), [])).toBe(1);
  });
});
