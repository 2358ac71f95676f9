import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { compileForTest, reasonFor } from './compile-for-test.js';

const MISSING = Symbol('missing');

function asSignal(found: unknown) {
  return found === MISSING ? {} : { f: found };
}

/** operator, value, reason, what matches, what does not (proxy spec, section 3.2). */
const TABLE: [op: string, value: unknown, reason: string, hits: unknown[], misses: unknown[]][] = [
  ['eq', true, 'f equals true', [true], [false, 'true', 1, null, MISSING]],
  ['eq', 'FR', 'f equals "FR"', ['FR'], ['fr', ['FR'], MISSING]],
  ['eq', 5, 'f equals 5', [5], ['5', 5.5, MISSING]],
  ['eq', null, 'f equals null', [null], [MISSING, '', 0]],
  ['ne', 'FR', 'f not equals "FR"', ['DE', 5, null, MISSING, ['FR']], ['FR']],
  ['gt', 5, 'f > 5', [6, 5.1], [5, 4, '6', null, MISSING]],
  ['gte', 5, 'f >= 5', [5, 6], [4, '5', MISSING]],
  ['lt', 5, 'f < 5', [4, -1], [5, '4', null, MISSING]],
  ['lte', 0.5, 'f <= 0.5', [0.5, 0], [1, MISSING]],
  ['in', ['a', 5, null], 'f in [a, 5, null]', ['a', 5, null], ['b', '5', ['a'], MISSING]],
  ['not_in', ['a', 'b'], 'f not in [a, b]', ['c', 5, null, MISSING], ['a', 'b']],
  ['contains', 'bf', 'f contains "bf"', ['ssh-bf', ['x', 'bf']], ['BF', ['ssh-bf'], 5, null, MISSING]],
  ['contains', 404, 'f contains "404"', ['code 404', [404]], [['404'], 404, MISSING]],
  ['not_contains', 'bf', 'f not contains "bf"', ['http', [], ['ssh-bf']], ['ssh-bf', ['bf'], null, MISSING]],
  ['starts_with', 'ssh', 'f starts with "ssh"', ['ssh-bf'], ['SSH', 'x-ssh', ['ssh'], MISSING]],
  ['ends_with', 'bf', 'f ends with "bf"', ['ssh-bf'], ['bfs', 5, MISSING]],
  ['glob', 'a/*', 'f matches glob "a/*"', ['a/b', 'a/b-c'], ['a/b/c', 'a', 'A/b', 5, MISSING]],
  ['glob', ['x', 'a*'], 'f matches glob "a*"', ['abc'], ['b', ['abc'], MISSING]],
  ['regex', 'b+c$', 'f matches regex "b+c$"', ['abbc'], ['bcd', 'BC', 5, MISSING]],
  ['regex', ['^x', 'y'], 'f matches regex "y"', ['ay'], ['ax', null, MISSING]],
  ['cidr', '10.0.0.0/8', 'f in CIDR 10.0.0.0/8', ['10.1.2.3'], ['11.0.0.1', 5, MISSING]],
  [
    'internal',
    undefined,
    'f is internal',
    [
      '10.1.2.3',
      '172.31.255.255',
      '192.168.0.1',
      '127.0.0.1',
      '169.254.1.1',
      '100.64.0.1',
      '0.0.0.0',
      '::1',
      '::',
      'fe80::1%eth0',
      'fd00::1',
      '::ffff:10.0.0.1',
      '::ffff:a00:1',
      '::10.0.0.1',
      '64:ff9b::10.0.0.1',
      'fec0::1',
      '64:ff9b:1::1',
      '::ffff:0:10.0.0.1',
      '2002:a00:1::',
      ' 10.1.2.3 ',
      '10.0.0.0/8',
      '11.0.0.0/7',
      'fd00::/8',
      '::ffff:10.0.0.0/104',
      '192.168.1.0/24',
    ],
    [
      '8.8.8.8',
      '172.32.0.1',
      '2001:4860:4860::8888',
      '::ffff:8.8.8.8',
      '64:ff9b::8.8.8.8',
      '8.8.8.0/24',
      '9.0.0.0/7',
      '10.1',
      '010.0.0.1',
      '10.0.0.0/33',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      'host',
      '',
      5,
      null,
      ['10.0.0.1'],
      MISSING,
    ],
  ],
  ['cidr', ['::1', '10.0.0.0/8'], 'f in CIDR 10.0.0.0/8', ['10.1.2.3'], ['::2', MISSING]],
  ['empty', undefined, 'f is empty', ['', null, [], MISSING], [{}, 0, false, 'x', [null]]],
  ['not_empty', undefined, 'f is not empty', [{}, 0, false, 'x', [1]], ['', null, [], MISSING]],
];

