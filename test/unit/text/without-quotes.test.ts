import { expect, test } from '@jest/globals';
import { stringsIn, withoutQuotes } from '../../../activities/text/without-quotes.js';

const ASKED = ['The quagga grazes near Ålesund.', 'Model 7B was here'];

test.each([
  ['cannot embed "The quagga grazes near Ålesund."', 'cannot embed "The …."'],
  // Cut by the server, and in another case.
  ['too long: QUAGGA graz', 'too long: …'],
  ['model "llama" not found, try pulling it first', 'model "llama" not found, try pulling it first'],
  ['input exceeds the context length of 512 tokens', 'input exceeds the context length of 512 tokens'],
  ['', ''],
])('%s', (sentence, kept) => {
  expect(withoutQuotes(sentence, ASKED)).toBe(kept);
});

test('the strings of a body, however deep, without its keys', () => {
  expect(stringsIn([{ message: 'a', source: { ip: 'b', asn: 1 }, context: null }])).toEqual(['a', 'b']);
});
