import { BM25_LENGTH_SHARE, BM25_MEAN_LENGTH, BM25_SATURATION } from '../../text/bm25.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { readIndexSettings } from './index-settings.js';
import type { IndexSettings } from './index-settings.js';
import { hasEngineType } from './opensearch-errors.js';

const LENGTH = `${1 - BM25_LENGTH_SHARE} + ${BM25_LENGTH_SHARE} * doc.length / ${BM25_MEAN_LENGTH.toFixed(1)}`;

/**
 * BM25's share of a word in a chunk, without its two statistics of the whole index: how rare a word is comes with the
 * query as its boost, counted in the searched partitions, and the mean length is a constant. Cut to multiples of 2⁻¹²,
 * so that sums are exact in whatever order the engine adds them. An index whose script differs by a letter is closed
 * and opened with this one.
 */
const SCORE = [
  `double saturated = doc.freq / (doc.freq + ${BM25_SATURATION} * (${LENGTH}));`,
  `return Math.rint(4096.0 * query.boost * ${1 + BM25_SATURATION} * saturated) / 4096.0;`,
].join(' ');

/** In force for every field: the similarity of a field that is there cannot be changed, that of the index can. */
export const similaritySettings = { default: { type: 'scripted', script: { source: SCORE } } } as const;

interface StateAnswer {
  metadata: { indices: { [index: string]: { state: 'open' | 'close' } } };
}

const ATTEMPTS = 20;

/**
 * Gives an index of an earlier release the similarity of this one. The engine takes it of a closed index only, which is
 * closed for a moment (0.4 s for an index of 111,000 chunks); what is asked meanwhile fails as it does while the engine
 * is away. Safe at once in several processes, and after a crash in between: the next process opens the index.
 * @returns what else the index is set to
 */
export async function ensureSimilarity(client: OpenSearchClient, index: string): Promise<IndexSettings> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const settings = await readIndexSettings(client, index);
      const current = settings['index.similarity.default.script.source'];
      const state = await client.request<StateAnswer>('GET', `/_cluster/state/metadata/${index}`, {
        query: { filter_path: 'metadata.indices.*.state' },
      });
      const closed = Object.values(state.metadata.indices)[0]?.state === 'close';
      if (current === SCORE && !closed) return settings;
      if (current !== SCORE) {
        await client.request('POST', `/${index}/_close`);
        await client.request('PUT', `/${index}/_settings`, {
          body: { index: { similarity: similaritySettings } },
        });
      }
      await client.request('POST', `/${index}/_open`, { query: { wait_for_active_shards: 1 } });
      return settings;
    } catch (error) {
      // Another process opened it between our two calls.
      const raced = hasEngineType(error, 'illegal_argument_exception');
      if (!raced || attempt === ATTEMPTS) throw error;
    }
  }
}
