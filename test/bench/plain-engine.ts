import type { SearchAnswer } from '../../activities/stores/opensearch/search-hits.js';
import type { OpenSearchClient } from '../../activities/stores/opensearch/connect-opensearch.js';
import { identifiersIn } from '../../activities/stores/opensearch/identifiers.js';
import { indexNames } from '../../activities/stores/opensearch/index-names.js';
import { languageOf } from '../../activities/text/language-of.js';

interface PlainRequest {
  partition: string;
  text: string;
  size: number;
  /** Left out: words alone. */
  vector?: readonly number[];
  vectorField?: string;
}

/**
 * Searches as before scores depended on the searched partitions alone: by the engine's own BM25, with the statistics of
 * the whole index, and a walk through its graph of vectors. Over a copy of the chunk index with the same segments.
 */
export function createPlainEngine(client: OpenSearchClient, { indexPrefix }: { indexPrefix: string }) {
  const copy = `${indexPrefix}plain`;

  const lexicalQuery = (text: string): object => {
    const language = languageOf(text);
    const fields =
      language === null
        ? [
            'text.en',
            'text.fr',
            'text^0.5',
            'heading_path.en^0.5',
            'heading_path.fr^0.5',
            'heading_path^0.25',
          ]
        : [`text.${language}`, 'text^0.25', `heading_path.${language}^0.5`, 'heading_path^0.125'];
    return {
      must: [{ multi_match: { query: text, fields: [...fields, 'filename'], type: 'most_fields' } }],
      should: identifiersIn(text).map((query) => ({
        multi_match: { query, fields: ['text', 'heading_path', 'filename'], type: 'phrase' },
      })),
    };
  };

  return {
    async copy(): Promise<void> {
      const { alias } = indexNames({ indexPrefix });
      const [index] = Object.keys(await client.request<object>('GET', `/${alias}/_settings`));
      await client.request('PUT', `/${index}/_block/write`);
      await client.request('PUT', `/${index}/_clone/${copy}`, {
        query: { wait_for_active_shards: 1 },
        timeoutMs: 600_000,
      });
      await client.request('PUT', `/${index}/_settings`, { body: { 'index.blocks.write': null } });
      await client.request('POST', `/${copy}/_close`);
      await client.request('PUT', `/${copy}/_settings`, {
        body: {
          'index.similarity.default.type': 'BM25',
          'index.similarity.default.script.source': null,
          'index.search.concurrent_segment_search.mode': null,
          'index.search.concurrent.max_slice_count': null,
        },
      });
      await client.request('POST', `/${copy}/_open`, { query: { wait_for_active_shards: 1 } });
    },

    drop: () => client.request('DELETE', `/${copy}`),

    /** @returns file keys of the words' hits, best first */
    async ask({ partition, text, vector, vectorField = '', size }: PlainRequest): Promise<string[]> {
      const filter = [{ term: { published: true } }, { terms: { partition: [partition] } }];
      const shape = {
        size,
        _source: false,
        stored_fields: '_none_',
        track_total_hits: false,
        docvalue_fields: ['file_key', 'generation', 'position'],
      };
      const lexical = { ...shape, query: { bool: { ...lexicalQuery(text), filter } } };
      const dense = {
        ...shape,
        query: {
          knn: {
            [vectorField]: {
              vector,
              k: 100,
              filter: { bool: { filter } },
              method_parameters: { ef_search: 100 },
            },
          },
        },
      };
      const { responses } = await client.request<{
        responses: SearchAnswer<{ fields: { file_key: string[] } }>[];
      }>('POST', '/_msearch', {
        lines: [lexical, ...(vector === undefined ? [] : [dense])].flatMap((query) => [
          { index: copy },
          query,
        ]),
      });
      return responses[0]?.hits?.hits.map(({ fields }) => fields.file_key[0]!) ?? [];
    },
  };
}
