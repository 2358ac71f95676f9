import type { TokenLogprob } from '../../ports/models.js';

/**
 * Keeps log probabilities in step with the words that are shown: a filter holds words back, and cuts the citation
 * line off. A token's probabilities go out with the delta in which the token ends, and never when it is cut off.
 */
export function createShownLogprobs() {
  const waiting: { end: number; logprob: TokenLogprob }[] = [];
  let heard = 0;
  let shown = 0;
  return {
    hear(logprobs: readonly TokenLogprob[]): void {
      for (const logprob of logprobs) {
        heard += logprob.token.length;
        waiting.push({ end: heard, logprob });
      }
    },
    /** Those that belong to the next so many characters. */
    show(length: number): TokenLogprob[] {
      shown += length;
      const count = waiting.findIndex(({ end }) => end > shown);
      return waiting.splice(0, count === -1 ? waiting.length : count).map(({ logprob }) => logprob);
    },
  };
}
