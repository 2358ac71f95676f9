import { describe, expect, it } from '@jest/globals';
import { mean, ndcg, recall } from '../../bench/measures.js';

describe('ndcg', () => {
  it('is worked out by hand for one ranking', () => {
    // Relevant at ranks 1 and 3 of 3 relevant ones: (1 + 1/log2 4) / (1 + 1/log2 3 + 1/log2 4).
    const expected = (1 + 0.5) / (1 + 1 / Math.log2(3) + 0.5);
    expect(ndcg(['a', 'x', 'b'], new Set(['a', 'b', 'c']), 10)).toBeCloseTo(expected, 12);
  });

  it('is 1 when the relevant ones lead, 0 when none is found or none exists', () => {
    expect(ndcg(['b', 'a', 'x'], new Set(['a', 'b']), 10)).toBe(1);
    expect(ndcg(['x'], new Set(['a']), 10)).toBe(0);
    expect(ndcg(['x'], new Set(), 10)).toBe(0);
  });

  it('looks at k documents only, also for the ideal', () => {
    expect(ndcg(['x', 'a'], new Set(['a']), 1)).toBe(0);
    expect(ndcg(['a'], new Set(['a', 'b', 'c']), 1)).toBe(1);
  });
});

describe('recall', () => {
  it('is the share found among the first k', () => {
    expect(recall(['a', 'x', 'b'], new Set(['a', 'b', 'c', 'd']), 3)).toBe(0.5);
    expect(recall(['x', 'a'], new Set(['a']), 1)).toBe(0);
    expect(recall([], new Set(), 10)).toBe(0);
  });
});

describe('mean', () => {
  it('is the arithmetic one', () => {
    expect(mean([1, 2, 6])).toBe(3);
  });
});
