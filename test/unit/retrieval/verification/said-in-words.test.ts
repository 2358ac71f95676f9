import { describe, expect, test } from '@jest/globals';
import { check } from './check.js';

describe('what words deny, count or demand is another thing', () => {
  test.each([
    ['The device lacks Bluetooth.', 'The device has Bluetooth.'],
    ['The supplier failed to deliver the goods on time.', 'The supplier delivered the goods on time.'],
    ['The board refused to approve the merger with Acme.', 'The board approved the merger with Acme.'],
    ['Avoid mixing bleach with ammonia.', 'Mix bleach with ammonia.'],
    ['Pets are hardly ever admitted to the ward.', 'Pets are admitted to the ward.'],
    ['Employees are exempt from the parking fee.', 'Employees pay the parking fee.'],
    ['Ce produit est dépourvu de gluten.', 'Ce produit contient du gluten.'],
    ['Visitors have to wear a helmet in the hall.', 'Visitors can wear a helmet in the hall.'],
    ['Il faut porter un casque dans le hall.', 'On peut porter un casque dans le hall.'],
    ['The filter is changed once a year.', 'The filter is changed twice a year.'],
    ['The office is on the third floor of the tower.', 'The office is on the fourth floor of the tower.'],
    ['Le bureau est au troisième étage de la tour.', 'Le bureau est au quatrième étage de la tour.'],
    ['The premium of the plan doubled in 2023.', 'The premium of the plan halved in 2023.'],
    ['The dose of the drug is doubled at night.', 'The dose of the drug is tripled at night.'],
  ])('%s - %s', (one, other) => {
    expect(check(one, other)).toBe('negation');
    expect(check(other, one)).not.toBeNull();
  });
});

describe('what words deny, count or demand is the same', () => {
  test.each([
    ['The device lacks Bluetooth.', 'The device has no Bluetooth.'],
    ['The supplier failed to deliver the goods on time.', 'The supplier did not deliver the goods on time.'],
    ['Avoid mixing bleach with ammonia.', 'Do not mix bleach with ammonia.'],
    ['Close the valve to avoid damage.', 'Close the valve.'],
    ['The pump failed in 2023.', 'In 2023 the pump failed.'],
    ['Employees are exempt from the parking fee.', 'Employees are exempt from the parking fee.'],
    ['Visitors must wear a helmet in the hall.', 'Visitors have to wear a helmet in the hall.'],
    ['The filter of the pump is changed annually.', 'The filter of the pump is changed once a year.'],
    ['Once opened, the jar keeps for three days.', 'The jar keeps for three days once opened.'],
    ['The third and fourth floors are closed.', 'The third floor is closed.'],
    ['The premium of the plan doubled in 2023.', 'In 2023 the premium of the plan doubled.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBeNull();
  });
});
