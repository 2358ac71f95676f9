import { describe, expect, test } from '@jest/globals';
import { checkAnswer } from '../../../../activities/retrieval/verification/check-answer.js';

const TEXTS = [
  'The pump weighs 12 kg and is made of steel.',
  'The pump has a warranty of two years [3]. See (Source 1: INSEE).',
  'The valve is painted green.',
];

describe('the marks of a sentence are no part of what it claims', () => {
  test.each([
    ['The pump weighs 12 kg [Source 1].', [1]],
    ['The pump weighs 12 kg [Source 1, Source 2].', [1, 2]],
    ['The pump weighs 12 kg [Source 1 and Source 2].', [1, 2]],
    ['The pump weighs 12 kg [Sources 1 and 2].', [1, 2]],
    ['The pump weighs 12 kg [Sources : 1 et 2].', [1, 2]],
    ['The pump weighs 12 kg [Sources 1-3].', [1, 2, 3]],
    ['The pump weighs 12 kg [Source 1: pump.pdf, page 3].', [1]],
    ['The pump weighs 12 kg [Source 1, page 3].', [1]],
    ['The pump weighs 12 kg [Source 1: pump (final).pdf; Source 2: other.pdf].', [1, 2]],
    ['The pump weighs 12 kg (Source 1).', [1]],
    ['The pump weighs 12 kg 【Source 1】.', [1]],
    ['The pump weighs 12 kg [1].', [1]],
    ['The pump weighs 12 kg.[1][2]', [1, 2]],
    ['The pump weighs 12 kg. [1, 2]', [1, 2]],
    ['According to Source 1, the pump weighs 12 kg.', [1]],
    ["D'après les Sources 1 et 2, the pump weighs 12 kg.", [1, 2]],
    ['Source 1 and Source 2 say that the pump weighs 12 kg.', [1, 2]],
  ])('%s', async (said, cited) => {
    expect(await checkAnswer(said, TEXTS)).toEqual([{ text: said, cited, supported: true }]);
  });

  test('and are cited where it is false', async () => {
    const [checked] = await checkAnswer('The pump weighs 13 kg [Source 1, Source 3].', TEXTS);
    expect(checked).toMatchObject({ cited: [1, 3], supported: false, fault: 'number' });
    expect(await checkAnswer('The pump weighs 12 kg [Source 3].', TEXTS)).toMatchObject([
      { cited: [3], supported: false },
    ]);
  });
});

describe('what is no mark stays part of the claim', () => {
  test.each([
    // Written so by a document.
    ['The pump has a warranty of two years [3].', [], true],
    ['The pump has a warranty of two years [3] [Source 2].', [2], true],
    // No source has these numbers.
    ['The pump weighs 12 kg [12].', [], true],
    ['The pump weighs 12 kg [40].', [], false],
    ['The pump weighs 12 kg, says Source 9.', [], false],
    ['The pump weighs 12 kg (source 3 km away).', [], false],
  ])('%s', async (said, cited, supported) => {
    expect(await checkAnswer(said, TEXTS)).toMatchObject([{ cited, supported }]);
  });

  test('a number at the start of a line is an entry of a list', async () => {
    const checked = await checkAnswer('The pump weighs 12 kg [1].\n[3] The valve is painted green.', TEXTS);
    expect(checked.map(({ text }) => text)).toEqual([
      'The pump weighs 12 kg [1].',
      '[3] The valve is painted green.',
    ]);
  });
});
