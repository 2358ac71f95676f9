import type { ChunkStore } from '../../ports/chunks.js';
import type { OpenSearchClient } from './connect-opensearch.js';

const PAGE = 1_000;

interface CompositeAnswer {
  aggregations: {
    generations: {
      after_key?: object;
      buckets: {
        key: { file_key: string; generation: number };
        doc_count: number;
        published: { doc_count: number };
      }[];
    };
  };
}

/** Chunks per (file_key, generation), page by page. */
export async function* scanGenerations(
  client: OpenSearchClient,
  index: string,
): ReturnType<ChunkStore['scanGenerations']> {
  await client.request('POST', `/${index}/_refresh`);
  for (let after: object | undefined; ;) {
    const answer = await client.request<CompositeAnswer>('POST', `/${index}/_search`, {
      body: {
        size: 0,
        track_total_hits: false,
        aggs: {
          generations: {
            composite: {
              size: PAGE,
              sources: [
                { file_key: { terms: { field: 'file_key' } } },
                { generation: { terms: { field: 'generation' } } },
              ],
              ...(after === undefined ? {} : { after }),
            },
            aggs: { published: { filter: { term: { published: true } } } },
          },
        },
      },
    });
    const { buckets, after_key } = answer.aggregations.generations;
    for (const { key, doc_count, published } of buckets)
      yield {
        fileKey: key.file_key,
        generation: key.generation,
        chunks: doc_count,
        published: published.doc_count,
      };
    if (after_key === undefined || buckets.length < PAGE) return;
    after = after_key;
  }
}
