import { describe, expect, it } from '@jest/globals';
import { durationCategory } from '../../../../activities/signals/reading/duration-category.js';
import { goDurationMs } from '../../../../activities/signals/reading/go-duration.js';
import { countDecisions } from '../../../../activities/signals/reading/count-decisions.js';

describe('goDurationMs', () => {
  it.each<[string, number | null]>([
    ['4h', 14_400],
    ['4h0m0s', 14_400],
    ['1h30m', 5_400],
    ['3h59m59.99s', 14_399.99],
    ['300ms', 0.3],
    ['1.5h', 5_400],
    ['.5m', 30],
    ['-4h', -14_400],
    ['+1s', 1],
    ['0', 0],
    ['-0', 0],
    ['1μs', 1e-6],
    ['2h45m30.5s', 9930.5],
    ['7d', 604_800],
    ['1µs', 1e-6],
    ['', null],
    ['-', null],
    ['4', null],
    ['h', null],
    ['4 h', null],
    ['4h ', null],
    ['4H', null],
    ['forever', null],
    ['1h'.repeat(33), null],
  ])('%j is %p seconds', (text, seconds) => {
    const read = goDurationMs(text);
    if (seconds === null) expect(read).toBeNull();
    else expect(read! / 1000).toBeCloseTo(seconds, 9);
  });
});

describe('durationCategory', () => {
  it.each<[string, string | null]>([
    ['0h', '<1h'],
    ['-4h', '<1h'],
    ['59m59s', '<1h'],
    ['60m', '1-24h'],
    ['1h', '1-24h'],
    ['4h0m0s', '1-24h'],
    ['23h59m59s', '1-24h'],
    ['24h', '1-7d'],
    ['167h', '1-7d'],
    ['168h', '>7d'],
    ['7d', '>7d'],
    ['whenever', null],
  ])('%s', (text, category) => {
    expect(durationCategory(text)).toBe(category);
  });
});

describe('countDecisions', () => {
  it('puts together what counts alike, and keeps what a decision does not tell as null', () => {
    const decision = (duration?: unknown, scenario: unknown = 'a/b') => ({ duration, scenario });
    expect(
      countDecisions({
        decisions: [decision('4h'), decision('5h'), decision('4h', 'x'), decision(), decision(4, 5), null, 7],
      }),
    ).toEqual([
      { scenario: 'a/b', category: '1-24h', count: 2 },
      { scenario: 'x', category: '1-24h', count: 1 },
      { scenario: 'a/b', category: null, count: 1 },
      { scenario: null, category: null, count: 3 },
    ]);
  });

  it.each([null, undefined, 7, 'text', [], {}, { decisions: null }, { decisions: {} }, { decisions: [] }])(
    'has none of %j',
    (signal) => {
      expect(countDecisions(signal)).toEqual([]);
    },
  );

  it('stays small whatever a signal holds, and counts all the same', () => {
    const decisions = Array.from({ length: 5_000 }, (_, index) => ({
      scenario: `s${index}`,
      duration: '1h',
    }));
    const counts = countDecisions({ decisions });
    expect(counts.length).toBeLessThanOrEqual(101);
    expect(counts.reduce((total, { count }) => total + count, 0)).toBe(5_000);
  });
});
