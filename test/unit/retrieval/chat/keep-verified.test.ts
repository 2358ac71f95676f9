import { describe, expect, test } from '@jest/globals';
import { answerSentences } from '../../../../activities/retrieval/verification/answer-sentences.js';
import { shownSources } from '../../../../activities/retrieval/chat/chat-sources.js';
import { makeResult } from '../fixtures.js';
import { openChatStage, say } from './chat-stage.js';

const found = [
  makeResult({ chunk_id: 'one', text: 'The valve opens at 4 bar. It is inspected every 12 months.' }),
  makeResult({ chunk_id: 'two', text: 'The pump is painted green.' }),
];
const ANSWER =
  'Here it is:\nThe valve opens at 4 bar. [Source 1] The pump is not painted green. [Source 2]\n' +
  '- The valve opens at 9 bar [Source 1].\n- The pump is painted green.\n[Sources: 1, 2]';

describe('an answer whose sentences are checked', () => {
  test('is shown as it is by default, with what was found beside it', async () => {
    const { collect } = openChatStage(() => say(ANSWER), { found });
    const { text, end } = await collect({});
    expect(text).toBe(ANSWER.replace('\n[Sources: 1, 2]', ''));
    expect(end.refused).toBe(false);
    expect(
      end.sentences?.map(({ cited, supported, fault, withheld }) => [cited, supported, fault, withheld]),
    ).toEqual([
      [[], null, undefined, false],
      [[1], true, undefined, false],
      [[2], false, 'negation', false],
      [[1], false, 'number', false],
      [[], true, undefined, false],
    ]);
    // All words of the quotes are there, and a sentence that cites the extract contradicts it.
    expect([...end.sources.supports.values()].map(({ verified }) => verified)).toEqual([false, false]);
  });

  test('goes without those that are not supported', async () => {
    const { collect } = openChatStage(() => say(ANSWER), { found });
    const { text, end } = await collect({ unverified: 'drop' });
    expect(text).toBe('Here it is:\nThe valve opens at 4 bar. [Source 1] - The pump is painted green.');
    expect(end.sentences?.filter(({ withheld }) => withheld).map(({ fault }) => fault)).toEqual([
      'negation',
      'number',
    ]);
    expect(end.sources.cited).toHaveLength(2);
  });

  test('goes with those marked', async () => {
    const { collect } = openChatStage(() => say(ANSWER), { found });
    const { text } = await collect({ unverified: 'mark' });
    expect(text).toBe(
      'Here it is:\nThe valve opens at 4 bar. [Source 1] The pump is not painted green. [Source 2] [unverified]\n' +
        '- The valve opens at 9 bar [Source 1]. [unverified]\n- The pump is painted green.',
    );
  });

  test.each([
    ['The valve opens at 4 bar. The pump is not painted green.', [true, false]],
    ['The valve opens at 4 bar. The pump is painted green.', [true, true]],
    ['The valve does not open at 4 bar. The pump is painted green.', [false, true]],
  ])('without marks says of each quote whether its own sentence holds: %s', async (said, verified) => {
    const { collect } = openChatStage(() => say(`${said}\n[Sources: 1, 2]`), { found });
    const { end } = await collect({});
    expect([...end.sources.supports.values()].map((support) => support.verified)).toEqual(verified);
  });

  test.each([
    [
      'The valve opens at 4 bar [Source 1]. The pump is not painted green [Source 2].',
      ['The valve opens at 4 bar.'],
    ],
    ['The valve opens at 9 bar [Source 1]. The pump is painted green.', ['The pump is painted green.']],
    ['The valve opens at 9 bar.', []],
  ])('quotes nothing for what it leaves out: %s', async (said, quotes) => {
    const { collect } = openChatStage(() => say(`${said}\n[Sources: 1, 2]`), { found });
    const { end } = await collect({ unverified: 'drop' });
    expect([...end.sources.supports.values()].map(({ quote }) => quote)).toEqual(quotes);
  });

  test('refuses where nothing is left, in the language of the question', async () => {
    const { collect } = openChatStage(() => say('The valve opens at 9 bar [Source 1].\n[Sources: 1]'), {
      found,
    });
    const { text, end } = await collect({
      unverified: 'drop',
      messages: [{ role: 'user', content: 'À quelle pression la soupape s’ouvre-t-elle ?' }],
    });
    expect(text).toBe('Les sources ne permettent pas de répondre à cette question.');
    expect(end.refused).toBe(true);
    expect(end.sources.cited).toEqual([]);
    expect(shownSources(end.sources)).toEqual([]);
  });

  test.each([
    ['The valve opens at 4 bar [Source 1]. The sources do not mention the colour.', false],
    ['Source 1 does not mention the price.', true],
  ])('without its last line is a refusal where it takes nothing from a source: %s', async (said, refused) => {
    const { collect } = openChatStage(() => say(said), { found });
    expect((await collect({})).end.refused).toBe(refused);
  });

  test('says when the model found nothing', async () => {
    const { collect } = openChatStage(() => say('The sources do not mention a price.\n[Sources: none]'), {
      found,
    });
    expect((await collect({})).end.refused).toBe(true);
  });

  test('comes the same however it is cut into deltas', async () => {
    const whole = async function* () {
      yield { content: ANSWER };
      yield { content: '', finishReason: 'stop' as const };
    };
    const letters = async function* () {
      for (const content of ANSWER) yield { content };
      yield { content: '', finishReason: 'stop' as const };
    };
    const [one, other] = await Promise.all(
      [whole, letters].map((script) => openChatStage(script, { found }).collect({ unverified: 'drop' })),
    );
    expect(one!.text).toBe(other!.text);
    expect(one!.end.sentences).toEqual(other!.end.sentences);
  });

  test.each([1, 3, 7, 12, 1000])(
    'keeps a mark right behind the stop, in deltas of %d characters',
    async (size) => {
      const said =
        'The valve opens at 4 bar.[Source 1] The pump is painted green.[Source 2][Source 1] ' +
        'The pump is painted red.[Source 1]';
      const script = async function* () {
        for (let from = 0; from < said.length; from += size) yield { content: said.slice(from, from + size) };
        yield { content: '', finishReason: 'stop' as const };
      };
      const { text, end } = await openChatStage(script, { found }).collect({ unverified: 'drop' });
      expect(text.trimEnd()).toBe(
        'The valve opens at 4 bar.[Source 1] The pump is painted green.[Source 2][Source 1]',
      );
      expect(end.sentences?.map(({ cited, supported }) => [cited, supported])).toEqual([
        [[1], true],
        [[1, 2], true],
        [[1], false],
      ]);
    },
  );

  test.each([1, 2, 5, 9, 16, 23, 1000])(
    'keeps marks of any form in one piece, in deltas of %d characters',
    async (size) => {
      const said =
        'The valve opens at 4 bar. [Source 1, Source 2] The pump is painted green [2]. The pump is painted ' +
        'green. (Source 2: pump.pdf, page 3) The pump is not painted green. 【Source 1 and Source 2】';
      const script = async function* () {
        for (let from = 0; from < said.length; from += size) yield { content: said.slice(from, from + size) };
        yield { content: '', finishReason: 'stop' as const };
      };
      const { text, end } = await openChatStage(script, { found }).collect({ unverified: 'drop' });
      expect(text.trimEnd()).toBe(said.slice(0, said.indexOf(' The pump is not')));
      expect(end.sentences?.map(({ cited, supported }) => [cited, supported])).toEqual([
        [[1, 2], true],
        [[2], true],
        [[2], true],
        [[1, 2], false],
      ]);
    },
  );

  test('comes sentence by sentence, before the model has ended', async () => {
    const { respond } = openChatStage(
      async function* (_, { signal }) {
        yield {
          content: 'The valve opens at 4 bar. [Source 1] The pump is painted green. [Source 2] It goes',
        };
        yield { content: ' on and on, and '.repeat(10) };
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      },
      { found },
    );
    const events = respond({ unverified: 'drop' });
    const { value } = await events.next();
    expect(value).toMatchObject({ type: 'delta', content: expect.stringContaining('4 bar. [Source 1]') });
    await events.return();
  });

  test('does not grow without bound where a model never ends a sentence', async () => {
    const endless = async function* () {
      for (let count = 0; count < 2_000; count += 1) yield { content: 'words without any end ' };
      yield { content: '', finishReason: 'stop' as const };
    };
    const before = process.cpuUsage();
    const { end } = await openChatStage(endless, { found }).collect({ unverified: 'drop' });
    const { user } = process.cpuUsage(before);
    expect(user / 1000).toBeLessThan(3_000);
    expect(end.refused).toBe(true);
  });
});

test('sentences of an answer are found in linear time', () => {
  for (const part of ['[Source 1] ', '.[Source 1]', 'a. ', '[', '[source ', '\n', 'x']) {
    const before = process.cpuUsage();
    answerSentences(part.repeat(50_000));
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2_000);
  }
});
