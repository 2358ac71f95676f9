import { describe, expect, test } from '@jest/globals';
import { check } from './check.js';

describe('a rule is turned round', () => {
  test.each([
    ['Visitors must wear a helmet in the hall.', 'Visitors may wear a helmet in the hall.'],
    ['Visitors can park in the yard.', 'Visitors must park in the yard.'],
    ['Le locataire doit payer les charges.', 'Le locataire peut payer les charges.'],
    ['Children under 12 pay half the price.', 'Children over 12 pay half the price.'],
    ['Orders over €50 are shipped free of charge.', 'Orders under €50 are shipped free of charge.'],
    ['At most 20 guests are allowed in the room.', 'At least 20 guests are allowed in the room.'],
    ['Up to twenty guests are allowed in the room.', 'At least 20 guests are allowed in the room.'],
    [
      'La salle accueille au plus 20 personnes.',
      'La salle accueille plus de 20 personnes et au moins 20 personnes.',
    ],
    ['La salle accueille jusqu’à 20 personnes.', 'La salle accueille au moins 20 personnes.'],
    ['Some employees are entitled to a car.', 'All employees are entitled to a car.'],
    ['Every employee is entitled to a car.', 'Some employees are entitled to a car.'],
    ['Certains salariés ont droit à une voiture.', 'Tous les salariés ont droit à une voiture.'],
    ['The policy is valid until 2025.', 'The policy is valid from 2025.'],
    ['The project runs for up to 3 years.', 'The project runs for over 3 years.'],
    ['Members of up to 18 years may vote.', 'Members of over 18 years may vote.'],
    ['The policy is valid until March 2025.', 'The policy is valid from March 2025.'],
    ['The policy is valid until 31 March 2025.', 'The policy is valid from March 31, 2025.'],
    ["Le contrat est valable jusqu'au 31 mars 2025.", 'Le contrat est valable à partir du 31 mars 2025.'],
    ['Refunds are granted within 14 days.', 'Refunds are granted after 14 days.'],
    ['Le remboursement a lieu dans les 14 jours.', 'Le remboursement a lieu après 14 jours.'],
    ['Les retours sont admis dans les 14 jours.', 'Les retours sont admis au bout de 14 jours.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBe('negation');
  });
});

describe('a rule stays the same', () => {
  test.each([
    ['Visitors shall wear a helmet in the hall.', 'Visitors must wear a helmet in the hall.'],
    ['Visitors must not smoke in the hall.', 'Visitors may not smoke in the hall.'],
    ['Visitors must wear a helmet and may take pictures.', 'Visitors may take pictures.'],
    ['Le locataire devra payer les charges.', 'Le locataire doit payer les charges.'],
    ['Members of over 18 years may vote.', 'Members of at least 18 years can vote.'],
    ['Up to 20 guests are allowed in the room.', 'At most 20 guests are allowed in the room.'],
    ['Children under 12 pay half, those over 12 pay all.', 'Children under 12 pay half.'],
    ['All employees are entitled to a car.', 'Every employee is entitled to a car.'],
    ['Tous les salariés ont droit à une voiture.', 'Chaque salarié a droit à une voiture.'],
    ['Some 500 people work in every plant.', 'In every plant 500 people work.'],
    [
      'The filter is replaced every 12 months in some plants.',
      'In some plants the filter is replaced after 12 months.',
    ],
    ['The policy is valid until 2025.', 'The policy is valid up to 2025.'],
    ['He has been with the firm since 2019.', 'From 2019 he has been with the firm.'],
    ['Refunds are granted within 14 days after purchase.', 'Refunds are granted within 14 days of purchase.'],
    ['La salle accueille au plus 20 personnes.', "La salle accueille jusqu'à 20 personnes."],
    ['The shop is open from 9 until 17 on Mondays.', 'On Mondays the shop is open from 9 until 17.'],
    ['The pump may leak in May 2024.', 'In May 2024 the pump can leak.'],
    ['The project runs for up to 3 years.', 'The project runs over 3 years.'],
    ['The grant is spread over at most 5 years.', 'The grant is spread over 5 years.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBeNull();
  });
});
