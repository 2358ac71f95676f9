import { describe, expect, test } from '@jest/globals';
import { check } from './check.js';

describe('what is excepted on one side only is denied', () => {
  test.each([
    ['Access is granted without a badge on Fridays.', 'Access is granted with a badge on Fridays.'],
    ['The meal comes without wine.', 'The meal comes with wine.'],
    ['All staff except contractors get a bonus in December.', 'All contractors get a bonus in December.'],
    [
      'All staff except contractors get a bonus in December.',
      'All staff including contractors get a bonus in December.',
    ],
    ['All staff apart from contractors get a bonus.', 'All staff and contractors get a bonus.'],
    ['All costs other than travel are paid by the firm.', 'All travel costs are paid by the firm.'],
    [
      'All items excluding glasses are covered by the plan.',
      'All items with glasses are covered by the plan.',
    ],
    ['The trip is free unless you cancel late.', 'The trip is free if you cancel late.'],
    ['Smoking is prohibited except on the terrace.', 'Smoking is prohibited on the terrace.'],
    ['Le service est gratuit sauf le dimanche.', 'Le service est gratuit le dimanche.'],
    ['Le musée est ouvert hormis en janvier.', 'Le musée est ouvert en janvier.'],
    [
      'Les salariés, à l’exception des stagiaires, touchent une prime.',
      'Les salariés, avec des stagiaires, touchent une prime.',
    ],
    ['Le prix est de 20 euros hors taxes.', 'Le prix est de 20 euros avec taxes.'],
  ])('%s - %s', (one, other) => {
    expect(check(one, other)).toBe('negation');
    expect(check(other, one)).toBe('negation');
  });
});

describe('what is excepted on both sides is the same', () => {
  test.each([
    ['Access is granted without a badge on Fridays.', 'On Fridays access is granted without a badge.'],
    [
      'All staff except contractors get a bonus in December.',
      'Except contractors all staff get a bonus in December.',
    ],
    ['Le service est gratuit sauf le dimanche.', 'Sauf le dimanche, le service est gratuit.'],
    ['Do not open the case without written consent.', 'Do not open the case without consent.'],
    ['The trip is free unless you cancel late.', 'The trip is free.'],
    ['The meal comes without wine and with bread.', 'The meal comes with bread.'],
    ['The price includes all costs except travel.', 'The price includes all costs, except for travel.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBeNull();
  });
});
