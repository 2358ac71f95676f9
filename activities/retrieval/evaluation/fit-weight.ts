/** The weights of vectors that are tried: 0 is words alone, 1 vectors alone. */
export const TRIED_WEIGHTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1] as const;

export interface FittedWeight {
  /** Best over all questions; of equal ones the lowest. */
  weight: number;
  /**
   * What each question is worth with the weight that is best for the other half of the questions: what the choosing
   * promises for questions that it has not seen (two-fold cross-validation).
   */
  heldOut: number[];
}

function bestFor(values: ReadonlyMap<number, readonly number[]>, counts: (index: number) => boolean): number {
  let best = { weight: NaN, sum: -Infinity };
  for (const [weight, ofQuestions] of [...values].sort(([one], [other]) => one - other)) {
    const sum = ofQuestions.reduce((all, value, index) => (counts(index) ? all + value : all), 0);
    // Differences below come from the order in which numbers are added.
    if (sum > best.sum + 1e-9) best = { weight, sum };
  }
  return best.weight;
}

/**
 * Chooses by questions with known answers how much vectors weigh. Halves are the questions of even and of odd places.
 * @param values by weight: what each question is worth with it, greater is better; each has the same questions in the
 *   same order
 */
export function fitWeight(values: ReadonlyMap<number, readonly number[]>): FittedWeight {
  const ofEven = bestFor(values, (index) => index % 2 === 0);
  const ofOdd = bestFor(values, (index) => index % 2 === 1);
  const [any = []] = values.values();
  // Of a single question the other half is empty, and every weight is as good for it.
  const heldOut = any.map((_, index) => values.get(index % 2 === 0 ? ofOdd : ofEven)?.[index] ?? 0);
  return { weight: bestFor(values, () => true), heldOut };
}
