import { describe, expect, test } from '@jest/globals';
import { check } from './check.js';

describe('numbers are other ones', () => {
  test.each([
    ['The sensor works down to -20 °C.', 'The sensor works down to 20 °C.'],
    ['The sensor works down to 20 °C.', 'The sensor works down to −20 °C.'],
    ['The balance on 1 June was -250 euros.', 'The balance on 1 June was 250 euros.'],
    ['Le solde au 1er juin était de -250 euros.', 'Le solde au 1er juin était de 250 euros.'],
    ["Le capteur fonctionne jusqu'à moins 20 °C.", "Le capteur fonctionne jusqu'à 20 °C."],
    ['Each tablet contains 0.125 mg of digoxin.', 'Each tablet contains 125 mg of digoxin.'],
    ['Chaque comprimé contient 0,125 mg de digoxine.', 'Chaque comprimé contient 125 mg de digoxine.'],
    ['The p value was 0.005 in the second trial.', 'The p value was 5 in the second trial.'],
    ['The p value was .05 in the second trial.', 'The p value was 5 in the second trial.'],
    ['The parcel weighs 20 kg.', 'The parcel weighs 2.0 kg.'],
    ['The length is 1234.567 m.', 'The length is 1234567 m.'],
    ['Section 2.1 of the contract governs liability.', 'Section 2.10 of the contract governs liability.'],
    ['The tool needs Python 3.1 or later.', 'The tool needs Python 3.10 or later.'],
    ['Release 1.20 mends the leak in the cache.', 'Release 1.2 mends the leak in the cache.'],
    ["L'article 5.1 régit la garantie.", "L'article 5.10 régit la garantie."],
    ['Chapter 4.2 treats of the pump.', 'Chapter 4.20 treats of the pump.'],
    ['Release 3.1.2 mends the leak.', 'Release 3.10.2 mends the leak.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBe('number');
  });
});

describe('numbers are the same in another way of writing', () => {
  test.each([
    ['The sensor works down to −20 °C.', 'The sensor works down to -20 °C.'],
    ['The sensor works down to minus 20 °C.', 'The sensor works down to -20 °C.'],
    ['Le groupe compte au moins 20 personnes.', 'Le groupe compte au moins 20 personnes.'],
    ['Chaque comprimé contient 0,125 mg de digoxine.', 'Chaque comprimé contient 0.125 mg de digoxine.'],
    ['The p value was .05 in the second trial.', 'The p value was 0.05 in the second trial.'],
    ['In 2020 300 people took part.', '300 people took part in 2020.'],
    ["Depuis 2019 450 salariés travaillent à l'usine.", "450 salariés travaillent à l'usine depuis 2019."],
    ['The price is 12.50 euros.', 'The price is 12.5 euros.'],
    ['Le taux est de 3,50 %.', 'Le taux est de 3,5 %.'],
    ['The parcel weighs 2 kg.', 'The parcel weighs 2.0 kg.'],
    ['The town has 1.50 million inhabitants.', 'The town has 1.5 million inhabitants.'],
    ['The price of the ticket is €12.50.', 'The price of the ticket is 12.5 euros.'],
    ['Section 2.10 of the contract governs liability.', 'Section 2.10 governs liability.'],
    ['Version 2.0 of the tool needs Python.', 'Version 2 of the tool needs Python.'],
    ['The pressure is 5-10 bar.', 'The pressure is 10 bar.'],
    ['The pressure is 5–10 bar.', 'The pressure is 5 to 10 bar.'],
    ['The town has 1.234.567 inhabitants.', 'The town has 1,234,567 inhabitants.'],
    ['La caution est de 1.234,50 euros.', 'La caution est de 1234,5 euros.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBeNull();
  });
});
