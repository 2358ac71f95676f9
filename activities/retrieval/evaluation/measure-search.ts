import type { EvaluationQuestion } from '../../../schemas/retrieval/evaluation.js';
import type { SearchService } from '../search/search-types.js';
import { searchFor } from './ask-question.js';
import type { Asking } from './ask-question.js';
import { judgeSearch } from './judge-question.js';
import { figureOf } from './measures.js';
import type { Figure } from './measures.js';

/**
 * nDCG@10 of search over the questions that name relevant items, with an embedder whose vectors stand beside the
 * partition's own, or with its own.
 * @returns null where no question names any
 * @throws AppError as search does, and the signal's reason
 */
export async function measureSearch(
  search: Pick<SearchService, 'search'>,
  questions: AsyncIterable<EvaluationQuestion>,
  asking: Omit<Asking, 'chat'> & { embedder: string },
): Promise<Figure | null> {
  const values: number[] = [];
  for await (const question of questions) {
    asking.signal.throwIfAborted();
    if (question.relevant.length === 0) continue;
    const found = await searchFor(search, question.question, asking);
    values.push(judgeSearch(question, found).ndcg_10 ?? 0);
  }
  return figureOf(values);
}