describe.each(TABLE)('%s %j', (op, value, reason, hits, misses) => {
  const filter = { field: 'f', op, ...(value !== undefined && { value }) };
  test('matches, and says why', () => {
    for (const hit of hits) expect(reasonFor(filter, asSignal(hit))).toBe(reason);
  });
  test('does not match', () => {
    for (const miss of misses) expect(reasonFor(filter, asSignal(miss))).toBeNull();
  });
});

test('in, not_in: of a long list the reason has the member that was found, or a few', () => {
  const value = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  expect(reasonFor({ field: 'f', op: 'in', value }, { f: '10.0.31.7' })).toBe(
    'f in [10.0.31.7, … 9999 more]',
  );
  expect(reasonFor({ field: 'f', op: 'not_in', value }, { f: '192.0.2.1' })).toBe(
    `f not in [${value.slice(0, 10).join(', ')}, … 9990 more]`,
  );
  const ten = value.slice(0, 10);
  expect(reasonFor({ field: 'f', op: 'in', value: ten }, { f: '10.0.0.7' })).toBe(`f in [${ten.join(', ')}]`);
});

test('a long reason is cut, between two characters', () => {
  const leaf = { field: 'f', op: 'starts_with', value: '🦊🦊🦊' };
  const reason = reasonFor({ op: 'and', conditions: Array(500).fill(leaf) }, { f: '🦊🦊🦊🦊' });
  expect(reason).toMatch(/^f starts with "🦊🦊🦊" AND .*…$/);
  expect(reason?.length).toBeLessThanOrEqual(1_000);
  for (let length = 1; length < 30; length += 1) {
    const value = `${'x'.repeat(length)}${'🦊'.repeat(600)}`;
    expect(reasonFor({ field: 'f', op: 'eq', value }, { f: value })).not.toMatch(/\p{Surrogate}/u);
  }
});

test('cidr: families, spellings and nonsense', () => {
  const cases: [range: string, address: string, matches: boolean][] = [
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '203.0.113.9', false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', false],
    ['::ffff:0:0/96', '::ffff:10.0.0.1', true],
    ['::ffff:0:0/96', '10.0.0.1', false],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.8', false],
    ['2001:db8::1', '2001:0db8:0:0::1', true],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['10.1.2.3/8', '10.9.9.9', true],
    [' 10.0.0.0/8 ', '\t10.0.0.1 ', true],
    ['fe80::%eth0/64', 'fe80::1%wlan0', true],
    ['10.0.0.0/31', '10.0.0.1', true],
    ['10.0.0.0/31', '10.0.0.2', false],
    ['10.0.0.0/8', '010.0.0.1', false],
    ['10.0.0.0/8', '10.1', false],
    ['10.0.0.0/8', '0x0a.0.0.1', false],
    ['10.0.0.0/8', '10.0.0.0/8', false],
    ['10.0.0.0/8', '10.0.0.1%eth0', false],
    ['203.0.113.0/24', '203.0.113.0/24', false],
    ['10.0.0.0/8', '', false],
    ['10.0.0.0/8', 'localhost', false],
  ];
  for (const [range, address, matches] of cases)
    expect([
      range,
      address,
      reasonFor({ field: 'f', op: 'cidr', value: range }, { f: address }) !== null,
    ]).toEqual([range, address, matches]);
});

