import type { EmbedderSwapRecord } from '../../../schemas/documents/embedder-swaps.js';
import { presentRun } from '../../http/progress-events.js';

/** A move to another embedder as it is answered. */
export function presentSwap({ partition_key: _key, figures, ...swap }: EmbedderSwapRecord) {
  return {
    ...presentRun(swap),
    question_set: swap.question_set ?? null,
    min_ndcg: swap.min_ndcg ?? null,
    error_code: swap.error_code ?? null,
    figures: figures && { ...figures, questions: figures.questions ?? null },
  };
}
