import { describe, expect, it } from '@jest/globals';
import {
  figureOf,
  mean,
  ndcg,
  percentile,
  recall,
  reciprocalRank,
} from '../../../../activities/retrieval/evaluation/measures.js';
import { seededRandom } from '../../../support/seeded-random.js';

function graded(grades: Record<string, number>): Map<string, number> {
  return new Map(Object.entries(grades));
}

const THREE = graded({ a: 1, b: 1, c: 1 });

describe('ndcg', () => {
  it('is worked out by hand for one ranking', () => {
    // Relevant at ranks 1 and 3 of 3 relevant ones: (1 + 1/log2 4) / (1 + 1/log2 3 + 1/log2 4).
    const expected = (1 + 0.5) / (1 + 1 / Math.log2(3) + 0.5);
    expect(ndcg(['a', 'x', 'b'], THREE, 10)).toBeCloseTo(expected, 12);
  });

  it('weighs grades, linearly', () => {
    // The lesser one leads: (1 + 3/log2 3) of (3 + 1/log2 3).
    const expected = (1 + 3 / Math.log2(3)) / (3 + 1 / Math.log2(3));
    expect(ndcg(['minor', 'major'], graded({ major: 3, minor: 1, none: 0 }), 10)).toBeCloseTo(expected, 12);
  });

  it('is 1 when the relevant ones lead, 0 when none is found or none exists', () => {
    expect(ndcg(['b', 'a', 'x'], graded({ a: 1, b: 1 }), 10)).toBe(1);
    expect(ndcg(['x'], graded({ a: 1 }), 10)).toBe(0);
    expect(ndcg(['x'], new Map(), 10)).toBe(0);
    expect(ndcg(['x'], graded({ x: 0 }), 10)).toBe(0);
  });

  it('looks at k items only, also for the ideal', () => {
    expect(ndcg(['x', 'a'], graded({ a: 1 }), 1)).toBe(0);
    expect(ndcg(['a'], THREE, 1)).toBe(1);
  });
});

describe('recall', () => {
  it('is the share found among the first k', () => {
    expect(recall(['a', 'x', 'b'], graded({ a: 1, b: 2, c: 1, d: 1, e: 0 }), 3)).toBe(0.5);
    expect(recall(['x', 'a'], graded({ a: 1 }), 1)).toBe(0);
    expect(recall([], new Map(), 10)).toBe(0);
  });
});

describe('reciprocalRank', () => {
  it('is that of the first relevant one', () => {
    expect(reciprocalRank(['x', 'b', 'a'], THREE)).toBe(0.5);
    expect(reciprocalRank(['x'], THREE)).toBe(0);
    expect(reciprocalRank([], THREE)).toBe(0);
  });
});

describe('mean and percentile', () => {
  it('are the arithmetic mean and the nearest rank', () => {
    expect(mean([1, 2, 6])).toBe(3);
    expect(percentile([1, 2, 3, 4], 0.5)).toBe(2);
    expect(percentile([1, 2, 3, 4], 0.95)).toBe(4);
  });
});

describe('figureOf', () => {
  it('is null of nothing, and certain of what is always the same', () => {
    expect(figureOf([])).toBeNull();
    expect(figureOf([0.5, 0.5, 0.5])).toEqual({ mean: 0.5, low: 0.5, high: 0.5, count: 3 });
  });

  it('gives the same values the same interval', () => {
    const values = Array.from({ length: 50 }, seededRandom(5));
    expect(figureOf(values)).toEqual(figureOf([...values]));
  });

  it('comes near to the interval of the normal approximation', () => {
    const values = Array.from({ length: 400 }, seededRandom(9));
    const figure = figureOf(values)!;
    const deviation = Math.sqrt(mean(values.map((value) => (value - figure.mean) ** 2)));
    const half = (1.96 * deviation) / Math.sqrt(values.length);
    expect(figure.low).toBeCloseTo(figure.mean - half, 2);
    expect(figure.high).toBeCloseTo(figure.mean + half, 2);
  });

  it('holds the true mean in about 95 of 100 samples', () => {
    const random = seededRandom(17);
    const held = Array.from({ length: 100 }, () => figureOf(Array.from({ length: 30 }, random))!).filter(
      ({ low, high }) => low <= 0.5 && 0.5 <= high,
    ).length;
    expect(held / 100).toBeGreaterThan(0.87);
  });
});
