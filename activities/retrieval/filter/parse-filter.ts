import type { AppError } from '../../../schemas/app-error.js';
import { isoTime } from '../../../schemas/iso-time.js';
import type { ComparisonOperator, FilterExpression, FilterLiteral } from '../../ports/filter.js';
import { serverField, UNFILTERABLE_FIELDS } from '../../documents/filter-fields.js';
import { fitsInt64 } from '../../text/exact-json.js';
import { tokenize, invalidFilter } from './tokens.js';
import type { Token } from './tokens.js';

const MAX_LENGTH = 2048;
/** Parentheses and `not` in each other. */
const MAX_DEPTH = 32;
/** Each costs the engine up to ten clauses, of which it allows 1,024 in a query, words included. */
const MAX_COMPARISONS = 50;
/** The engine makes an automaton of a pattern; one with a longer text or more places for it, it may refuse. */
const MAX_WILDCARDS = 16;
const MAX_PATTERN_CHARACTERS = 256;

const OPERATORS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const RESERVED: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'like', 'true', 'false']);
/** Ways to say that a key of the client's metadata follows in brackets. */
const METADATA_NAMES: ReadonlySet<string> = new Set(['metadata', '$meta']);
/** The caller's partitions follow from its memberships, never from a filter. */
const PARTITION = /^(?:(?:metadata|\$meta)\.)?partition(?:\.|$)/i;

function shown(token: Token): string {
  switch (token.kind) {
    case 'name':
      return `'${token.name}'`;
    case 'text':
      return `the text "${token.value}"`;
    case 'number':
      return token.digits;
    case 'sign':
      return `'${token.sign}'`;
    case 'end':
      return 'the end';
  }
}

class Parser {
  private place = 0;
  private depth = 0;
  private comparisons = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  /** A whole filter and nothing behind it. */
  parse(): FilterExpression {
    const expression = this.disjunction();
    if (this.next.kind !== 'end') throw this.unexpected("'and', 'or' or the end");
    return expression;
  }

  private get next(): Token {
    return this.tokens[this.place]!;
  }

  private take(): Token {
    const token = this.next;
    if (token.kind !== 'end') this.place += 1;
    return token;
  }

  private unexpected(expected: string, token = this.next): AppError {
    return invalidFilter(token.at, expected, shown(token));
  }

  /** Words are known in either case. */
  private takeWord(word: string): boolean {
    const { next } = this;
    if (next.kind !== 'name' || next.name.toLowerCase() !== word) return false;
    this.place += 1;
    return true;
  }

  private takeSign(sign: string): boolean {
    const { next } = this;
    if (next.kind !== 'sign' || next.sign !== sign) return false;
    this.place += 1;
    return true;
  }

  private series(kind: 'and' | 'or', part: () => FilterExpression): FilterExpression {
    const parts = [part()];
    while (this.takeWord(kind)) parts.push(part());
    return parts.length === 1 ? parts[0]! : { kind, parts };
  }

  private disjunction(): FilterExpression {
    return this.series('or', () => this.series('and', () => this.negation()));
  }

  private deeper<T>(inner: () => T): T {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw this.unexpected(`at most ${MAX_DEPTH} levels of nesting`);
    const result = inner();
    this.depth -= 1;
    return result;
  }

  private negation(): FilterExpression {
    if (this.takeWord('not')) return this.deeper(() => ({ kind: 'not', part: this.negation() }));
    if (!this.takeSign('(')) return this.comparison();
    return this.deeper(() => {
      const inner = this.disjunction();
      if (!this.takeSign(')')) throw this.unexpected("'and', 'or' or ')'");
      return inner;
    });
  }

  // eslint-disable-next-line complexity -- the alternatives of one rule of the grammar
  private comparison(): FilterExpression {
    const start = this.next;
    this.comparisons += 1;
    if (this.comparisons > MAX_COMPARISONS) throw this.unexpected(`at most ${MAX_COMPARISONS} comparisons`);
    const field = this.field();
    if (PARTITION.test(field))
      throw this.unexpected('another field: partitions are chosen by the request, not by the filter', start);
    if (UNFILTERABLE_FIELDS.has(field))
      throw this.unexpected('another field: this one is not in the index', start);
    const equalityOnly = serverField(field)?.type === 'id';
    const sign = this.next;
    if (equalityOnly && !this.asksEquality()) throw this.unexpected("'==', '!=', 'in' or 'not in'");
    if (sign.kind === 'sign' && OPERATORS.has(sign.sign)) {
      this.place += 1;
      const operator = sign.sign as ComparisonOperator;
      const literal = this.next;
      const value = this.literal();
      if (value.kind === 'boolean' && operator !== '==' && operator !== '!=')
        throw this.unexpected('a value that has an order', literal);
      return { kind: 'compare', field, operator, value };
    }
    const negated = this.takeWord('not');
    if (this.takeWord('in')) return { kind: 'in', field, negated, values: this.list() };
    if (!negated && this.takeWord('like')) return { kind: 'like', field, pattern: this.pattern() };
    throw this.unexpected(negated ? "'in'" : "'==', '!=', '<', '<=', '>', '>=', 'in', 'not in' or 'like'");
  }

