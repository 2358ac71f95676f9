import { describe, expect, test } from '@jest/globals';
import { checkClaim, readSource } from '../../../../activities/retrieval/verification/check-claim.js';
import { readStatement } from '../../../../activities/retrieval/verification/read-statement.js';
import { judgePairs, readPairs } from '../../../support/statement-pairs.js';

function check(claim: string, source: string): string | null {
  return checkClaim(readStatement(claim), readSource(source));
}

test('pairs that the rules were written with are told apart, and most of those that came later', () => {
  const fitted = judgePairs(readPairs('fitted'));
  expect(fitted.precision).toBeGreaterThanOrEqual(0.98);
  expect(fitted.recall).toBeGreaterThanOrEqual(0.98);
  const heldOut = judgePairs(readPairs('held-out'));
  expect(heldOut.precision).toBeGreaterThanOrEqual(0.88);
  expect(heldOut.recall).toBeGreaterThanOrEqual(0.9);
});

describe('a claim', () => {
  const SOURCE = 'The safety valve opens at 4 bar. Its spring, made by Acme, is replaced every 12 months.';

  test.each([
    ['is supported by its words', 'The safety valve opens at 4 bar.', null],
    [
      'is supported by two sentences beside each other',
      'The spring of the safety valve is replaced every 12 months.',
      null,
    ],
    ['has another number', 'The safety valve opens at 5 bar.', 'number'],
    ['has a number of another thing', 'The safety valve opens at 12 bar.', 'number'],
    ['has another name', 'The spring of the safety valve was made by Bolt.', 'name'],
    ['denies what is said', 'The safety valve does not open at 4 bar.', 'negation'],
    ['speaks of something else', 'The gasket of the pump is green and round.', 'words'],
    ['is empty', '', 'words'],
  ])('that %s', (_, claim, fault) => {
    expect(check(claim, SOURCE)).toBe(fault);
  });

  test.each([
    ['digits and words', 'The lease runs for three years.', 'The lease runs for 3 years.'],
    [
      'thousands in either way of writing',
      'The town has 12 450 inhabitants.',
      'The town has 12,450 inhabitants.',
    ],
    ['a decimal comma and a point', 'Le taux est de 5,5 %.', 'Le taux est de 5.5 %.'],
    ['active and passive', 'The board was elected by the members.', 'The members elected the board.'],
    [
      'a part of a name and the whole',
      'Curie discovered polonium.',
      'Marie Curie discovered polonium in 1898.',
    ],
  ])('takes %s for the same', (_, claim, source) => {
    expect(check(claim, source)).toBeNull();
  });

  test('is not compared with a source without words', () => {
    expect(check('The valve opens.', '')).toBe('words');
    expect(check('The valve opens.', '\u0000 … — 。')).toBe('words');
  });

  test.each([
    ['one endless sentence', 'valve '.repeat(20_000)],
    ['many sentences that are alike', 'The valve of A opens for B at 4 bar. '.repeat(5_000)],
    ['names alone', 'Ada Berta Carla Dora '.repeat(10_000)],
    ['numbers alone', '1 2,3 4.5 '.repeat(10_000)],
    ['commas alone', ','.repeat(200_000)],
  ])('is compared with %s in bounded time', (_, source) => {
    const claim = 'The valve of B opens for A at 5 bar, 4 bar, and the valve of A opens for C at 3 bar.';
    const before = process.cpuUsage();
    check(claim, source);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1_000);
  });
});
