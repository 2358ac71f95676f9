/**
 * Numbers in [0, 1) that a seed determines: a linear congruential generator, modulus 2³¹, good enough to pick samples.
 */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) / 0x80000000;
}
