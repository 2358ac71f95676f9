import { describe, expect, test } from '@jest/globals';
import { languageOf } from '../../../activities/text/language-of.js';

describe('languageOf', () => {
  test.each([
    ['What is the height of the wheel?', 'en'],
    ['Quelle est la hauteur de la roue ?', 'fr'],
    ["Où l'eau entre-t-elle dans le bief ?", 'fr'],
    // Both languages have "a" and "on"; an accent decides.
    ['cérémonie', 'fr'],
    ['on a ERR-4012', null],
    ['supersonic flow', null],
    ['10.0.0.7', null],
    ['', null],
  ])('%j: %s', (text, language) => {
    expect(languageOf(text)).toBe(language);
  });

  test('is linear', () => {
    expect(languageOf('le the '.repeat(200_000))).toBeNull();
  });
});
