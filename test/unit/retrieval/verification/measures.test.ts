import { describe, expect, test } from '@jest/globals';
import { check } from './check.js';

describe('numbers count something else', () => {
  test.each([
    ['Each tablet contains 5 mg of ramipril.', 'Each tablet contains 5 g of ramipril.', 'number'],
    ['The notice period is 3 months.', 'The notice period is 3 weeks.', 'number'],
    ['The notice period is one month.', 'The notice period is one week.', 'number'],
    ['Le délai est de 30 jours.', 'Le délai est de 30 mois.', 'number'],
    ['The budget is 15 million euros.', 'The budget is 15 billion euros.', 'number'],
    ['The budget is 15 million euros.', 'The budget is 15 million dollars.', 'number'],
    ['The budget is 15 million euros.', 'The budget is 15 euros.', 'number'],
    ['The budget is 15m euros.', 'The budget is 15 euros.', 'number'],
    ['Le budget est de 15 M€ par an.', 'Le budget est de 15 k€ par an.', 'number'],
    ['The licence costs €500 per year.', 'The licence costs $500 per year.', 'number'],
    ['The licence costs €500 per year.', 'The licence costs 500 dollars per year.', 'number'],
    ['Revenue rose by 5 % in 2023.', 'Revenue rose by 5 points in 2023.', 'number'],
    ['Employees get 30 days of leave per year.', 'Employees get 30 days of leave per month.', 'number'],
    [
      'Employees get 30 days of leave per year and 2 days of rest per month.',
      'Employees get 30 days of leave per month.',
      'number',
    ],
    ['The annual fee is 500 euros.', 'The monthly fee is 500 euros.', 'number'],
    ["L'abonnement coûte 500 euros par an.", "L'abonnement coûte 500 euros par mois.", 'number'],
    ['The tank holds 20 litres of water.', 'The tank holds 20 gallons of water.', 'number'],
    ['The oven reaches 250 °C.', 'The oven reaches 250 °F.', 'number'],
    ['The shop opens at 9 a.m. on Sundays.', 'The shop opens at 9 p.m. on Sundays.', 'number'],
    ['The van may drive 90 km/h.', 'The van may drive 90 km/min.', 'number'],
    ['The parking fee is $5 an hour.', 'The parking fee is $5 a day.', 'number'],
  ])('%s - %s', (source, claim, fault) => {
    expect(check(source, claim)).toBe(fault);
  });
});

describe('numbers count the same', () => {
  test.each([
    ['The licence costs €500 per year.', 'The licence costs 500 euros a year.'],
    ['The budget is 15 million euros.', 'The budget is €15,000,000.'],
    ["Le budget est de 1,5 milliard d'euros.", "Le budget est de 1 500 millions d'euros."],
    ['The town has 15 thousand inhabitants.', 'The town has 15,000 inhabitants.'],
    ['The town has two hundred inhabitants.', 'The town has 200 inhabitants.'],
    ['Each parcel weighs 5 kg at most.', 'Each parcel weighs 5 kilograms at most.'],
    ['The budget is 2 million dollars.', 'The budget is 2m dollars.'],
    ['The budget is 500k euros.', 'The budget is 500 thousand euros.'],
    ['The board is 2m long.', 'The board is 2 metres long.'],
    ['Le taux est de 5 %.', 'Le taux est de 5 pour cent.'],
    ['Revenue rose by 5 percent in 2023.', 'Revenue rose by 5 % in 2023.'],
    ['The tank holds 20 l of water.', 'The tank holds 20 litres of water.'],
    ['La visite dure 2 h.', 'La visite dure 2 heures.'],
    ['The oven reaches 250 degrees.', 'The oven reaches 250 °C.'],
    ['The shop opens at 9 a.m. on Sundays.', 'The shop opens at 9 am on Sundays.'],
    ["En 2020 l'usine comptait 3 salariés.", "L'usine comptait 3 salariés en 2020."],
    [
      'The pool is open 6 days a week for 8 hours a day.',
      'The pool is open six days a week for eight hours daily.',
    ],
    ['The parcel weighs 5 lb.', 'The parcel weighs 5 pounds.'],
    ['From 5 to 10 people may enter the hall.', 'From 5 to 10 people may enter the hall.'],
    [
      'The small van of the firm may drive on roads in towns at 90 km/h.',
      'The small van of the firm may drive on roads in towns at 90 kilometres per hour.',
    ],
    ['The yearly budget of the museum is £15m.', 'The yearly budget of the museum is 15 million pounds.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBeNull();
  });
});

describe('cents are money, and a hundred behind a French number word alone', () => {
  test.each([
    ['A call costs 500 euros.', 'A call costs 5 cents.', 'number'],
    ['A call costs 500.', 'A call costs 5 cents.', 'number'],
    ['A call costs 5 cents.', 'A call costs 500.', 'number'],
    ['A call costs 5 euros.', 'A call costs 5 cents.', 'number'],
    ['The call costs 5,000 per minute.', 'The call costs 50 cents per minute.', 'number'],
    ['Le tarif est de 500 euros.', 'Le tarif est de 5 cents.', 'words'],
    ['Le prix est de 20 centimes.', 'Le prix est de 20 cents.', null],
    ['A call costs 1 cent per minute.', 'A call costs 1 cent a minute.', null],
    ['A call costs five cents.', 'A call costs 5 cents.', null],
    ['Le tarif est de deux cents euros.', 'Le tarif est de 200 euros.', null],
    ['Le tarif est de cent euros.', 'Le tarif est de 100 euros.', null],
  ])('%s - %s', (source, claim, fault) => {
    expect(check(source, claim)).toBe(fault);
  });
});
