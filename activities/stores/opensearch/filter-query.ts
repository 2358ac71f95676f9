import type { ComparisonOperator, FilterExpression, FilterLiteral, LikePattern } from '../../ports/filter.js';
import { serverField } from '../../documents/filter-fields.js';
import { entryKey } from '../../documents/metadata-entries.js';

const INT32 = { least: -(2 ** 31), greatest: 2 ** 31 - 1 };

function all(...filter: object[]): object {
  return { bool: { filter } };
}

function any(...should: object[]): object {
  return { bool: { should, minimum_should_match: 1 } };
}

function not(...queries: object[]): object {
  return { bool: { must_not: queries } };
}

function exists(field: string): object {
  return { exists: { field } };
}

const NOTHING = { match_none: {} };

const RANGES = { '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte' } as const;

type Ordering = Exclude<ComparisonOperator, '!='>;

function ordered(field: string, operator: Ordering, value: unknown): object {
  return operator === '=='
    ? { term: { [field]: value } }
    : { range: { [field]: { [RANGES[operator]]: value } } };
}

/** A time as both ends of a range: of an equal one the engine would make a term, and read it in its own way. */
function orderedTime(field: string, operator: Ordering, time: number): object {
  const at = new Date(time).toISOString();
  const ends = operator === '==' ? { gte: at, lte: at } : { [RANGES[operator]]: at };
  return { range: { [field]: { ...ends, format: 'strict_date_time' } } };
}

/** Signs that would be wildcards of the engine's own are escaped. */
function wildcard(pattern: LikePattern): string {
  return pattern.map((segment) => segment.replace(/[\\*?]/g, '\\$&')).join('*');
}

function like(field: string, pattern: LikePattern): object {
  const [first = '', second, ...more] = pattern;
  if (second === undefined) return { term: { [field]: first } };
  if (second === '' && more.length === 0) return { prefix: { [field]: first } };
  return { wildcard: { [field]: { value: wildcard(pattern) } } };
}

/** How the values of one field are asked for, by the type of the literal. */
interface FieldQueries {
  exists(): object;
  compare(operator: Ordering, literal: FilterLiteral): object;
  in(literals: readonly FilterLiteral[]): object;
  like(pattern: LikePattern): object;
}

function ofKind<Kind extends FilterLiteral['kind']>(literals: readonly FilterLiteral[], kind: Kind) {
  return literals.flatMap((literal) =>
    literal.kind === kind ? [literal as Extract<FilterLiteral, { kind: Kind }>] : [],
  );
}

/** A key of metadata entries: those that have it, each with its value under the types that it has. */
function metadataQueries(key: string): FieldQueries {
  const entry = (...queries: object[]): object => ({
    nested: { path: 'metadata', query: all({ term: { 'metadata.key': key } }, ...queries) },
  });
  const { integer, number } = { integer: 'metadata.integer', number: 'metadata.number' };
  const withoutInteger = (query: object): object => ({
    bool: { filter: [query], must_not: [exists(integer)] },
  });
  const valueQuery = (operator: Ordering, literal: FilterLiteral): object => {
    switch (literal.kind) {
      case 'text':
        return ordered('metadata.text', operator, literal.value);
      case 'boolean':
        return ordered('metadata.bool', operator, literal.value);
      case 'time':
        return orderedTime('metadata.date', operator, literal.value);
      case 'decimal':
        return ordered(number, operator, literal.value);
      case 'integer':
        return any(
          // As a text: JSON of ours would round it.
          ordered(integer, operator, String(literal.value)),
          withoutInteger(ordered(number, operator, Number(literal.value))),
        );
    }
  };
  return {
    exists: () => entry(),
    compare: (operator, literal) => entry(valueQuery(operator, literal)),
    in(literals) {
      const integers = ofKind(literals, 'integer').map(({ value }) => value);
      const lists = [
        { field: 'metadata.text', values: ofKind(literals, 'text').map(({ value }) => value) },
        { field: 'metadata.bool', values: ofKind(literals, 'boolean').map(({ value }) => value) },
        { field: integer, values: integers.map(String) },
        { field: number, values: ofKind(literals, 'decimal').map(({ value }) => value) },
      ].flatMap(({ field, values }) => (values.length === 0 ? [] : [{ terms: { [field]: values } }]));
      const rounded =
        integers.length === 0 ? [] : [withoutInteger({ terms: { [number]: integers.map(Number) } })];
      const times = ofKind(literals, 'time').map((literal) => valueQuery('==', literal));
      return literals.length === 0 ? NOTHING : entry(any(...lists, ...rounded, ...times));
    },
    like: (pattern) => entry(like('metadata.text', pattern)),
  };
}

