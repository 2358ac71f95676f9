import { describe, expect, it } from '@jest/globals';
import { createNameLikeness } from '../../../activities/text/name-likeness.js';

function likeness(query: string, name: string): number {
  return createNameLikeness(query)(name);
}

describe('how much names are alike', () => {
  it.each([
    ['annual report', 'Annual-Report'],
    ['été', 'ETE'],
    ['a b', 'b_a'],
  ])('is 1 for the same words: %s, %s', (query, name) => {
    expect(likeness(query, name)).toBeCloseTo(1);
  });

  it.each([
    ['', 'x'],
    ['x', ''],
    ['mill', 'oven'],
    ['---', '...'],
  ])('is 0 where nothing is common: %j, %j', (query, name) => {
    expect(likeness(query, name)).toBe(0);
  });

  it('orders what a person would look for', () => {
    const query = 'anual report';
    const names = ['annual-report-2024.pdf', 'report.pdf', 'manual.pdf', 'minutes.docx'];
    const scores = names.map((name) => likeness(query, name));
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores[0]).toBeGreaterThan(0.6);
    expect(scores[3]).toBeLessThan(0.2);
  });

  it('takes a part of a long name', () => {
    expect(likeness('budget', 'the-quite-long-name-of-a-budget-for-next-year.xlsx')).toBeGreaterThan(0.6);
  });

  it('is quick for names of any length', () => {
    const long = 'a-b'.repeat(100_000);
    expect(likeness('mill', long)).toBe(0);
    expect(likeness(long, 'a')).toBeGreaterThan(0);
  });
});
