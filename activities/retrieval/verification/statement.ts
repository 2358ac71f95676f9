import type { Bound, Scope } from './bound-words.js';
import type { Measure } from './measures.js';
import type { Opposite } from './polarity-words.js';

/** A number, a name of one or several words, or another word that says something, in the order of the statement. */
export interface Token {
  kind: 'number' | 'name' | 'word';
  /** What it is compared by: digits with a point, or stems; of a name one of each word. */
  keys: readonly string[];
  /** Of a number those at the end of its decimals, which its key has not. */
  zeros: number;
  /** What a number counts: the stem of the word behind it, `%` or `°`; null where nothing is named. */
  unit: string | null;
  /** Of a number the unit behind or before it where that is a known one, of a word the unit that it counts in. */
  measure: Measure | null;
  /** Of a number what it is counted in: "per year". */
  rate: Measure | null;
  /** Of a number or a date what stands before it: "at least", "until". */
  bound: Bound | null;
  /** Which clause it stands in, from 0. */
  clause: number;
  opposite: Opposite | null;
  /** Behind "by" or "par". */
  isAgent: boolean;
  /** Behind "without" and the like. */
  isExcepted: boolean;
  /** The first behind "and" and the like. */
  isJoined: boolean;
}

/** A sentence, or a few, as far as they are compared with others. */
export interface Statement {
  tokens: readonly Token[];
  /** Clauses in which something is denied; one that is denied twice stands here twice. */
  negations: readonly number[];
  scopes: readonly Scope[];
  /** More follows, which was not read. */
  isCut?: true;
}
