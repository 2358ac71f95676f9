/**
 * Measures of one ranking against judged items, and what is said of many questions: the only implementation, for
 * evaluation runs, the gate of swaps and the benches.
 */

/** Judged items by their id, each with its grade; what is not in it, or has grade 0, is not relevant. */
export type Grades = ReadonlyMap<string, number>;

function relevantIn(grades: Grades): number[] {
  return [...grades.values()].filter((grade) => grade > 0);
}

/**
 * nDCG@k with the grade as gain and the discount 1 / log2(rank + 1) (Järvelin, Kekäläinen: Cumulated gain-based
 * evaluation of IR techniques, TOIS 2002; linear gains as in trec_eval).
 *
 * @param ranked distinct ids, best first
 * @returns 0 to 1; 0 when nothing is relevant
 */
export function ndcg(ranked: readonly string[], grades: Grades, k: number): number {
  const discounted = (gains: readonly number[]): number =>
    gains.slice(0, k).reduce((sum, gain, index) => sum + gain / Math.log2(index + 2), 0);
  const ideal = discounted(relevantIn(grades).sort((one, other) => other - one));
  return ideal === 0 ? 0 : discounted(ranked.slice(0, k).map((id) => grades.get(id) ?? 0)) / ideal;
}

/** Share of the relevant items among the first k; 0 when nothing is relevant. */
export function recall(ranked: readonly string[], grades: Grades, k: number): number {
  const relevant = relevantIn(grades).length;
  if (relevant === 0) return 0;
  return ranked.slice(0, k).filter((id) => (grades.get(id) ?? 0) > 0).length / relevant;
}

/** 1 / rank of the first relevant item; 0 when none is in the ranking. Its mean over questions is the MRR. */
export function reciprocalRank(ranked: readonly string[], grades: Grades): number {
  const index = ranked.findIndex((id) => (grades.get(id) ?? 0) > 0);
  return index === -1 ? 0 : 1 / (index + 1);
}

/** What a ranking is worth for one question; each between 0 and 1. */
export interface RankingMeasures {
  ndcg_10: number;
  recall_10: number;
  recall_50: number;
  /** The reciprocal rank; its mean is the MRR. */
  mrr: number;
}

/** @param ranked distinct ids, best first; 50 or more, where the recall at 50 is to mean anything */
export function judgeRanking(ranked: readonly string[], grades: Grades): RankingMeasures {
  return {
    ndcg_10: ndcg(ranked, grades, 10),
    recall_10: recall(ranked, grades, 10),
    recall_50: recall(ranked, grades, 50),
    mrr: reciprocalRank(ranked, grades),
  };
}

/** NaN of nothing. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The value below which a share of the measurements lies (nearest rank); NaN of nothing. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? NaN;
}

/** The mean over questions, and the interval in which it would lie for other questions of the same kind. */
export interface Figure {
  mean: number;
  /** Bounds of the 95 % interval. */
  low: number;
  high: number;
  /** Questions that have a value. */
  count: number;
}

const RESAMPLES = 1_000;
const TAIL = 0.025;
/** One for all figures, so that the same values give the same interval whenever they are computed. */
const SEED = 20_021_001;

/**
 * The mean with its 95 % percentile bootstrap interval over questions (Efron, Tibshirani: An Introduction to the
 * Bootstrap, 1993, chapter 13): 1,000 samples of as many values, drawn with replacement by a seeded generator.
 * @returns null of nothing
 */
export function figureOf(values: readonly number[]): Figure | null {
  const count = values.length;
  if (count === 0) return null;
  const random = randomNumbers(SEED);
  const means = new Float64Array(RESAMPLES);
  for (let sample = 0; sample < RESAMPLES; sample += 1) {
    let sum = 0;
    for (let drawn = 0; drawn < count; drawn += 1) sum += values[Math.floor(random() * count)]!;
    means[sample] = sum / count;
  }
  const sorted = [...means.sort()];
  return {
    mean: mean(values),
    low: percentile(sorted, TAIL),
    high: percentile(sorted, 1 - TAIL),
    count,
  };
}

/** Numbers in [0, 1) that a seed determines: the generator "mulberry32" (Tommy Ettinger, public domain). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
