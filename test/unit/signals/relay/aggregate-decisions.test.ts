import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { aggregateDecisions, expandDecisions } from '../../../../api/signals/relay/aggregate-decisions.js';
import type { AggregatedDecisions } from '../../../../api/signals/relay/aggregate-decisions.js';
import { goDuration, goDurationMs } from '../../../../activities/signals/reading/go-duration.js';

const T0 = Date.UTC(2026, 2, 1);
const HOUR = 3_600_000;

describe('durations of Go', () => {
  test.each([
    ['4h', 4 * HOUR],
    ['3h59m59.5s', 4 * HOUR - 500],
    ['300ms', 300],
    ['1.5h', 1.5 * HOUR],
    ['-5m', -300_000],
    ['4d', 96 * HOUR],
    ['0', 0],
    ['1\u00b5s', 1e-3],
  ])('%s', (text, ms) => expect(goDurationMs(text)).toBeCloseTo(ms));

  test.each(['', '4', '4 h', 'h', '1h-2m', 'PT4H', '1h'.repeat(60)])('%j is none', (text) =>
    expect(goDurationMs(text)).toBeNull(),
  );

  test('whole seconds come back', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), (seconds) => {
        expect(goDurationMs(goDuration(seconds * 1000))).toBeCloseTo(seconds * 1000);
      }),
    );
  });
});

describe('aggregating, v3', () => {
  const group = (scenario: string, values: string[], duration = '4h') => ({
    scenario,
    scope: 'Ip',
    decisions: values.map((value) => ({ value, duration })),
  });
  const aggregate = (before: AggregatedDecisions | null, answer: unknown, startup = false, at = T0) =>
    aggregateDecisions(before, answer, { version: 'v3', startup, at });
  const values = (aggregated: AggregatedDecisions | null) =>
    aggregated?.decisions.map(({ value }) => value).sort();

  test('a start replaces everything, a delta takes away and adds', () => {
    const links = { blocklists: [{ name: 'l' }], allowlists: [] };
    const first = aggregate(
      null,
      { new: [group('a', ['1', '2']), group('b', ['2'])], deleted: [], links },
      true,
    );
    expect(values(first)).toEqual(['1', '2', '2']);
    const second = aggregate(first, {
      new: [group('a', ['3'])],
      deleted: [{ scope: 'ip', decisions: ['2'] }],
    });
    expect(values(second)).toEqual(['1', '3']);
    expect(second?.links).toEqual(links);
    expect(values(aggregate(second, { new: [group('z', ['9'])], deleted: [] }, true))).toEqual(['9']);
  });

  test('what is deleted and new in one answer is there afterwards', () => {
    const first = aggregate(null, { new: [group('a', ['1'], '1h')] }, true);
    const second = aggregate(first, {
      new: [group('a', ['1'], '9h')],
      deleted: [{ scope: 'Ip', decisions: ['1'] }],
    });
    expect(expandDecisions(second!, { startup: true, at: T0 })).toMatchObject({
      new: [{ decisions: [{ value: '1', duration: '9h0m0s' }] }],
    });
  });

  test('durations run down, what has ended is gone, what cannot be read stays as it is', () => {
    const first = aggregate(
      null,
      { new: [group('a', ['1'], '4h'), group('a', ['2'], '1h'), group('b', ['3'], 'for ever')] },
      true,
    );
    expect(expandDecisions(first!, { startup: true, at: T0 + HOUR + 1000 })).toEqual({
      new: [
        { scenario: 'a', scope: 'Ip', decisions: [{ value: '1', duration: '2h59m59s' }] },
        { scenario: 'b', scope: 'Ip', decisions: [{ value: '3', duration: 'for ever' }] },
      ],
      deleted: [],
      links: { blocklists: [], allowlists: [] },
    });
    expect(expandDecisions(first!, { startup: false, at: T0 })).toMatchObject({ new: [], deleted: [] });
  });

  test('a delta without a start, and what is no answer, give nothing', () => {
    expect(aggregate(null, { new: [], deleted: [] })).toBeNull();
    for (const answer of [undefined, null, [], 'x', {}, { message: 'OK' }])
      expect(aggregate(null, answer, true)).toBeNull();
    expect(
      values(aggregate(null, { new: [7, null, { decisions: 7 }, group('a', ['1'])], deleted: 'x' }, true)),
    ).toEqual(['1']);
  });

  test('agrees with a plain set, whatever the deltas', () => {
    const value = fc.constantFrom('1', '2', '3', '4');
    const delta = fc.record({ add: fc.array(value), remove: fc.array(value) });
    fc.assert(
      fc.property(fc.array(delta, { minLength: 1 }), (deltas) => {
        const plain = new Set<string>();
        let aggregated: AggregatedDecisions | null = null;
        deltas.forEach(({ add, remove }, index) => {
          if (index > 0) for (const gone of remove) plain.delete(gone);
          for (const fresh of add) plain.add(fresh);
          const answer = { new: [group('a', add)], deleted: [{ scope: 'Ip', decisions: remove }] };
          aggregated = aggregate(aggregated, answer, index === 0);
        });
        expect(values(aggregated)).toEqual([...plain].sort());
      }),
    );
  });
});

describe('aggregating, v2', () => {
  test('keeps each decision whole', () => {
    const decision = (value: string) => ({
      id: 1,
      origin: 'CAPI',
      scenario: 's',
      scope: 'Ip',
      type: 'ban',
      value,
      duration: '2h',
      uuid: 'u',
    });
    const options = { version: 'v2', at: T0 } as const;
    const first = aggregateDecisions(
      null,
      { new: [decision('1'), decision('2')] },
      { ...options, startup: true },
    );
    const second = aggregateDecisions(
      first,
      { new: [], deleted: [decision('1')] },
      { ...options, startup: false },
    );
    expect(expandDecisions(second!, { startup: true, at: T0 + HOUR })).toEqual({
      new: [{ ...decision('2'), duration: '1h0m0s' }],
      deleted: [],
    });
  });
});
