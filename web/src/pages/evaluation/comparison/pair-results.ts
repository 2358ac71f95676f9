import type { Measure, Result } from '../queries';

export interface Pair {
  id: string;
  question: string;
  before: Result | undefined;
  after: Result | undefined;
  /** Null where a run does not say something of the question. */
  gain: number | null;
}

/** The questions of two runs by their ids, those that changed furthest first. */
export function pairResults(before: readonly Result[], after: readonly Result[], measure: Measure): Pair[] {
  const earlier = new Map(before.map((result) => [result.question_id, result]));
  const later = new Map(after.map((result) => [result.question_id, result]));
  const pairs = [...new Set([...later.keys(), ...earlier.keys()])].map((id): Pair => {
    const [one, other] = [earlier.get(id), later.get(id)];
    const [from, to] = [one?.measures[measure], other?.measures[measure]];
    return {
      id,
      question: (other ?? one)?.question ?? id,
      before: one,
      after: other,
      gain: from === undefined || to === undefined ? null : to - from,
    };
  });
  return pairs.sort((one, other) => Math.abs(other.gain ?? 0) - Math.abs(one.gain ?? 0));
}
