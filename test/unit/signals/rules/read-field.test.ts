import { describe, expect, test } from '@jest/globals';
import type { Facts } from '../../../../activities/signals/rules/compiled-rule.js';
import { readField } from '../../../../activities/signals/rules/read-field.js';
import { evaluateRules } from '../../../../activities/signals/rules/evaluate-rules.js';
import { compileForTest, reasonFor } from './compile-for-test.js';

const FACTS: Facts = {
  geo: {
    countryCode: 'FR',
    countryName: 'France',
    city: 'Lille',
    region: null,
    latitude: 50.6,
    longitude: 3.1,
    timezone: 'Europe/Paris',
  },
  proxy: { watcher: 'paris-1', version: 'v3' },
};

describe('a path into lists', () => {
  const signal = {
    decisions: [
      { type: 'ban', scope: 'Ip', tags: ['a', 'b'] },
      { type: 'captcha', scope: 'Range' },
    ],
    context: [{ key: 'user', value: 'root' }],
    empty: [],
    text: 'abc',
    'odd[]': [1],
  };

  test.each([
    ['decisions[].type', ['ban', 'captcha']],
    ['decisions[].tags[]', ['a', 'b']],
    ['decisions[].missing', [undefined, undefined]],
    ['decisions[]', signal.decisions],
    ['context[].value', ['root']],
    ['empty[].type', []],
    ['text[]', []],
    ['nothing[].type', []],
    ['decisions', [signal.decisions]],
    ['decisions.type', [undefined]],
    ['decisions.length', [undefined]],
    ['__proto__[].x', []],
    ['constructor.name', [undefined]],
  ])('%s', (path, values) => {
    expect(readField(path)(signal)).toEqual(values);
  });

  test('one element that matches is enough, and `not` asks for none', () => {
    expect(reasonFor({ field: 'decisions[].type', op: 'eq', value: 'captcha' }, signal)).toBe(
      'decisions[].type equals "captcha"',
    );
    expect(reasonFor({ field: 'decisions[].type', op: 'ne', value: 'ban' }, signal)).toBe(
      'decisions[].type not equals "ban"',
    );
    const none = { op: 'not', condition: { field: 'decisions[].type', op: 'eq', value: 'throttle' } };
    expect(reasonFor(none, signal)).toBe('NOT(condition)');
    for (const op of ['empty', 'ne', 'not_in'])
      expect(
        reasonFor(
          { field: 'empty[].type', op, ...(op === 'empty' ? {} : { value: op === 'ne' ? 'x' : ['x'] }) },
          signal,
        ),
      ).toBeNull();
  });

  test('of many texts an expression looks at as much as eight of the longest', () => {
    const regex = { field: 'list[].a', op: 'regex', value: '^x$' };
    const texts = (count: number, length: number) => ({
      list: [...new Array<string>(count).fill('y'.repeat(length)), 'x'].map((a) => ({ a })),
    });
    expect(reasonFor(regex, texts(7, 1_000_000))).not.toBeNull();
    expect(reasonFor(regex, texts(8, 1_000_000))).toBeNull();
    expect(reasonFor(regex, texts(6_000, 10))).not.toBeNull();
    expect(reasonFor(regex, texts(7_000, 10))).toBeNull();
    expect(reasonFor({ ...regex, op: 'eq', value: 'x' }, texts(8, 1_000_000))).not.toBeNull();
  });

  test('a million elements cost no more than ten thousand', () => {
    const many = { list: new Array(1_000_000).fill({ a: 1 }) };
    expect(readField('list[].a')(many)).toHaveLength(10_000);
  });
});

describe('what the proxy knows itself', () => {
  test('a signal cannot pretend it', () => {
    const signal = { geo: { countryCode: 'XX' }, proxy: { watcher: 'other' } };
    expect(readField('geo.countryCode')(signal, FACTS)).toEqual(['FR']);
    expect(readField('proxy.watcher')(signal, FACTS)).toEqual(['paris-1']);
    expect(readField('geo.countryCode')(signal)).toEqual([undefined]);
    expect(readField('geo.toString')(signal, FACTS)).toEqual([undefined]);
  });
});

describe('a rule for some watchers', () => {
  const rule = (watchers: unknown) => {
    const { rule: compiled, problems } = compileForTest({ field: 'a', op: 'empty' }, { watchers });
    return { compiled, problems };
  };
  const filters = (watchers: unknown, watcher: string): boolean =>
    evaluateRules([rule(watchers).compiled!], 'block', {}, { ...FACTS, proxy: { watcher, version: 'v3' } })
      .filtered;

  test.each([
    ['paris-1', 'paris-1', true],
    ['paris-1', 'paris-12', false],
    [['lyon', 'paris-*'], 'paris-12', true],
    [['lyon', 'paris-*'], 'lille', false],
  ])('%j applies to %s: %s', (watchers, watcher, applies) => {
    expect(filters(watchers, watcher)).toBe(applies);
  });

  test.each([[[]], [''], [7], [['a', 7]]])('%j is refused', (watchers) => {
    const { compiled, problems } = rule(watchers);
    expect(compiled).toBeNull();
    expect(problems[0]).toContain('"watchers"');
  });

  test('holds nothing of a sender that nobody names', () => {
    expect(evaluateRules([rule('paris-1').compiled!], 'block', {}).filtered).toBe(false);
  });
});
