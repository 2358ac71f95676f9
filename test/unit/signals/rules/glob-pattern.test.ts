import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { minimatch } from 'minimatch';
import { globPattern } from '../../../../activities/signals/rules/glob-pattern.js';

function matches(pattern: string, text: string): boolean {
  const test = globPattern(pattern);
  if (typeof test === 'string') throw new Error(`${pattern} ${test}`);
  return test(text);
}

describe('glob patterns', () => {
  test('agree with minimatch', () => {
    const fragment = fc.constantFrom(
      'a',
      'b',
      '.',
      '/',
      '*',
      '**',
      '?',
      '[ab]',
      '[!a]',
      '{a,b}',
      '{a,b/*}',
      '-',
      '\\*',
      '@(a|b)',
      '+(a|b)',
    );
    const pattern = fc.array(fragment, { minLength: 1, maxLength: 7 }).map((fragments) => fragments.join(''));
    const text = fc
      .array(fc.constantFrom('a', 'b', '.', '/', '-', '*', 'ab'), { maxLength: 8 })
      .map((parts) => parts.join(''));
    // Two shapes in which minimatch resolves `.` and `..` in the pattern like a path are left out.
    const plain = pattern.filter((glob) => !/(^|[/,{])\.{1,2}($|[/,}])/.test(glob));
    fc.assert(
      fc.property(plain, text, (glob, value) => {
        const test = globPattern(glob);
        fc.pre(typeof test !== 'string');
        expect([glob, value, matches(glob, value)]).toEqual([
          glob,
          value,
          minimatch(value, glob, { platform: 'linux' }),
        ]);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    ['crowdsecurity/http-*', 'crowdsecurity/http-probing', true],
    ['crowdsecurity/http-*', 'crowdsecurity/http/probing', false],
    ['**', 'a/b/c', true],
    ['*/ssh-*', 'crowdsecurity/ssh-bf', true],
    ['!crowdsecurity/*', 'mine/x', true],
    ['!crowdsecurity/*', 'crowdsecurity/x', false],
    ['{a,b}/{1..3}', 'b/2', true],
    ['*', '.hidden', false],
    ['?', '😀', true],
  ])('%s on %s: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  test.each([
    ['x'.repeat(501), 'is longer than 500 characters'],
    ['#comment', 'starts with #'],
    ['{a,b}'.repeat(20), 'is too complex'],
    ['{1..100000}', 'is too complex'],
    ['a!(b|c)d', 'extended glob'],
  ])('%.20s is refused', (pattern, problem) => {
    expect(globPattern(pattern)).toContain(problem);
  });

  test.each([
    ['*a'.repeat(200) + 'b', 'a'.repeat(100_000)],
    ['**/a/'.repeat(80) + 'b', 'a/'.repeat(50_000)],
    ['**/'.repeat(100) + 'b', 'a/'.repeat(50_000)],
    ['+(+(+(a)))b', 'a'.repeat(100_000)],
    ['{*,**}/'.repeat(6) + 'b', 'a/'.repeat(50_000)],
  ])('a hostile pattern ends quickly: %.20s', (pattern, text) => {
    const test = globPattern(pattern);
    if (typeof test !== 'string') expect(test(text)).toBe(false);
    // Not linear would not end within the time limit of the test.
  });
});
