/**
 * What a filter says, once its text has been read (`parse-filter.ts`), or as the chat pipeline builds it.
 *
 * What it means, in the index (`stores/opensearch/filter-query.ts`) and in memory (`matches-filter.ts`) alike:
 *
 * - A field is one of the server's (`filter-fields.ts`, `entryKey`) or a key of the client's metadata; keys of nested
 *   objects are joined with dots. A list has several values, `null` and an empty list have none. `file_size` is a
 *   number of bytes and a text at once; `_id` is compared for equality alone.
 * - A comparison holds when **any** of the field's values satisfies it. Only values of the literal's own type can:
 *   texts with texts (by code point), numbers with numbers, booleans with booleans, times with texts that are an
 *   ISO 8601 date. Nothing is converted: `"7"` is not 7.
 * - Integers compare exactly within 64 bits; as soon as either side is a decimal number, both are doubles.
 * - A missing field satisfies no comparison, `!=` and `not in` included: `x != 1` says that x has a value, and that
 *   none of its values is 1. A value of another type is not equal, so it satisfies `!=`.
 * - `not` is the plain opposite: `not (x == 1)` holds where x is missing.
 */
export type FilterExpression =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly FilterExpression[] }
  | { readonly kind: 'not'; readonly part: FilterExpression }
  | {
      readonly kind: 'compare';
      readonly field: string;
      readonly operator: ComparisonOperator;
      readonly value: FilterLiteral;
    }
  | {
      readonly kind: 'in';
      readonly field: string;
      readonly negated: boolean;
      readonly values: readonly FilterLiteral[];
    }
  | { readonly kind: 'like'; readonly field: string; readonly pattern: LikePattern };

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type FilterLiteral =
  | { readonly kind: 'text'; readonly value: string }
  /** Within 64 bits. */
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'decimal'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** Milliseconds since 1970. */
  | { readonly kind: 'time'; readonly value: number };

/** The texts between the `%` signs, each of which stands for any text: `["abc", ""]` begins with abc. */
export type LikePattern = readonly string[];