test.each([
  '10.0.0.0/08',
  '010.0.0.0/8',
  '10.0.0.0/33',
  '::/129',
  '10.0.0.0/',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '10.0.0.0 /8',
  '10/8',
  'nonsense',
  '',
])('cidr: the range %j matches nothing and is told to its author', (range) => {
  const { rule, problems } = compileForTest({ field: 'f', op: 'cidr', value: [range, '192.0.2.0/24'] });
  expect(problems).toEqual([
    `note: cidr cannot read the range ${JSON.stringify(range)}, which never matches`,
  ]);
  expect(rule?.condition({ f: '10.0.0.1' })).toBeNull();
  expect(rule?.condition({ f: '192.0.2.1' })).toBe('f in CIDR 192.0.2.0/24');
});

test('cidr: of a list, the first range that contains the address is the reason', () => {
  const bits = (address: fc.Arbitrary<string>, most: number) =>
    fc.tuple(address, fc.nat(most)).map(([base, length]) => `${base}/${length}`);
  const near = fc.nat(255).map((byte) => `10.0.0.${byte}`);
  const range = fc.oneof(near, bits(near, 32), bits(fc.ipV6(), 128), fc.constant('nonsense'));
  fc.assert(
    fc.property(fc.array(range, { minLength: 1 }), fc.oneof(near, fc.ipV6()), (value, f) => {
      const each = value.map((one) => compileForTest({ field: 'f', op: 'cidr', value: one }).rule);
      expect(compileForTest({ field: 'f', op: 'cidr', value }).rule?.condition({ f })).toBe(
        each.map((rule) => rule?.condition({ f }) ?? null).find((reason) => reason !== null) ?? null,
      );
    }),
  );
});

test('cidr: an address is read once, however long the list is', () => {
  const value = Array.from({ length: 20_000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const { rule } = compileForTest({ field: 'f', op: 'cidr', value });
  const parse = jest.spyOn(ipaddr, 'parse');
  try {
    expect(rule?.condition({ f: '10.78.31.7' })).toBe('f in CIDR 10.78.31.0/24');
    expect(rule?.condition({ f: '192.0.2.1' })).toBeNull();
    expect(parse).toHaveBeenCalledTimes(2);
  } finally {
    parse.mockRestore();
  }
});

test('field paths follow own properties of objects only', () => {
  const read = (field: string, signal: unknown) => reasonFor({ field, op: 'not_empty' }, signal) !== null;
  expect(read('a.b.c', { a: { b: { c: 1 } } })).toBe(true);
  for (const field of [
    '__proto__',
    'constructor',
    'constructor.name',
    'toString',
    'a.__proto__',
    'a.length',
    's.length',
    'l.0',
    'l.length',
  ])
    expect([field, read(field, { a: {}, s: 'text', l: [1, 2] })]).toEqual([field, false]);
  expect(read('__proto__.x', JSON.parse('{"__proto__":{"x":1}}'))).toBe(true);
  for (const signal of [null, undefined, 5, 'text', [1]]) expect(read('length', signal)).toBe(false);
});

test('and, or and not', () => {
  const yes = { field: 'a', op: 'eq', value: 1 };
  const no = { field: 'a', op: 'eq', value: 2 };
  const also = { field: 'b', op: 'empty' };
  const cases: [filter: unknown, reason: string | null][] = [
    [{ op: 'and', conditions: [yes, also] }, 'a equals 1 AND b is empty'],
    [{ op: 'and', conditions: [yes, no] }, null],
    [{ op: 'or', conditions: [no, also, yes] }, 'b is empty'],
    [{ op: 'or', conditions: [no] }, null],
    [{ op: 'not', condition: no }, 'NOT(condition)'],
    [{ op: 'not', condition: yes }, null],
    [
      {
        op: 'and',
        conditions: [
          { op: 'or', conditions: [no, yes] },
          { op: 'not', condition: no },
        ],
      },
      'a equals 1 AND NOT(condition)',
    ],
  ];
  for (const [filter, reason] of cases) expect(reasonFor(filter, { a: 1 })).toBe(reason);
});
