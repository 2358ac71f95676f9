/**
 * Measures of a ranking against judged documents, one query each; a collection's figure is the mean over its queries.
 */

/**
 * nDCG@k with gain 1 for every relevant document (grades above 0 count alike) and discount 1 / log2(rank + 1)
 * (Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques, TOIS 2002).
 *
 * @param ranked distinct ids, best first
 * @returns 0 to 1; 0 when nothing is relevant
 */
export function ndcg(ranked: readonly string[], relevant: ReadonlySet<string>, k: number): number {
  const discount = (index: number): number => 1 / Math.log2(index + 2);
  const gained = ranked
    .slice(0, k)
    .reduce((sum, id, index) => sum + (relevant.has(id) ? discount(index) : 0), 0);
  let ideal = 0;
  for (let index = 0; index < Math.min(k, relevant.size); index += 1) ideal += discount(index);
  return ideal === 0 ? 0 : gained / ideal;
}

/** Share of the relevant documents among the first k; 0 when nothing is relevant. */
export function recall(ranked: readonly string[], relevant: ReadonlySet<string>, k: number): number {
  return relevant.size === 0 ? 0 : ranked.slice(0, k).filter((id) => relevant.has(id)).length / relevant.size;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
