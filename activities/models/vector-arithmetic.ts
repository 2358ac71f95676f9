/** A vector scaled to unit length; a zero vector, which has no direction, stays as it is. */
export function unitVector(vector: readonly number[]): number[] {
  // By the largest value first: squares of very large or small ones would leave the range of a double.
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest === 0) return [...vector];
  const scaled = vector.map((value) => value / largest);
  const length = Math.sqrt(scaled.reduce((sum, value) => sum + value * value, 0));
  return scaled.map((value) => value / length);
}

/** The mean of unit vectors, weighted, as a unit vector again. */
export function weightedMean(parts: readonly { vector: readonly number[]; weight: number }[]): number[] {
  const sum = new Array<number>(parts[0]?.vector.length ?? 0).fill(0);
  for (const { vector, weight } of parts) vector.forEach((value, index) => (sum[index]! += value * weight));
  return unitVector(sum);
}
