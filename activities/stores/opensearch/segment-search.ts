import { AppError } from '../../../schemas/app-error.js';
import { AccessProblem } from '../../../schemas/engine-access.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { changeIndexSettings } from './index-settings.js';
import type { IndexSettings } from './index-settings.js';

/**
 * Lets two threads share the segments of one search. The exact comparison of vectors and the counting of words are
 * linear in the chunks searched; Lucene's own slices give a thread 250,000 of them, which one segment seldom exceeds.
 */
const SEGMENT_SEARCH = {
  'search.concurrent_segment_search.mode': 'all',
  'search.concurrent.max_slice_count': '2',
} as const;

/**
 * It stays with one thread a search where the engine does not know the settings (before 2.17) or lets no client set
 * them, as the OpenSearch Service of Amazon, which has a mode of its own.
 */
export async function ensureSegmentSearch(
  client: OpenSearchClient,
  index: string,
  present: IndexSettings,
): Promise<void> {
  try {
    await changeIndexSettings(client, index, { present, wanted: SEGMENT_SEARCH });
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
}

function isRefused(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  return error.code !== 'VDB_CONNECTION_ERROR' || error.cause instanceof AccessProblem;
}
