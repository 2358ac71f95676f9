/** Lucene's usual values. */
export const BM25_SATURATION = 1.2;
export const BM25_LENGTH_SHARE = 0.75;

/** In words; what every text is taken for, since the mean of an index would tell of other tenants' texts. */
export const BM25_MEAN_LENGTH = 120;

/** BM25's inverse document frequency, as Lucene has it. */
export function inverseDocumentFrequency(holding: number, texts: number): number {
  return Math.log(1 + (texts - holding + 0.5) / (holding + 0.5));
}
