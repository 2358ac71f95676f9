import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createCitationFilter } from '../../../../activities/retrieval/chat/citations.js';

function run(deltas: readonly string[], sourceCount = 5) {
  const filter = createCitationFilter(sourceCount);
  const shown = deltas.map((delta) => filter.push(delta)).join('');
  const { tail, ...citations } = filter.end();
  return { text: shown + tail, ...citations };
}

describe('createCitationFilter', () => {
  test.each([
    ['[Sources: 1, 3]', [1, 3]],
    ['[Source: 2]', [2]],
    ['[sources :3,1 , 1]', [1, 3]],
    ['**[Sources: 1 and 4]**', [1, 4]],
    ['[Sources: Source 1, Source 2].', [1, 2]],
    ['[Sources: 2-4]', [2, 3, 4]],
    ['[ SOURCES: 5 ]  \n\n', [5]],
    ['[Sources: 0, 6, 99]', []],
    ['[Sources: 4-99999]', [4, 5]],
    ['[Sources: [1], [3]]', [1, 3]],
    ['**[Sources: [Source 1], [Source 3]]**.', [1, 3]],
    ['[Sources: [2] and [4]].', [2, 4]],
  ])('cuts off and reads %j', (line, cited) => {
    expect(run([`The answer [Source 1].\n\n${line}`])).toEqual({
      text: 'The answer [Source 1].',
      cited,
      reported: true,
      none: false,
    });
  });

  test.each(['[Sources: none]', '[sources: None]', '[Sources : aucune]'])('reads %j as none', (line) => {
    expect(run([`No.\n${line}`])).toEqual({ text: 'No.', cited: [], reported: true, none: true });
  });

  test.each([
    'An answer that cites nothing.',
    'It stands in [Source 2]',
    'See [Sources: 1] and more.',
    '[Sources: see the annex]',
    '[Sources: [1] see the annex]',
    '[Sources: [1] and [2',
    'An open end [Sources: 1',
    '',
    'ok',
  ])('leaves %j whole', (text) => {
    expect(run([text])).toEqual({ text, cited: [], reported: false, none: false });
  });

  test('shows nothing of a long line', () => {
    const numbers = Array.from({ length: 60 }, (_, index) => index + 1);
    const filter = createCitationFilter(60);
    let shown = '';
    for (const letter of `${'An answer. '.repeat(20)}\n[Sources: ${numbers.join(', ')}]`)
      shown += filter.push(letter);
    expect(shown).not.toContain('[');
    expect(filter.end()).toMatchObject({ reported: true, cited: numbers });
  });

  test('keeps back no more than it must', () => {
    const filter = createCitationFilter(3);
    expect(filter.push('It opens at nine')).toBe('It opens at nine');
    expect(filter.push(' \n**')).toBe('');
    expect(filter.push('or** ten [')).toBe(' \n**or** ten');
    expect(filter.push('about]')).toBe(' [about]');
  });

  test('lets white space without end go', () => {
    const filter = createCitationFilter(3);
    let shown = 0;
    for (let count = 0; count < 3000; count++) shown += filter.push(' ').length;
    expect(shown).toBe(2000);
    expect(filter.push('[Sources: 1]')).not.toContain('[');
    expect(filter.end()).toEqual({ tail: '', reported: true, none: false, cited: [1] });
  });

  test('a mark within the answer holds up nothing', () => {
    const filter = createCitationFilter(3);
    expect(filter.push('It opens at nine [Source')).toBe('It opens at nine');
    expect(filter.push(' 2]')).toBe(' [Source 2]');
    expect(filter.push(' or [Sources:')).toBe(' or');
    expect(filter.push(' see the annex')).toBe('');
    expect(filter.push('] and')).toBe(' [Sources: see the annex] and');
  });

  test('does not depend on how the answer was cut into deltas', () => {
    const words = [
      'The',
      ' answer',
      '\n',
      ' ',
      '   ',
      ' '.repeat(600),
      '[',
      ']',
      '[Source',
      ' 2]',
      '[Sources:',
      ' 1',
      ', 3',
      ' none',
      '[1]',
      '[Sources: [1]',
      ' and',
      '_',
      '**',
      '`',
      '.',
    ];
    const answer = fc
      .tuple(
        fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 40 })), { maxLength: 40 }),
        fc.constantFrom(
          '',
          '[Sources: 1, 3]',
          '\n[sources: none] ',
          `\n[Sources: ${'1, '.repeat(50)}2]`,
          `\n[Sources: ${'1, '.repeat(400)}2]`,
          '[Sources: 1',
          '[Sources: [Source 1], [3]]**.',
          `\n[Sources: ${'[1], '.repeat(300)}[2]]`,
        ),
      )
      .map(([parts, line]) => parts.join('') + line);
    fc.assert(
      fc.property(answer, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (text, sizes) => {
        const deltas: string[] = [];
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          deltas.push(text.slice(at, at + size));
          at += size;
        }
        const whole = run([text]);
        expect(run(deltas)).toEqual(whole);
        expect(run([...text])).toEqual(whole);
        expect(text.startsWith(whole.text)).toBe(true);
        if (!whole.reported) expect(whole.text).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});
