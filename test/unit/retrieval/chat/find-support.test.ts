import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSupportFinder } from '../../../../activities/retrieval/chat/find-support.js';

const EXTRACT =
  '# Valves\n\nThe safety valve opens at 4 bar. It is checked every 12 months by the operator.\n' +
  'La soupape s’ouvre à 4 bars 🗼. The pump is green and stands in room B12.';

function supportOf(answer: string, number = 1, extract = EXTRACT) {
  return createSupportFinder(answer, [extract])(extract, number);
}

describe('createSupportFinder', () => {
  test.each([
    ['The safety valve opens at 4 bar [Source 1].', 'The safety valve opens at 4 bar.', true],
    ['Opens at 4 bar: the valve. [Source 1]', 'The safety valve opens at 4 bar.', true],
    [
      'It is checked every 24 months by the operator [Source 1].',
      'It is checked every 12 months by the operator.',
      false,
    ],
    ['La soupape s’ouvre à 4 bars [Source 1].', 'La soupape s’ouvre à 4 bars 🗼.', true],
    [
      'The pump is green, old and stands somewhere [Source 1].',
      'The pump is green and stands in room B12.',
      false,
    ],
    ['The pump is green. [Sources: 1]', 'The pump is green and stands in room B12.', true],
    ['The safety valve opens at 4 bar [Source 1, Source 2].', 'The safety valve opens at 4 bar.', true],
    ['The safety valve opens at 4 bar [1].', 'The safety valve opens at 4 bar.', true],
  ])('finds beside %j the quote %j, verified: %j', (answer, quote, verified) => {
    const support = supportOf(answer);
    expect(support).toMatchObject({ quote, verified });
    const points = [...EXTRACT];
    expect(points.slice(support!.charStart, support!.charEnd).join('')).toBe(quote);
  });

  test('looks at what names the source, and at what names none where nothing does', () => {
    const answer = 'The pump is green [Source 2]. The safety valve opens at 4 bar [Source 1].';
    expect(supportOf(answer)?.quote).toBe('The safety valve opens at 4 bar.');
    expect(supportOf(answer, 2)?.quote).toContain('The pump is green');
    expect(supportOf(answer, 3)).toBeNull();
    expect(supportOf('The pump is green.\n[Sources: 3]', 3)?.quote).toContain('The pump is green');
  });

  test.each([
    '',
    'Yes.',
    'Der Druck beträgt vier.',
    'Nothing of the kind is written anywhere [Source 1].',
    '[Source 1]',
  ])('finds nothing beside %j', (answer) => expect(supportOf(answer)).toBeNull());

  test('gives a place in the extract whatever the texts are', () => {
    const text = fc.array(
      fc.oneof(
        fc.constantFrom('valve', ' 4 bar', '. ', '\n', '[Source 1]', '🗼', ' pump'),
        fc.string({ maxLength: 9 }),
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(text, text, (answer, extract) => {
        const whole = extract.join('');
        const support = supportOf(answer.join(''), 1, whole);
        if (support === null) return;
        expect([...whole].slice(support.charStart, support.charEnd).join('')).toBe(support.quote);
      }),
      { numRuns: 300 },
    );
  });

  test('is quick with hostile texts', () => {
    const started = performance.now();
    const word = 'valve pump '.repeat(50_000);
    supportOf(word, 1, word);
    supportOf('valve pump [Source 1]. '.repeat(20_000), 1, 'valve pump. '.repeat(50_000));
    supportOf('[Source '.repeat(50_000), 1, '['.repeat(100_000));
    supportOf(`[Source ${'1,'.repeat(100_000)}`, 1, '. '.repeat(100_000));
    // Quadratic work would take minutes.
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
