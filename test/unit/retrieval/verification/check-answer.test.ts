import { describe, expect, test } from '@jest/globals';
import { answerSentences } from '../../../../activities/retrieval/verification/answer-sentences.js';
import { checkAnswer } from '../../../../activities/retrieval/verification/check-answer.js';
import { isRefusal } from '../../../../activities/retrieval/verification/is-refusal.js';

const TEXTS = ['The valve opens at 4 bar.', 'The pump is painted green by the crew.'];

describe('the sentences of an answer', () => {
  test.each([
    ['The valve opens. [Source 1] The pump is green.\n- One [Sources: 1, 2].\n\nEnd'],
    ['[Source 1] first. Then.'],
    ['no stop at all'],
    [
      'The valve opens.[Source 1][Source 2] The pump is green![Source 1]. A bracket [ that stays open. And one.[',
    ],
    [''],
  ])('are all of it: %j', (answer) => {
    expect(answerSentences(answer).join('')).toBe(answer);
  });

  test('are compared with the sources that they name, or with all', async () => {
    const checked = await checkAnswer(
      'Here is what I found:\nThe valve opens at 4 bar. [Source 1] The valve opens at 4 bar [Source 2]. ' +
        'The pump is painted green. The valve opens at 9 bar [Source 1]. Anything else? Yes. It is in [Source 7] of the pump.',
      TEXTS,
    );
    expect(checked.map(({ cited, supported, fault }) => [cited, supported, fault])).toEqual([
      [[], null, undefined],
      [[1], true, undefined],
      [[2], false, 'words'],
      [[], true, undefined],
      [[1], false, 'number'],
      [[], null, undefined],
      [[], null, undefined],
      [[7], null, undefined],
    ]);
  });

  test.each([
    ['The valve opens at 4 bar.', '[Source 1]', ' The pump is painted green.', '[Source 2]'],
    ['The valve opens at 4 bar!', '[Source 1][Source 2]', ' The pump is painted green.', '[Sources: 2]'],
    ['The valve opens at 4 bar.', '[source 1].', ' the pump is painted green.', '[source 2].'],
    ['“The valve opens at 4 bar.”', '[Source 1]', 'The pump is painted green.', '[Source 2]'],
  ])('have the marks right behind them: %j %j', async (first, mark, second, other) => {
    const checked = await checkAnswer(`${first}${mark}${second}${other}`, TEXTS);
    expect(checked.map(({ text, supported }) => [text, supported])).toEqual([
      [`${first}${mark}`, true],
      [`${second.trim()}${other}`, true],
    ]);
  });

  test('have the marks right behind them, in scripts without white space', () => {
    expect(answerSentences('电池的保修期为六个月。[Source 1]泵是绿色的。[Source 2]')).toEqual([
      '电池的保修期为六个月。[Source 1]',
      '泵是绿色的。[Source 2]',
    ]);
  });

  test('are checked as far as an answer may be long', async () => {
    const checked = await checkAnswer('The valve opens at 4 bar. '.repeat(100), TEXTS);
    expect(checked).toHaveLength(100);
    expect(checked[0]).toMatchObject({ supported: true });
    expect(checked.at(-1)).toMatchObject({ supported: false, fault: 'unchecked' });
    expect(await checkAnswer('', TEXTS)).toEqual([]);
    expect(await checkAnswer('The valve opens.', [])).toMatchObject([{ supported: false, fault: 'words' }]);
  });
});

test('a sentence that is too long to be read to its end is not supported', async () => {
  const list = Array.from(
    { length: 79 },
    (_, index) => `part${String.fromCharCode(97 + (index % 26))}x`,
  ).join(', ');
  const said = `It has ${list}`;
  expect(await checkAnswer(`${said}.`, [`${said}.`])).toMatchObject([{ supported: true }]);
  const checked = await checkAnswer(`${said}, ${list} and a warranty of 99 years.`, [`${said}, ${list}.`]);
  expect(checked).toMatchObject([{ supported: false, fault: 'unchecked' }]);
});

