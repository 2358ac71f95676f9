import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseFilter } from '../../../../activities/retrieval/filter/parse-filter.js';
import { AppError } from '../../../../schemas/app-error.js';

function compare(field: string, operator: string, value: unknown) {
  return {
    kind: 'compare',
    field,
    operator,
    value,
  };
}

function text(value: string) {
  return { kind: 'text', value };
}

function integer(value: number | bigint) {
  return { kind: 'integer', value: BigInt(value) };
}

describe('parseFilter', () => {
  test.each([
    ['owner == "ada"', compare('owner', '==', text('ada'))],
    ["owner=='it\\'s'", compare('owner', '==', text("it's"))],
    ['pages >= 10', compare('pages', '>=', integer(10))],
    ['big != 9007199254740993', compare('big', '!=', integer(9007199254740993n))],
    ['big == -9223372036854775808', compare('big', '==', integer(-(2n ** 63n)))],
    ['price < 1.5e1', compare('price', '<', { kind: 'decimal', value: 15 })],
    ['price < -.5', compare('price', '<', { kind: 'decimal', value: -0.5 })],
    ['draft == TRUE', compare('draft', '==', { kind: 'boolean', value: true })],
    [
      'created_at < ISO "2024-01-01T00:00:00Z"',
      compare('created_at', '<', { kind: 'time', value: Date.UTC(2024, 0, 1) }),
    ],
    [
      'created_at < iso "2024-01-01T01:30:00+01:30"',
      compare('created_at', '<', { kind: 'time', value: Date.UTC(2024, 0, 1) }),
    ],
    ['a.b-c == 1', compare('a.b-c', '==', integer(1))],
    ['metadata["any key"] == 1', compare('any key', '==', integer(1))],
    ['metadata == 1', compare('metadata', '==', integer(1))],
    ['a["b c"]["d"] == 1', compare('a.b c.d', '==', integer(1))],
    ['constructor == 1', compare('constructor', '==', integer(1))],
    [
      'n in [1, "a", true]',
      {
        kind: 'in',
        field: 'n',
        negated: false,
        values: [integer(1), text('a'), { kind: 'boolean', value: true }],
      },
    ],
    ['n NOT IN []', { kind: 'in', field: 'n', negated: true, values: [] }],
    ['t like "abc%"', { kind: 'like', field: 't', pattern: ['abc', ''] }],
    ['t LIKE "%a%b"', { kind: 'like', field: 't', pattern: ['', 'a', 'b'] }],
    ['t like "100\\%"', { kind: 'like', field: 't', pattern: ['100%'] }],
    ['t == "100%"', compare('t', '==', text('100%'))],
  ])('%s', (filter, expected) => {
    expect(parseFilter(filter)).toEqual(expected);
  });

  test('`and` binds closer than `or`, and `not` closest', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => compare(name, '==', integer(1)));
    expect(parseFilter('a == 1 or b == 1 AND not c == 1')).toEqual({
      kind: 'or',
      parts: [a, { kind: 'and', parts: [b, { kind: 'not', part: c }] }],
    });
    expect(parseFilter('((a == 1 or b == 1)) and c == 1')).toEqual({
      kind: 'and',
      parts: [{ kind: 'or', parts: [a, b] }, c],
    });
  });

  const problem = (filter: string): { position: unknown; message: string } => {
    try {
      parseFilter(filter);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      expect(error.code).toBe('INVALID_FILTER');
      return { position: error.details['position'], message: error.message };
    }
    throw new Error(`taken: ${filter}`);
  };

  test.each([
    // A bare tautology, and what comes to the same.
    ['1 == 1', 1, "a field, 'not' or '('"],
    ['true', 1, "a field, 'not' or '('"],
    ['"a" == "a"', 1, "a field, 'not' or '('"],
    ['not false', 5, "a field, 'not' or '('"],
    ['a == 1 or 1 == 1', 11, "a field, 'not' or '('"],
    ['a == a', 6, 'a text in quotes'],
    ['', 1, "a field, 'not' or '('"],
    // The field that is never a filter's to choose.
    ['partition == "x"', 1, 'another field'],
    ['a == 1 and not (PARTITION like "%")', 17, 'another field'],
    ['metadata["partition"] == "x"', 1, 'another field'],
    ['partition.x == 1', 1, 'another field'],
    ['metadata.partition == "x"', 1, 'another field'],
    ['$meta["Partition"] == "x"', 1, 'another field'],
    ['vector_score > 0.5', 1, 'another field'],
    ['_id < "x"', 5, "'==', '!=', 'in' or 'not in'"],
    ['_id like "x%"', 5, "'==', '!=', 'in' or 'not in'"],
    // Unbalanced.
    ['(a == 1', 8, "'and', 'or' or ')'"],
    ['a == 1)', 7, "'and', 'or' or the end"],
    ['a in [1', 8, "',' or ']'"],
    ['a in [1,]', 9, 'a text in quotes'],
    ['a == "x', 8, 'a closing "'],
    ["a == 'x\\'", 10, "a closing '"],
    ['a == "\\x"', 7, 'one of'],
    // Nothing that the grammar knows.
    ['a = 1', 3, 'a field, a value or an operator'],
    ['a == 1; b == 2', 7, 'a field, a value or an operator'],
    ['a == 1 b == 2', 8, "'and', 'or' or the end"],
    ['a ==', 5, 'a text in quotes'],
    ['a 1', 3, "'=='"],
    ['a not like "x"', 7, "'in'"],
    ['a == 1x', 7, 'the end of the number'],
    ['a == 1e999', 6, 'a number'],
    ['a == 9223372036854775808', 6, 'an integer within 64 bits'],
    ['a < true', 5, 'a value that has an order'],
    ['a < ISO "yesterday"', 9, 'a date such as'],
    ['a < ISO 1', 9, 'a date such as'],
    ['a like 1', 8, 'a pattern in quotes'],
    ['and == 1', 1, 'a field'],
    ['a[1] == 1', 3, 'a key in quotes'],
  ])('refuses %s and says where', (filter, position, expected) => {
    const found = problem(filter);
    expect(found.position).toBe(position);
    expect(found.message).toContain(`at character ${position}: expected ${expected}`);
  });

  test('is bounded: length, nesting, comparisons, wildcards', () => {
    const long = `a == "${'x'.repeat(2041)}"`;
    expect(parseFilter(long)).toMatchObject({ kind: 'compare' });
    expect(problem(`${long} `).message).toContain('at most 2048 characters');
    expect(problem('('.repeat(2048)).message).toContain('at most 32 levels');
    expect(problem('not '.repeat(500)).message).toContain('at most 32 levels');
    expect(parseFilter(`${'('.repeat(32)}a == 1${')'.repeat(32)}`)).toMatchObject({ field: 'a' });
    expect(problem(Array(51).fill('a<1').join(' or ')).message).toContain('at most 50 comparisons');
    expect(problem(`a like "${'%a'.repeat(17)}"`).message).toContain('at most 16 signs');
    expect(problem(`a like "%${'a'.repeat(257)}"`).message).toContain('a pattern of at most 256');
  });

  test('takes or refuses any text at once, and never breaks', () => {
    const fragment = fc.constantFrom(
      ...[
        'a',
        'partition',
        '==',
        '<',
        '(',
        ')',
        '[',
        ']',
        ',',
        '"',
        "'",
        '\\',
        '%',
        'and',
        'or',
        'not',
        'in',
      ],
      ...['like', 'ISO', '1', '-1.5', 'true', ' ', '"x"', '\0', 'é', '\ud800', '\n'],
    );
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 60 }), (fragments) => {
        try {
          parseFilter(fragments.join(''));
        } catch (error) {
          expect(error).toMatchObject({ name: 'AppError', code: 'INVALID_FILTER' });
        }
      }),
      { numRuns: 2000 },
    );
  });
});
