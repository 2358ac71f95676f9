import { describe, expect, test } from '@jest/globals';
import { check } from './check.js';

describe('dates are other ones', () => {
  test.each([
    ['The contract ends on 31 March 2024.', 'The contract ends on 31 May 2024.', 'number'],
    ['The contract ends on May 31, 2024.', 'The contract ends on March 31, 2024.', 'number'],
    ['Le contrat se termine le 31 mars 2024.', 'Le contrat se termine le 31 août 2024.', 'number'],
    ['Le contrat se termine le 31 mars 2024.', 'Le contrat se termine le 31 mai 2024.', 'number'],
    ['The contract ends on 3 July 2024.', 'The contract ends on 3 Apr 2024.', 'number'],
    ['Le musée est ouvert le lundi.', 'Le musée est ouvert le mardi.', 'number'],
    ['The meeting is on 03/05/2024 in Paris.', 'The meeting is on 05/03/2024 in Paris.', 'number'],
    ['La réunion a lieu le 03.05.2024 à Paris.', 'La réunion a lieu le 05.03.2024 à Paris.', 'number'],
  ])('%s - %s', (source, claim, fault) => {
    expect(check(source, claim)).toBe(fault);
  });
});

describe('dates are the same', () => {
  test.each([
    ['The contract ends on 31 March 2024.', 'The contract ends on March 31, 2024.'],
    ['The contract ends on 31 May 2024.', 'The contract ends on May 31, 2024.'],
    ['Le contrat se termine le 31 mai 2024.', 'Le 31 mai 2024, le contrat se termine.'],
    ['The meeting is on 03/05/2024 in Paris.', 'The meeting in Paris is on 03/05/2024.'],
    ['The meeting is on 03/05/2024 in Paris.', 'The meeting in Paris is on 3/5/2024.'],
    ['La réunion a lieu le 03/05/2024 à Paris.', 'La réunion a lieu à Paris le 3 mai 2024.'],
    ['Le filtre se change au bout de 14 jours.', 'Le filtre se change après 14 jours.'],
    ['Visitors may wear a helmet of the firm.', 'Visitors may wear a helmet.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBeNull();
  });
});