  /** Whether `==`, `!=`, `in` or `not` follows. */
  private asksEquality(): boolean {
    const { next } = this;
    if (next.kind === 'sign') return next.sign === '==' || next.sign === '!=';
    return next.kind === 'name' && ['in', 'not'].includes(next.name.toLowerCase());
  }

  /** `key`, `key.inner`, `key["any inner key"]`, `metadata["any key"]`. */
  private field(): string {
    const token = this.take();
    if (token.kind !== 'name' || RESERVED.has(token.name.toLowerCase()))
      throw this.unexpected("a field, 'not' or '('", token);
    const bracketed = this.next.kind === 'sign' && this.next.sign === '[';
    const steps = bracketed && METADATA_NAMES.has(token.name) ? [] : [token.name];
    while (this.takeSign('[')) {
      const key = this.take();
      if (key.kind !== 'text') throw this.unexpected('a key in quotes', key);
      if (!this.takeSign(']')) throw this.unexpected("']'");
      steps.push(key.value);
    }
    return steps.join('.');
  }

  private literal(): FilterLiteral {
    const token = this.take();
    if (token.kind === 'text') return { kind: 'text', value: token.value };
    if (token.kind === 'number') return this.number(token);
    if (token.kind === 'name') {
      const word = token.name.toLowerCase();
      if (word === 'true' || word === 'false') return { kind: 'boolean', value: word === 'true' };
      if (word === 'iso') return this.time();
    }
    throw this.unexpected('a text in quotes, a number, true, false or ISO "…"', token);
  }

  private number(token: Token & { kind: 'number' }): FilterLiteral {
    if (!/^-?\d+$/.test(token.digits)) {
      const value = Number(token.digits);
      if (!Number.isFinite(value)) throw this.unexpected('a number of a size that can be compared', token);
      return { kind: 'decimal', value };
    }
    const value = BigInt(token.digits);
    if (!fitsInt64(value)) throw this.unexpected('an integer within 64 bits', token);
    return { kind: 'integer', value };
  }

  private time(): FilterLiteral {
    const token = this.take();
    const value = token.kind === 'text' ? isoTime(token.value) : null;
    if (value === null) throw this.unexpected('a date such as "2024-01-01T00:00:00Z"', token);
    return { kind: 'time', value };
  }

  private list(): FilterLiteral[] {
    if (!this.takeSign('[')) throw this.unexpected("'['");
    const values: FilterLiteral[] = [];
    while (!this.takeSign(']')) {
      if (values.length > 0 && !this.takeSign(',')) throw this.unexpected("',' or ']'");
      values.push(this.literal());
    }
    return values;
  }

  private pattern(): readonly string[] {
    const token = this.take();
    if (token.kind !== 'text') throw this.unexpected('a pattern in quotes', token);
    if (token.segments.length - 1 > MAX_WILDCARDS)
      throw this.unexpected(`a pattern with at most ${MAX_WILDCARDS} signs %`, token);
    if (token.segments.length > 1 && token.segments.join('').length > MAX_PATTERN_CHARACTERS)
      throw this.unexpected(`a pattern of at most ${MAX_PATTERN_CHARACTERS} characters`, token);
    return token.segments;
  }
}

/**
 * Reads a filter (wire contract, section 1.8). Every comparison names a field, so that a bare tautology is none; what
 * it means is said at `FilterExpression`.
 * @throws AppError INVALID_FILTER, which says where and what was expected
 */
export function parseFilter(filter: string): FilterExpression {
  if (filter.length > MAX_LENGTH)
    throw invalidFilter(MAX_LENGTH + 1, `at most ${MAX_LENGTH} characters`, `${filter.length}`);
  return new Parser(tokenize(filter)).parse();
}
