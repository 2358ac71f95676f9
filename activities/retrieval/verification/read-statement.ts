import { foldText } from '../../text/fold-text.js';
import { isStopWord } from '../../text/stop-words.js';
import { BoundReader, scopeOf } from './bound-words.js';
import type { Scope } from './bound-words.js';
import { dateOf, stemOf } from './date-words.js';
import {
  AGENT_MARKS,
  CONJUNCTIONS,
  isDenial,
  isException,
  NEGATIONS_BEHIND_NE,
  numberOfWord,
  oppositeOf,
} from './polarity-words.js';
import type { Opposite } from './polarity-words.js';
import { measureOf } from './measures.js';
import { QuantityReader } from './read-quantities.js';
import { readNumber, zerosAtEnd } from './read-number.js';
import { isLabel, PIECE } from './statement-pieces.js';
import type { Statement, Token } from './statement.js';

/** They stand before names. */
export const TITLES: ReadonlySet<string> = new Set(
  'dr mr mrs ms prof professor sir mme mlle monsieur madame'.split(' '),
);

/** Beyond that a statement is not read, so that the work of a comparison is bounded. */
const MAX_TOKENS = 80;
/** Characters behind a word that are looked at for a currency. */
const REST = 10;
/** Words between `ne` and what it belongs to. */
const REACH_OF_NE = 5;

/** Whether a word is money, as in "2m dollars". */
function isCurrency(word: string): boolean {
  return measureOf(stemOf(foldText(word)))?.dimension === 'money';
}

/** Reads one statement, piece by piece. */
class StatementReader {
  readonly tokens: Token[] = [];
  readonly negations: number[] = [];
  readonly scopes: Scope[] = [];
  private clause = 0;
  private clauseBegun = false;
  private isStart = true;
  private sinceNe = Infinity;
  lastWord = '';
  private isAgent = false;
  private isExcepted = false;
  private isJoined = false;
  private isNegative = false;
  private readonly quantities = new QuantityReader();
  private readonly bounds = new BoundReader();
  /** The last piece was a number, a name. */
  private open: { number: Token | null; name: (Token & { keys: string[] }) | null; start: Token | null } = {
    number: null,
    name: null,
    start: null,
  };

  private nextClause(): void {
    if (this.clauseBegun) this.clause += 1;
    this.clauseBegun = false;
    this.isAgent = false;
    this.isExcepted = false;
    this.lastWord = '';
    this.quantities.nextClause();
    this.bounds.nextClause();
  }

  private add(
    kind: Token['kind'],
    key: string,
    opposite: Opposite | null = null,
  ): Token & { keys: string[] } {
    const token: Token & { keys: string[] } = {
      kind,
      keys: [key],
      zeros: 0,
      unit: null,
      measure: null,
      rate: null,
      bound: kind === 'number' || dateOf(key) !== undefined ? this.bounds.bound : null,
      clause: this.clause,
      opposite,
      isAgent: this.isAgent,
      isExcepted: this.isExcepted,
      isJoined: this.isJoined,
    };
    this.tokens.push(token);
    this.clauseBegun = true;
    this.isAgent = false;
    this.isExcepted = false;
    this.isJoined = false;
    return token;
  }

  minus(): void {
    this.isNegative = true;
  }

  number(text: string): void {
    const key = readNumber(text, this.isNegative);
    this.isNegative = false;
    const number = Object.assign(this.add('number', key), { zeros: zerosAtEnd(text) });
    this.open = { number, name: null, start: null };
    this.quantities.number(number);
    this.isStart = false;
  }

  /** Its parts, and all of it: their order counts. */
  date(text: string): void {
    const parts = text.split(/[/.]/).map((part) => readNumber(part, false));
    for (const part of parts) this.number(part);
    this.number(parts.join('/'));
  }

  /** Its parts, and all of it; a full hour is its hour: "9:00" is "9". */
  time(text: string): void {
    const parts = text.split(/\D{1,3}/u).map((part) => readNumber(part, false));
    const isFullHour = parts.slice(1).every((part) => part === '0');
    for (const part of isFullHour ? parts.slice(0, 1) : parts) this.number(part);
    if (!isFullHour) this.number(parts.join(':'));
  }

  code(text: string): void {
    this.add('name', foldText(text));
    this.open = { number: null, name: null, start: null };
    this.isStart = false;
  }

  sign(text: string): void {
    const sign = /cent$/i.test(text) ? '%' : text.toLowerCase().replace(/[\s.]/g, '');
    this.quantities.sign(sign, false);
    if (this.open.number !== null && /^[%°]/.test(sign)) this.open.number.unit = sign[0]!;
    this.open.number = null;
  }

  currency(sign: string, isBeforeNumber: boolean): void {
    this.quantities.sign(sign, isBeforeNumber);
  }

  slash(): void {
    this.quantities.slash();
  }

  stop(mark: string): void {
    this.open = { number: null, name: null, start: null };
    this.nextClause();
    if (/[.!?\n]/.test(mark)) this.isStart = true;
  }

  private mark(
    { text, folded, stem, before }: { text: string; folded: string; stem: string; before: string },
    behind: string,
    next: string,
  ): void {
    const digits = numberOfWord(folded);
    // "Until March 2025" bounds both.
    if (digits === undefined && dateOf(stem) === undefined) this.bounds.word(folded);
    // "Every 12 months", "some 500 people", "peut-être".
    const scope =
      behind === '-' || text === 'May' || /\p{N}/u.test(next) ? undefined : scopeOf(folded, before);
    if (scope !== undefined) this.scopes.push({ ...scope, clause: this.clause });
  }

