/** What bounds a number or a date: its size, a point in time, or how long something takes. */
type Axis = 'size' | 'time' | 'period';
type Side = 0 | 1;
export type Bound = Partial<Record<Axis, Side>>;

/** Folded words right before a number, at most three; English and French. */
const BOUNDS: readonly (readonly [Bound, string])[] = [
  [{ size: 0 }, 'over|above|exceeding|more than|at least|plus de|au moins|dessus de'],
  [{ size: 1 }, 'under|below|less than|fewer than|at most|moins de|au plus|dessous de'],
  [{ size: 1, time: 1 }, 'up to|jusqu a|jusqu au|jusqu aux'],
  [{ time: 1 }, 'until|till|before|avant|avant le|jusqu en'],
  [{ time: 0 }, 'from|since|as of|depuis|depuis le|a partir de|a partir du|a compter du'],
  [{ time: 0, period: 1 }, 'after|apres|apres le'],
  [{ period: 1 }, 'au bout de'],
  [{ period: 0 }, 'within|sous|dans les'],
  // How long, or how far: "over" after these bounds nothing.
  [
    {},
    'run runs running ran spread spreads extend extends extended stretch stretches stretched paid repaid payable'
      .concat(' distributed divided phased staggered depreciated amortised amortized')
      .split(' ')
      .map((word) => `${word} over`)
      .join('|'),
  ],
];
const BY_WORDS: ReadonlyMap<string, Bound> = new Map(
  BOUNDS.flatMap(([bound, phrases]) => phrases.split('|').map((phrase): [string, Bound] => [phrase, bound])),
);
const MAX_WORDS = 3;

/** Follows the words of a statement, for what bounds the number behind them. */
export class BoundReader {
  private words: string[] = [];

  word(folded: string): void {
    this.words = [...this.words.slice(1 - MAX_WORDS), folded];
  }

  nextClause(): void {
    this.words = [];
  }

  /** Of a number that stands here; null: nothing bounds it. */
  get bound(): Bound | null {
    const starts = this.words.map((_, index) => index);
    for (const start of starts) {
      const bound = BY_WORDS.get(this.words.slice(start).join(' '));
      if (bound !== undefined) return bound;
    }
    return null;
  }
}

/** Whether two bounds lie on other sides of what they bound, and on the same in no way. */
export function isOtherBound(one: Bound, other: Bound): boolean {
  const shared = (Object.keys(one) as Axis[]).filter((axis) => other[axis] !== undefined);
  return shared.length > 0 && shared.every((axis) => one[axis] !== other[axis]);
}

/**
 * A word that says whether something is a duty or leave, holds of all or of some, how often or how many times as much
 * it is, or which one of a row. Words for the same are on one side.
 */
export interface Scope {
  pair: number;
  side: number;
  clause: number;
}

const SCOPES: readonly (readonly string[])[] = [
  ['must shall doit doivent devra devront faut faudra', 'may can peut peuvent pourra pourront'],
  ['all every tous toutes chaque', 'some certains certaines quelques'],
  ['once', 'twice', 'thrice'],
  [
    'double doubled doubles doubling',
    'triple tripled triples tripling',
    'quadruple quadrupled quadruples',
    'halve halved halves halving',
  ],
  // "Second" is a time as well.
  ['third troisieme', 'fourth quatrieme', 'fifth cinquieme', 'sixth sixieme', 'seventh septieme'].concat([
    'eighth huitieme',
    'ninth neuvieme',
    'tenth dixieme',
    'eleventh onzieme',
    'twelfth douzieme',
  ]),
];
const BY_WORD: ReadonlyMap<string, Omit<Scope, 'clause'>> = new Map(
  SCOPES.flatMap((sides, pair) =>
    sides.flatMap((words, side) =>
      words.split(' ').map((word): [string, Omit<Scope, 'clause'>] => [word, { pair, side }]),
    ),
  ),
);
/** "Have to" and the like are a duty. */
const DUTIES = new Set('have has had need needs required'.split(' '));
const DUTY = { pair: 0, side: 0 };

/**
 * @param word folded, and no part of a word with a hyphen
 * @param before the folded word before it
 */
export function scopeOf(word: string, before: string): Omit<Scope, 'clause'> | undefined {
  return word === 'to' && DUTIES.has(before) ? DUTY : BY_WORD.get(word);
}
