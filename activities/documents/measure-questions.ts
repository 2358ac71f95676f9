import { AppError } from '../../schemas/app-error.js';
import type { EmbedderSwapRecord, SwapFigures } from '../../schemas/documents/embedder-swaps.js';
import type { EvaluationQuestion } from '../../schemas/retrieval/evaluation.js';
import type { Adapters } from '../ports/adapters.js';
import { measureSearch } from '../retrieval/evaluation/measure-search.js';
import { retrievalConfig } from '../retrieval/search/retrieval-preset.js';
import type { SearchService } from '../retrieval/search/search-types.js';

const PAGE = 100;
/** Chunks asked of search, enough for ten files of which several chunks are found. */
const TOP_K = 50;

type Stores = Pick<Adapters, 'partitions' | 'presets' | 'questionSets'>;

/**
 * What search makes of a question set with each of both embedders of a swap, by the preset of the partition.
 * @returns null where no set is named, or none of its questions names relevant items
 * @throws AppError QUESTION_SET_NOT_FOUND, PARTITION_NOT_FOUND; and as search does
 */
export async function measureQuestions(
  { partitions, presets, questionSets }: Stores,
  search: Pick<SearchService, 'search'>,
  swap: EmbedderSwapRecord & { target: string },
  signal: AbortSignal,
): Promise<NonNullable<SwapFigures['questions']> | null> {
  const { question_set: name, partition_key: key, source_embedder: source, target } = swap;
  if (name == null) return null;
  const set = await questionSets.get(key, name, null);
  if (set === null)
    throw new AppError('QUESTION_SET_NOT_FOUND', `The partition has no question set '${name}'.`);
  const partition = await partitions.get(swap.partition);
  if (partition === null) throw new AppError('PARTITION_NOT_FOUND');
  const config = await retrievalConfig(presets, partition.retrieval_preset);

  async function* questions({ version_id: id }: { version_id: string }): AsyncGenerator<EvaluationQuestion> {
    for (let from = 0; ; from += PAGE) {
      const page = await questionSets.questions(id, from, PAGE);
      yield* page;
      if (page.length < PAGE) return;
    }
  }
  const measure = (embedder: string) =>
    measureSearch(search, questions(set), { partition, config, embedder, top_k: TOP_K, signal });
  const [before, after] = [await measure(source), await measure(target)];
  if (before === null || after === null) return null;
  return { count: after.count, ndcg_before: rounded(before.mean), ndcg_after: rounded(after.mean) };
}

/** To four places, as the other figures of a swap. */
function rounded(value: number): number {
  return Math.round(10_000 * value) / 10_000;
}