  // eslint-disable-next-line complexity -- the kinds of words, one after another
  word(text: string, isAfterApostrophe: boolean, rest: string): void {
    const [behind = '', next = ''] = rest;
    const wordBehind = /^\s(\p{L}{3,8})(?!\p{L})/u.exec(rest)?.[1] ?? '';
    const folded = foldText(text);
    const stem = stemOf(folded);
    const { isStart, lastWord: before } = this;
    const { measure, multiplies } = this.quantities.word({
      text,
      folded,
      stem,
      before,
      isElided: text.length === 1 && (isAfterApostrophe || /['’]/.test(behind)),
      isBeforeCurrency: /[€$£¥]/.test(behind) || isCurrency(wordBehind),
    });
    this.isStart = false;
    this.lastWord = folded;
    this.mark({ text, folded, stem, before }, behind, next);
    this.sinceNe += 1;
    if (folded === 'ne' || (folded === 'n' && text.length === 1)) this.sinceNe = 0;
    const isNegation =
      isDenial(folded, before, isStart) ||
      (folded === 't' && isAfterApostrophe && !/^T/.test(text)) ||
      (NEGATIONS_BEHIND_NE.has(folded) && this.sinceNe <= REACH_OF_NE);
    if (isNegation) {
      this.negations.push(this.clause);
      this.clauseBegun = true;
      this.open = { number: null, name: null, start: null };
      return;
    }
    if (CONJUNCTIONS.has(folded)) {
      this.open = { number: null, name: null, start: null };
      this.nextClause();
      this.isJoined = true;
      return;
    }
    if (AGENT_MARKS.has(folded)) this.isAgent = true;
    if (isException(folded, before)) {
      // The word itself is on neither side: its mark is for what follows.
      this.isExcepted = true;
      this.open = { number: null, name: null, start: null };
      return;
    }
    const digits = numberOfWord(folded);
    if (multiplies && (digits !== undefined || text.length === 1)) return;
    if (digits !== undefined && measure === null && (isStart || !/^\p{Lu}/u.test(text))) {
      this.number(digits);
      return;
    }
    const opposite = oppositeOf(folded) ?? null;
    if (TITLES.has(folded)) return;
    const isMonth = text === 'May' && (!isStart || /\p{N}/u.test(next));
    if (isStopWord(folded) && opposite === null && !isMonth) {
      this.open.name = null;
      this.open.start = null;
      if (folded !== 'of' && folded !== 'de' && folded !== 'd') this.open.number = null;
      return;
    }
    const wasNumber = this.open.number;
    this.open.number = null;
    if (wasNumber !== null) wasNumber.unit = stem;
    if (isMonth || !/^\p{Lu}/u.test(text)) {
      this.add('word', stem, opposite).measure = measure;
      this.open.name = null;
      this.open.start = null;
      return;
    }
    if (this.open.name !== null) {
      this.open.name.keys.push(stem);
      return;
    }
    const { start } = this.open;
    if (start !== null) {
      // A capital at the start of a sentence is one of a name when another follows.
      const name = Object.assign(start, { kind: 'name' as const, keys: [...start.keys, stem] });
      this.open = { number: null, name, start: null };
      return;
    }
    if (isStart) this.open.start = this.add('word', stem, opposite);
    else this.open.name = this.add('name', stem);
  }
}

/** Pieces that add no token, and are read to the end. */
const MARKS: ReadonlySet<string> = new Set(['stop', 'sign', 'currency', 'slash', 'label']);

type Plain = 'code' | 'date' | 'number' | 'sign' | 'stop' | 'time';

/** Whether a piece says all by itself. */
function isPlain(kind: string): kind is Plain {
  return ['code', 'date', 'number', 'sign', 'stop', 'time'].includes(kind);
}

/** Reads a sentence, or a few, in linear time. */
export function readStatement(text: string): Statement {
  const reader = new StatementReader();
  for (const { 0: piece, index, groups } of text.matchAll(PIECE)) {
    const kind = Object.entries(groups!).find(([, found]) => (found as string | undefined) !== undefined)![0];
    if (reader.tokens.length >= MAX_TOKENS && !MARKS.has(kind))
      return { tokens: reader.tokens, negations: reader.negations, scopes: reader.scopes, isCut: true };
    const rest = text.slice(index + piece.length, index + piece.length + REST);
    const behind = rest[0] ?? '';
    if (isPlain(kind)) reader[kind](piece);
    else if (kind === 'minus') reader.minus();
    else if (kind === 'word' || (kind === 'label' && !isLabel(piece, reader.lastWord)))
      reader.word(piece, /['’]/.test(text[index - 1] ?? ''), rest);
    else if (kind === 'currency') reader.currency(piece, /[-−–.\p{N}]/u.test(behind));
    else if (kind === 'slash') reader.slash();
  }
  return { tokens: reader.tokens, negations: reader.negations, scopes: reader.scopes };
}

/** Several, one after another. */
export function joinStatements(statements: readonly Statement[]): Statement {
  const tokens: Token[] = [];
  const negations: number[] = [];
  const scopes: Scope[] = [];
  let clauses = 0;
  for (const statement of statements) {
    tokens.push(...statement.tokens.map((token) => ({ ...token, clause: token.clause + clauses })));
    negations.push(...statement.negations.map((clause) => clause + clauses));
    scopes.push(...statement.scopes.map((scope) => ({ ...scope, clause: scope.clause + clauses })));
    clauses = Math.max(clauses, (tokens.at(-1)?.clause ?? -1) + 1, (negations.at(-1) ?? -1) + 1);
  }
  return { tokens, negations, scopes };
}