/** The whole numbers for which a comparison with any number holds, within what the field can hold. */
function integerRange(operator: Ordering, value: number): { least: number; greatest: number } {
  const { least, greatest } = INT32;
  switch (operator) {
    case '==':
      return Number.isInteger(value) ? { least: value, greatest: value } : { least: 1, greatest: 0 };
    case '<':
      return { least, greatest: Math.ceil(value) - 1 };
    case '<=':
      return { least, greatest: Math.floor(value) };
    case '>':
      return { least: Math.floor(value) + 1, greatest };
    case '>=':
      return { least: Math.ceil(value), greatest };
  }
}

function integerQueries(field: string, absent: number | undefined): FieldQueries {
  const within = (range: { least: number; greatest: number }): object => {
    const gte = Math.max(range.least, INT32.least);
    const lte = Math.min(range.greatest, INT32.greatest);
    if (gte > lte) return NOTHING;
    const query = { range: { [field]: { gte, lte } } };
    return absent !== undefined && gte <= absent && absent <= lte ? any(query, not(exists(field))) : query;
  };
  const compare = (operator: Ordering, literal: FilterLiteral): object =>
    literal.kind === 'integer' || literal.kind === 'decimal'
      ? within(integerRange(operator, Number(literal.value)))
      : NOTHING;
  return {
    exists: () => (absent === undefined ? exists(field) : { match_all: {} }),
    compare,
    in(literals) {
      const values = [...ofKind(literals, 'integer'), ...ofKind(literals, 'decimal')]
        .map(({ value }) => Number(value))
        .filter((value) => Number.isInteger(value) && value >= INT32.least && value <= INT32.greatest);
      if (values.length === 0) return NOTHING;
      const query = { terms: { [field]: values } };
      return absent !== undefined && values.includes(absent) ? any(query, not(exists(field))) : query;
    },
    like: () => NOTHING,
  };
}

function textQueries(field: string): FieldQueries {
  return {
    exists: () => exists(field),
    compare: (operator, literal) =>
      literal.kind === 'text' ? ordered(field, operator, literal.value) : NOTHING,
    in: (literals) => ({ terms: { [field]: ofKind(literals, 'text').map(({ value }) => value) } }),
    like: (pattern) => like(field, pattern),
  };
}

/** The document's own id, which every chunk has; the engine knows neither order nor patterns of it. */
const ID_QUERIES: FieldQueries = {
  exists: () => ({ match_all: {} }),
  compare: (operator, literal) =>
    operator === '==' && literal.kind === 'text' ? { term: { _id: literal.value } } : NOTHING,
  in: (literals) => ({ terms: { _id: ofKind(literals, 'text').map(({ value }) => value) } }),
  like: () => NOTHING,
};

function queriesFor(name: string): FieldQueries {
  const field = serverField(name);
  if (field === null) return metadataQueries(entryKey(name));
  if (field.type === 'id') return ID_QUERIES;
  if (field.type === 'integer') return integerQueries(field.of, field.absent);
  return textQueries(field.of === 'filename' ? 'filename.keyword' : field.of);
}

/** A filter as the engine asks it; the meaning is the one written down at `FilterExpression`. */
export function filterQuery(filter: FilterExpression): object {
  switch (filter.kind) {
    case 'and':
      return all(...filter.parts.map(filterQuery));
    case 'or':
      return any(...filter.parts.map(filterQuery));
    case 'not':
      return not(filterQuery(filter.part));
    case 'like':
      return queriesFor(filter.field).like(filter.pattern);
    case 'in': {
      const queries = queriesFor(filter.field);
      const found = queries.in(filter.values);
      return filter.negated ? all(queries.exists(), not(found)) : found;
    }
    case 'compare': {
      const queries = queriesFor(filter.field);
      if (filter.operator !== '!=') return queries.compare(filter.operator, filter.value);
      return all(queries.exists(), not(queries.compare('==', filter.value)));
    }
  }
}

const LEAVES: ReadonlySet<string> = new Set(['term', 'terms', 'range', 'prefix', 'wildcard', 'exists']);

/** A comparison of numbers is two inside the engine, by index and by column, and so are some of the others. */
const CLAUSES_PER_LEAF = 2;

/** The most that a query counts for against the engine's limit on clauses. */
export function countClauses(query: unknown): number {
  if (Array.isArray(query)) return query.reduce((sum: number, one) => sum + countClauses(one), 0);
  if (typeof query !== 'object' || query === null) return 0;
  return Object.entries(query).reduce(
    (sum, [name, inner]) => sum + (LEAVES.has(name) ? CLAUSES_PER_LEAF : countClauses(inner)),
    0,
  );
}
