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

describe('times of day are other ones', () => {
  test.each([
    ['The train leaves at 9:15 and arrives at 10:45.', 'The train leaves at 9:45.'],
    ['The train leaves at 9:15 and arrives at 10:45.', 'The train leaves at 9:45 and arrives at 10:15.'],
    ['The train leaves at 9:15 and arrives at 10:45.', 'The train leaves at 10:45 and arrives at 9:15.'],
    ['Open from 8:30 to 17:45 on weekdays.', 'Open from 8:45 to 17:30 on weekdays.'],
    ['The meeting is at 14:30 in room 5.', 'The meeting is at 5:30 in room 14.'],
    ['Le train part à 9h15 et arrive à 10h45.', 'Le train part à 9h45 et arrive à 10h15.'],
    ['The shop opens at 9:30 am.', 'The shop opens at 9:30 pm.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBe('number');
  });
});

describe('times of day are the same', () => {
  test.each([
    ['The train leaves at 9:15 and arrives at 10:45.', 'The train arrives at 10:45 and leaves at 9:15.'],
    ['The train leaves at 9:15 and arrives at 10:45.', 'The train leaves at 9:15.'],
    ['The shop opens at 09:00 and closes at 17:00.', 'The shop opens at 9 and closes at 17.'],
    ['The shop opens at nine on Mondays.', 'On Mondays the shop opens at 9:00.'],
    ['The shop opens at 9:30 am.', 'The shop opens at 9.30 a.m.'],
    ['Le train part à 9h15.', 'Le train part à 9 h 15.'],
    ['Le train part à 14h30.', 'Le train part à 14:30.'],
    ['The flight takes 2 hours 30 minutes.', 'The flight takes 2 h 30 min.'],
    ['The ratio of syrup to water is 1:25.', 'The ratio of syrup to water is 1 to 25.'],
    ['Adults pay 9 euros and children pay 5 euros.', 'Children pay 5 euros and adults pay 9 euros.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBeNull();
  });
});
