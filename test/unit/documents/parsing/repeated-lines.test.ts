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

  it('are remembered from batch to batch', () => {
    const repeated = createRepeatedLines();
    repeated.learn(pages(3, () => ({ text: 'Head', height: 0.04 })));
    expect(repeated.repeats({ page: 51, text: 'Head', height: 0.041 })).toBe(true);
  });
});
