import fc from 'fast-check';
import type { FilterExpression, FilterLiteral } from '../../../activities/ports/filter.js';
import type { Metadata, MetadataValue } from '../../../schemas/documents/documents.js';

/** Few enough that values and literals meet often, and each pair that is easily taken for equal is among them. */
const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'abc',
  'b%',
  'b*',
  'b?',
  'b\\',
  'é',
  '7',
  'true',
  'z\u{1F600}',
  'z\uFF21',
  'a\nb',
  '2024-01-01',
  '2024-01-01T00:00:00Z',
  '2024-01-01 00:00:00.001',
  '1969-07-20T20:17:40+02:00',
];
const INTEGERS = [
  0n,
  1n,
  -1n,
  7n,
  2n ** 31n,
  -(2n ** 31n),
  2n ** 53n,
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  2n ** 63n - 1n,
  2n ** 63n - 2n,
  -(2n ** 63n),
];
const DECIMALS = [0, 0.5, -0.5, 1, 1.5, 7, 2 ** 53, 1e300, -1e300, 9.3e18, 1e-300, 2147483648.5];
const TIMES = ['2024-01-01', '2024-01-01T00:00:00.001Z', '1969-07-20T18:17:40Z', '2030-06-01'].map(
  Date.parse,
);

const CLIENT_KEYS = ['owner', 'a.b', 'any key', '*', 'constructor'];
const SERVER_KEYS = [
  'original_filename',
  'file_size',
  'indexed_at',
  'content_sha256',
  'file_id',
  'filename',
  'source',
  'page',
  'chunk_type',
  'relationship_id',
  'next_section_id',
];

function asStored(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

const scalar: fc.Arbitrary<MetadataValue> = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.constantFrom(...INTEGERS).map(asStored),
  fc.constantFrom(...DECIMALS),
  fc.boolean(),
  fc.constant(null),
);

const metadata: fc.Arbitrary<Metadata> = fc.dictionary(
  fc.constantFrom('owner', 'any key', '*', 'constructor', 'page'),
  fc.oneof({ weight: 3, arbitrary: scalar }, { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) }),
  { noNullPrototype: true },
);

export const nested: fc.Arbitrary<Metadata> = fc.tuple(metadata, scalar).map(([flat, value]) => ({
  ...flat,
  a: { b: value },
}));

/** What the server says of a version, among a chunk's entries. */
export const versionFacts = fc.record({
  original_filename: fc.constantFrom('a', 'abc', 'b*', 'A'),
  size_bytes: fc.constantFrom(0, 1, 7, 2 ** 31, 2 ** 53 - 1),
  content_sha256: fc.constantFrom('a', 'ab', 'b'),
  indexed_at: fc.constantFrom(...TIMES).map((time) => new Date(time)),
});

/** What the server says of a chunk. */
export const facts = fc.record({
  file_id: fc.constantFrom('a', 'ab', 'b'),
  filename: fc.constantFrom('a', 'abc', 'b*', 'A'),
  page: fc.constantFrom(null, 1, 2, 7),
  chunk_type: fc.constantFrom('text' as const, 'table' as const),
  relationship_id: fc.constantFrom(null, 'a', 'abc'),
  next_section_id: fc.constantFrom(null, 0, 1, 7),
});

const literal: fc.Arbitrary<FilterLiteral> = fc.oneof(
  fc.constantFrom(...TEXTS).map((value) => ({ kind: 'text' as const, value })),
  fc.constantFrom(...INTEGERS).map((value) => ({ kind: 'integer' as const, value })),
  fc.constantFrom(...DECIMALS).map((value) => ({ kind: 'decimal' as const, value })),
  fc.boolean().map((value) => ({ kind: 'boolean' as const, value })),
  fc.constantFrom(...TIMES).map((value) => ({ kind: 'time' as const, value })),
);

const field = fc.constantFrom(...CLIENT_KEYS, ...CLIENT_KEYS, ...SERVER_KEYS, 'missing');
const fragment = fc.constantFrom('', '', 'a', 'b', 'c', 'A', '*', '?', '\\', '%', 'T', '01');

const comparison: fc.Arbitrary<FilterExpression> = fc.oneof(
  fc
    .record({
      kind: fc.constant('compare' as const),
      field,
      operator: fc.constantFrom('==' as const, '!=', '<', '<=', '>', '>='),
      value: literal,
    })
    .filter(({ operator, value }) => value.kind !== 'boolean' || operator === '==' || operator === '!='),
  fc.record({
    kind: fc.constant('in' as const),
    field,
    negated: fc.boolean(),
    values: fc.array(literal, { maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('like' as const),
    field,
    pattern: fc.array(fragment, { minLength: 1, maxLength: 4 }),
  }),
);

export const expression = fc.letrec<{ expression: FilterExpression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 2, arbitrary: comparison },
    { weight: 1, arbitrary: tie('expression').map((part) => ({ kind: 'not' as const, part })) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constantFrom('and' as const, 'or' as const),
        parts: fc.array(tie('expression'), { minLength: 1, maxLength: 3 }),
      }),
    },
  ),
})).expression;
