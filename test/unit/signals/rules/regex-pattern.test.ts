import { describe, expect, test } from '@jest/globals';
import { regexPattern } from '../../../../activities/signals/rules/regex-pattern.js';
import { compileForTest, reasonFor } from './compile-for-test.js';

describe('regular expressions', () => {
  test.each([
    ['bf', 'ssh-bf-user', true],
    ['^ssh', 'x ssh', false],
    ['(?i)SSH', 'ssh', true],
    ['\\d{3}$', 'code 404', true],
    ['^\\p{L}+$', 'Été', true],
    ['a.c', 'a😀c', true],
  ])('%s on %s: %s', (pattern, text, expected) => {
    const test = regexPattern(pattern);
    expect(typeof test === 'function' && test(text)).toBe(expected);
  });

  test.each([
    ['x'.repeat(501), 'is longer than 500 characters'],
    ['(', 'is not valid'],
    ['(?=a)b', 'is not valid'],
    ['(a)\\1', 'is not valid'],
    ['((a{100}){100}){100}', 'is not valid'],
    ['(?:(?:a{10}){10}){9}b|(?:(?:a{10}){10}){9}c', 'is too complex'],
  ])('%.30s matches nothing, is told of, and costs no other pattern', (pattern, problem) => {
    expect(regexPattern(pattern)).toContain(problem);
    const leaf = { field: 'f', op: 'regex', value: pattern };
    const { rule, problems } = compileForTest(leaf);
    expect(problems).toEqual([expect.stringMatching(/^never: /)]);
    expect(problems[0]).toContain(problem);
    const signal = { f: `${pattern} ab aab` };
    expect(rule?.condition(signal)).toBeNull();
    expect(reasonFor({ ...leaf, value: [pattern, 'a+b$'] }, signal)).toBe('f matches regex "a+b$"');
    expect(reasonFor({ op: 'not', condition: leaf }, signal)).toBe('NOT(condition)');
  });

  test.each([
    ['(a+)+$', 'a'.repeat(1_000_000) + '!'],
    ['(x+x+)+y', 'x'.repeat(1_000_000)],
    ['((a{30}){30})$', 'a'.repeat(1_000_000) + '!'],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(1_000_000)],
    ['(.*)(.*)(.*)(.*)(.*)[^a]$', 'a'.repeat(1_000_000)],
    ['(a?){450}a{450}b', 'a'.repeat(1_000_000)],
    ['(a|aa|aaa)*b', 'a'.repeat(1_000_000)],
  ])('a hostile pattern ends quickly: %s', (pattern, text) => {
    const test = regexPattern(pattern);
    if (typeof test === 'function') test(text);
    // Not linear would not end within the time limit of the test.
  });
});
