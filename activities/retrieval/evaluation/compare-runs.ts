import { setImmediate } from 'node:timers/promises';
import { EVALUATION_MEASURES } from '../../../schemas/retrieval/evaluation.js';
import type {
  EvaluationFigure,
  EvaluationMeasure,
  Measured,
  QuestionResult,
} from '../../../schemas/retrieval/evaluation.js';
import { figureOf, mean } from './measures.js';

/** One measure over the questions that both runs have a value of. */
export interface MeasureComparison {
  before: number;
  after: number;
  /** After less before, with its interval: the difference is beyond chance where that does not hold 0. */
  difference: EvaluationFigure;
  /** Questions; a smaller share of wrong refusals is better. */
  better: number;
  worse: number;
  same: number;
}

export interface QuestionChange {
  question_id: string;
  question: string;
  before: Measured;
  after: Measured;
  /** Of the measure that was asked for: above 0 it got better. */
  gain: number;
}

export interface RunComparison {
  /** Questions that both runs have asked. */
  questions: number;
  only_before: number;
  only_after: number;
  measures: Partial<Record<EvaluationMeasure, MeasureComparison>>;
  /** By the measure that was asked for, the largest changes first. */
  better: QuestionChange[];
  worse: QuestionChange[];
}

/** Differences below come from the order in which numbers are added. */
const NOTHING = 1e-9;

/** Of this one less is better. */
function gainOf(measure: EvaluationMeasure, difference: number): number {
  return measure === 'refused_wrong' ? -difference : difference;
}

/**
 * Two runs question by question; a question is the same where its id and its text are. The interval is that of the
 * paired differences. Other requests are served between two measures.
 * @param options.measure by which questions got better or worse
 * @param options.limit questions listed on each side
 */
export async function compareRuns(
  before: readonly QuestionResult[],
  after: readonly QuestionResult[],
  { measure, limit }: { measure: EvaluationMeasure; limit: number },
): Promise<RunComparison> {
  const keyOf = ({ question_id: id, question }: QuestionResult): string => JSON.stringify([id, question]);
  const former = new Map(before.map((result) => [keyOf(result), result]));
  const pairs = after.flatMap((result) => {
    const other = former.get(keyOf(result));
    return other === undefined ? [] : [{ before: other, after: result }];
  });
  const measures: RunComparison['measures'] = {};
  for (const one of EVALUATION_MEASURES) {
    await setImmediate();
    const compared = compareMeasure(one, pairs);
    if (compared !== null) measures[one] = compared;
  }
  const changes = pairs
    .flatMap(({ before: { measures: was }, after: { question_id, question, measures: is } }) => {
      const [first, second] = [was[measure], is[measure]];
      if (first === undefined || second === undefined) return [];
      const gain = gainOf(measure, second - first);
      return [{ question_id, question, before: was, after: is, gain }];
    })
    .sort((one, other) => other.gain - one.gain);
  return {
    questions: pairs.length,
    only_before: before.length - pairs.length,
    only_after: after.length - pairs.length,
    measures,
    better: changes.filter(({ gain }) => gain > NOTHING).slice(0, limit),
    worse: changes
      .filter(({ gain }) => gain < -NOTHING)
      .reverse()
      .slice(0, limit),
  };
}

function compareMeasure(
  measure: EvaluationMeasure,
  pairs: readonly { before: QuestionResult; after: QuestionResult }[],
): MeasureComparison | null {
  const values = pairs.flatMap(({ before, after }) => {
    const [first, second] = [before.measures[measure], after.measures[measure]];
    return first === undefined || second === undefined ? [] : [{ first, second }];
  });
  const differences = values.map(({ first, second }) => second - first);
  const difference = figureOf(differences);
  if (difference === null) return null;
  const gains = differences.map((value) => gainOf(measure, value));
  const better = gains.filter((gain) => gain > NOTHING).length;
  const worse = gains.filter((gain) => gain < -NOTHING).length;
  return {
    before: mean(values.map(({ first }) => first)),
    after: mean(values.map(({ second }) => second)),
    difference,
    better,
    worse,
    same: values.length - better - worse,
  };
}
