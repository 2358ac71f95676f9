import { describe, expect, it } from '@jest/globals';
import { createRepeatedLines } from '../../../../activities/documents/parsing/repeated-lines.js';
import type { EdgeLine } from '../../../../activities/documents/parsing/repeated-lines.js';

function pages(count: number, line: (page: number) => Omit<EdgeLine, 'page'>): EdgeLine[] {
  return Array.from({ length: count }, (_, i) => ({ page: i + 1, ...line(i + 1) }));
}

function dropped(lines: EdgeLine[]): boolean[] {
  const repeated = createRepeatedLines();
  repeated.learn(lines);
  return lines.map((line) => repeated.repeats(line));
}

describe('running headers and footers', () => {
  it('are the same text, with a number that counts along, at the same height', () => {
    expect(dropped(pages(3, () => ({ text: 'The Handbook', height: 0.04 })))).toEqual([true, true, true]);
    expect(dropped(pages(4, (n) => ({ text: `Page ${n} of 4`, height: 0.96 })))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(dropped(pages(3, (n) => ({ text: `${n + 11}`, height: 0.96 })))).toEqual([true, true, true]);
  });

  it('are not lines that differ, move about or stand on two pages only', () => {
    expect(dropped(pages(2, () => ({ text: 'Twice', height: 0.04 })))).toEqual([false, false]);
    expect(dropped(pages(3, (n) => ({ text: 'Moves', height: n * 0.1 })))).toEqual([false, false, false]);
    expect(dropped(pages(3, (n) => ({ text: `Costs ${n * 7} euro`, height: 0.9 })))).toEqual([
      false,
      false,
      false,
    ]);
    expect(dropped(pages(3, (n) => ({ text: `Chapter ${n}`, height: 0.07, heading: true })))).not.toContain(
      true,
    );
  });

  it('are not numbers of documents that count along with the pages', () => {
    for (const text of [
      (n: number) => `Invoice ${1000 + n}`,
      (n: number) => `Lot 000${n}`,
      (n: number) => `Offer no. ${n}`,
      (n: number) => `Payslip ${n}/2024`,
      (n: number) => `Invoice ${n}`,
      (n: number) => `Question ${n}`,
    ])
      expect(dropped(pages(4, (n) => ({ text: text(n), height: 0.04 })))).not.toContain(true);
    for (const text of [(n: number) => `Handbook ${n}`, (n: number) => `Contract 2024-017, page ${n} of 4`])
      expect(dropped(pages(4, (n) => ({ text: text(n), height: 0.04 })))).not.toContain(false);
  });

  it('may count on from the pages of a journal or book', () => {
    for (const text of [
      (n: number) => `${230 + n} Annual report`,
      (n: number) => `Annual report | ${230 + n}`,
    ])
      expect(dropped(pages(4, (n) => ({ text: text(n), height: 0.04 })))).not.toContain(false);
  });

  it('say once what they say, other than the number of a page', () => {
    const firsts = (lines: EdgeLine[]): boolean[] => {
      const repeated = createRepeatedLines();
      repeated.learn(lines);
      return lines.map((line) => repeated.takeFirst(line));
    };
    const footer = (text: (page: number) => string): EdgeLine[] =>
      pages(3, (n) => ({ text: text(n), height: 0.96 }));
    expect(firsts(footer(() => 'IBAN FR76 3000'))).toEqual([true, false, false]);
    expect(firsts(footer(() => 'hello@mill.example'))).toEqual([true, false, false]);
    expect(firsts(footer(() => 'Patient: Jane Doe'))).toEqual([true, false, false]);
    expect(firsts(footer((n) => `The Sieve Handbook ${n}`))).toEqual([true, false, false]);
    expect(firsts(footer((n) => `Contract 2024-017, page ${n}`))).toEqual([true, false, false]);
    expect(firsts(footer((n) => `Page ${n} of 3`))).toEqual([false, false, false]);
  });

  it('are titles where they stand on pages in a row and others in their place', () => {
    const isTitle = (titles: string[]): boolean[] => {
      const repeated = createRepeatedLines();
      const lines = titles.map((text, i) => ({ page: i + 1, text, height: 0.05, heading: true }));
      repeated.learn(lines);
      return lines.map((line) => repeated.isTitle(line));
    };
    expect(isTitle(['Motivation', 'Results', 'Results', 'Results'])).toEqual([false, true, true, true]);
    expect(isTitle(['The Handbook', 'The Handbook', 'The Handbook'])).not.toContain(true);
    expect(isTitle(['The Handbook', 'Wire', 'The Handbook', 'Mesh', 'The Handbook'])).not.toContain(true);
  });

  it('are remembered from batch to batch', () => {
    const repeated = createRepeatedLines();
    repeated.learn(pages(3, () => ({ text: 'Head', height: 0.04 })));
    expect(repeated.repeats({ page: 51, text: 'Head', height: 0.041 })).toBe(true);
  });
});
