import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ERROR_TABLE } from '../../../schemas/error-table.js';

/** The console's package is compiled apart: its catalogue is read as a text. */
const catalogue = readFileSync(new URL('../../../web/src/i18n/fr/server.ts', import.meta.url), 'utf8');

describe('the French catalogue of the console', () => {
  it('has a sentence for each code of the error table', () => {
    const missing = Object.keys(ERROR_TABLE).filter(
      (code) => !new RegExp(`^    ${code}:`, 'm').test(catalogue),
    );
    expect(missing).toEqual([]);
  });
});
