/** What fusion needs of a hit: an id that is unique within a leg, and a raw score (greater is better). */
export interface LegHit {
  id: string;
  score: number;
}

export interface FusedHit {
  id: string;
  score: number;
}

/** Best first; equal scores by id, so that the same legs give the same order on every machine. */
function ranked(scores: ReadonlyMap<string, number>): FusedHit[] {
  return [...scores]
    .map(([id, score]) => ({ id, score }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

/**
 * Scores moved to [0, 1], the leg's best becoming 1 and its worst 0 (min-max normalisation). Hits that all score
 * the same become 1: they were found, and nothing tells them apart.
 */
export function normalizeScores<Hit extends LegHit>(leg: readonly Hit[]): Hit[] {
  let least = Infinity;
  let greatest = -Infinity;
  for (const { score } of leg) {
    least = Math.min(least, score);
    greatest = Math.max(greatest, score);
  }
  const width = greatest - least;
  return leg.map((hit) => ({ ...hit, score: width > 0 ? (hit.score - least) / width : 1 }));
}

/**
 * Scores divided by the leg's greatest, so that its best becomes 1: BM25 and cosine both have a meaningful zero, and
 * the result does not depend on how many hits were asked for. A leg without a positive score keeps its order below
 * zero.
 */
export function scaleScores<Hit extends LegHit>(leg: readonly Hit[]): Hit[] {
  const greatest = Math.max(...leg.map(({ score }) => score));
  return leg.map((hit) => ({ ...hit, score: greatest > 0 ? hit.score / greatest : hit.score - greatest }));
}

/**
 * score = (1 − weight) · lexical + weight · dense, 0 where a leg lacks the hit
 * (Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval, 2022, https://arxiv.org/abs/2210.11934).
 *
 * @param options.weight share of the dense leg, 0 to 1
 * @param options.normalize makes the legs' scores comparable; min-max by default
 */
export function convexCombination(
  lexical: readonly LegHit[],
  dense: readonly LegHit[],
  options: { weight: number; normalize?: (leg: readonly LegHit[]) => LegHit[] },
): FusedHit[] {
  const { weight, normalize = normalizeScores } = options;
  const scores = new Map<string, number>();
  const add = (leg: readonly LegHit[], share: number): void => {
    for (const { id, score } of normalize(leg)) scores.set(id, (scores.get(id) ?? 0) + share * score);
  };
  add(lexical, 1 - weight);
  add(dense, weight);
  return ranked(scores);
}

/** The best hits of the dense leg that are compared with the other leg. */
const AGREEMENT_DEPTH = 10;

/**
 * Share of the dense leg's ten best that the lexical leg found too, 0 to 1. Where a model understands the question the
 * legs meet; where it does not (a language it never saw), its hits are others. 1 when a leg is empty.
 */
export function agreement(lexical: readonly LegHit[], dense: readonly LegHit[]): number {
  const possible = Math.min(AGREEMENT_DEPTH, dense.length, lexical.length);
  if (possible === 0) return 1;
  const found = new Set(lexical.map(({ id }) => id));
  const shared = dense.slice(0, AGREEMENT_DEPTH).filter(({ id }) => found.has(id)).length;
  return Math.min(1, shared / possible);
}

/**
 * score = Σ over legs of 1 / (k + rank), ranks from 1 in the order of the leg (Cormack, Clarke, Büttcher:
 * Reciprocal Rank Fusion, SIGIR 2009, with their k = 60).
 */
export function reciprocalRankFusion(
  legs: readonly (readonly LegHit[])[],
  options: { k?: number } = {},
): FusedHit[] {
  const k = options.k ?? 60;
  const scores = new Map<string, number>();
  for (const leg of legs)
    leg.forEach(({ id }, index) => scores.set(id, (scores.get(id) ?? 0) + 1 / (k + index + 1)));
  return ranked(scores);
}
