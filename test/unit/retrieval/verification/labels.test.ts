import { describe, expect, test } from '@jest/globals';
import { check } from './check.js';

describe('what the sign of a number stands beside is denied', () => {
  test.each([
    ['Invoice No. 4711 was paid on 3 May 2024.', 'Invoice 4711 was not paid on 3 May 2024.', 'negation'],
    ['Order no. 12 was shipped on Monday.', 'Order 12 was never shipped on Monday.', 'negation'],
    ['Ticket no 55 was closed.', 'Ticket 55 was not closed.', 'negation'],
    ['The router has no 5 GHz band.', 'The router has a 5 GHz band.', 'negation'],
    ['No 5 GHz band is built into the router.', 'A 5 GHz band is built into the router.', 'negation'],
    ['La facture n° 4711 a été payée.', "La facture 4711 n'a pas été payée.", 'negation'],
    ['La commande no 12 a été livrée lundi.', "La commande 12 n'a jamais été livrée lundi.", 'negation'],
  ])('%s - %s', (source, claim, fault) => {
    expect(check(source, claim)).toBe(fault);
  });
});

describe('the sign of a number denies nothing', () => {
  test.each([
    ['Invoice No. 4711 was paid on 3 May 2024.', 'Invoice 4711 was paid on 3 May 2024.'],
    ['Ticket no 55 was closed.', 'Ticket 55 was closed.'],
    ['Rule No 7 forbids smoking.', 'Rule 7 forbids smoking.'],
    ['La facture n° 4711 a été payée.', 'La facture 4711 a été payée.'],
    ['La commande no 12 a été livrée lundi.', 'La commande 12 a été livrée lundi.'],
    ['Le lot n° 3 comprend plus de prises.', 'Le lot 3 comprend plus de prises.'],
    ['The router has no 5 GHz band.', 'The router has no 5 GHz band.'],
  ])('%s - %s', (source, claim) => {
    expect(check(source, claim)).toBeNull();
  });
});
