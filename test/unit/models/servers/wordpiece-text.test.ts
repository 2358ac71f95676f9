import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { plainText, wordpieceText } from '../../../../activities/models/servers/wordpiece-text.js';

describe('wordpieceText', () => {
  test.each([
    ['Zürich café naïve', 'Zurich cafe naive'],
    ['L’été à Noël — déjà…', "L'ete a Noel - deja..."],
    ['“quoted” «cited» ‚low‘', '"quoted" "cited" \'low\''],
    ['a–b−c‐d', 'a-b-c-d'],
    ['x=1+2', 'x = 1 + 2'],
    ['$5 <b> `code` a^b a|b ~c > d', '$ 5 < b > ` code ` a ^ b a | b ~ c > d'],
    ['one\ntwo\tthree\r\nfour\u2028five', 'one two three four five'],
    ['soft\u00adhyphen zero\u200bwidth \u202eturned\ufeff', 'softhyphen zerowidth turned'],
    ['bell\u0007 nul\0end', 'bell nul end'],
    ['half \ud800 a pair', 'half a pair'],
    ['東京タワー', '東京タワー'],
    ['한국어', '한국어'.normalize('NFD')],
    ['ﬁne', 'ﬁne'],
    ['', ''],
    [' \n\t\u00ad ', ''],
  ])('%j becomes %j', (text, expected) => expect(wordpieceText(text)).toBe(expected));

  test('leaves plain English as it is', () => {
    const text = 'The dam (built in 1931) is 42.5 m high; see page 3: "Walls" & more!';
    expect(wordpieceText(text)).toBe(text);
  });

  test('done twice changes nothing, and leaves nothing that breaks the tokeniser', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const once = wordpieceText(text);
        expect(wordpieceText(once)).toBe(once);
        expect(once).not.toMatch(/[\p{Mn}\p{Cf}\p{Cc}\p{Surrogate}]|\S[$+<=>^`|~]|[$+<=>^`|~]\S/u);
      }),
    );
  });

  test('accents composed or not are one text', () => {
    expect(wordpieceText('Cafe\u0301')).toBe(wordpieceText('Caf\u00e9'));
  });
});

describe('plainText', () => {
  test('takes out only what cannot be sent', () => {
    expect(plainText('Zürich – “café”\n\ta\0b\udc00 🗼')).toBe('Zürich – “café”\n\ta b  🗼');
  });
});