test.each([
  ['The valve opens at 9 bar:', 'number'],
  ['The valve opens at 9 bar - right?', 'number'],
  ['The valve opens at 9 bar; see: [Source 1]:', 'number'],
  ['The pump is not painted green in these cases:', 'negation'],
  ['The valve opens at 4 bar in these cases:', undefined],
  ['Here is what the Manual of 2024 says:', null],
  ['Here is what I found:', null],
  ['Would you like to know more about the valve?', null],
  ['Shall I look at 2 other documents?', null],
])('a question, or what leads to a list, is checked where it claims something: %s', async (said, fault) => {
  const [checked] = await checkAnswer(said, TEXTS);
  expect(checked!.supported).toBe(fault === null ? null : fault === undefined);
  expect(checked!.fault).toBe(fault ?? undefined);
});

describe('a sentence in a script without white space', () => {
  const SOURCES = [
    '本产品说明如下。电池的保修期为六个月，屏幕为两年。TX-409 的重量为 12 公斤。我们不保证屏幕不会破裂。',
    'แบตเตอรี่รับประกันหกเดือน จอภาพรับประกันสองปี',
    'バッテリーの保証期間は六か月です。',
  ];

  test.each([
    ['电池的保修期为六个月。[Source 1]', true],
    ['电池的保修期为六个月，屏幕为两年。', true],
    ['TX-409的重量为12公斤。', false],
    ['TX-409 的重量为 12 公斤。[Source 1]', true],
    ['バッテリーの保証期間は六か月です。[Source 3]', true],
    ['แบตเตอรี่รับประกันหกเดือน [Source 2]', true],
    ['电池的保修期为十个月。[Source 1]', false],
    ['电池的保修期为十个月：[Source 1]', false],
    ['电池的保修期为六个月。[Source 2]', false],
    ['电池的保修期为六个月，屏幕为三年。', false],
    ['屏幕不会破裂。', false],
    ['バッテリーの保証期間は十か月です。', false],
    ['แบตเตอรี่รับประกันสิบเดือน', false],
    ['以下是我找到的内容：', null],
    ['还有其他问题吗？', null],
    ['是的。', null],
  ])('is supported where it stands in a source as it is: %s', async (said, supported) => {
    const checked = await checkAnswer(said, SOURCES);
    expect(checked.map((one) => [one.supported, one.fault])).toEqual([
      [supported, supported === false ? 'unchecked' : undefined],
    ]);
  });

  test('is none where a name of such a script stands in another', async () => {
    expect(
      await checkAnswer('The valve of 北京 opens at 4 bar.', ['The valve of 北京 opens at 4 bar.']),
    ).toMatchObject([{ supported: true }]);
  });
});

test('questions beyond those that are checked are not supported where they claim something', async () => {
  const checked = await checkAnswer(
    `${'The valve opens at 4 bar. '.repeat(60)}The valve opens at 9 bar:`,
    TEXTS,
  );
  expect(checked.at(-1)).toMatchObject({ supported: false, fault: 'unchecked' });
});

test.each([
  ['I found nothing about this in the sources.', true],
  ["Je n'ai rien trouvé à ce sujet dans les sources.", true],
  ['The sources do not mention the price.', true],
  ["The sources don't say who signed.", true],
  ['Les sources ne précisent pas la date.', true],
  ['There is no information about that.', true],
  ['The question cannot be answered from these sources.', true],
  ['I could not find anything about the price.', true],
  ['The documents that I was given do not contain the price.', true],
  ['Les extraits ne contiennent pas cette information.', true],
  ['Je ne peux pas répondre à cette question.', true],
  ['The valve opens at 4 bar.', false],
  ['The warranty does not include batteries.', false],
  ['The sources say that the warranty does not include batteries.', false],
  ['Employees cannot find parking after 9.', false],
  ['The device does not support Bluetooth.', false],
  ['Le badge ne permet pas d’entrer le dimanche.', false],
  ['On ne peut pas fumer dans le hall.', false],
  ['The warranty does not cover frost.', false],
  ['Le musée est fermé le lundi.', false],
])('whether an answer is a refusal: %s', (answer, refusal) => {
  expect(isRefusal(answer)).toBe(refusal);
});
