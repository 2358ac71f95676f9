import { expect, it } from '@jest/globals';
import { errors } from '@opensearch-project/opensearch';
import { createChunkIndexes } from '../../../activities/stores/opensearch/chunk-indexes.js';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { chunkMapping, vectorMapping } from '../../../activities/stores/opensearch/mapping.js';
import { toVdbError } from '../../../activities/stores/opensearch/opensearch-errors.js';

/** As the engine answers `_reindex` into an index that has no such field: `failures`, and no `error`. */
function strictAnswer(field: string): errors.ResponseError {
  const reason = `mapping set to strict, dynamic introduction of [${field}] within [_doc] is not allowed`;
  const body = { failures: [{ cause: { type: 'strict_dynamic_mapping_exception', reason }, status: 400 }] };
  return new errors.ResponseError({ body, statusCode: 400, headers: {}, warnings: null, meta: {} as never });
}

/** As much of an engine as a file in `source` that `target` lacks, with vectors of a field that it lacks too. */
function scriptedEngine() {
  const fields: Record<string, object> = {
    source: { ...chunkMapping.properties, vector_new: vectorMapping(2) },
    target: { ...chunkMapping.properties },
  };
  const buckets = [{ key: { file_key: 'late', generation: 1 }, doc_count: 1, published: { doc_count: 1 } }];
  const answers: [RegExp, (index: string, body: { properties: object }) => object][] = [
    [
      /_search$/,
      (index) => ({ aggregations: { generations: { buckets: index === 'source' ? buckets : [] } } }),
    ],
    [/_settings$/, (index) => ({ [index]: { settings: { 'index.number_of_shards': '1' } } })],
    [
      /_mapping$/,
      (index, body) => {
        fields[index] = { ...fields[index], ...body?.properties };
        return { [index]: { mappings: { properties: fields[index] } } };
      },
    ],
    [
      /_reindex$/,
      () => {
        if (!Object.hasOwn(fields['target']!, 'vector_new')) throw toVdbError(strictAnswer('vector_new'));
        return { total: 1, created: 1, updated: 0, failures: [] };
      },
    ],
  ];
  const request = async (_method: string, path: string, given?: { body: { properties: object } }) => {
    const answer = answers.find(([pattern]) => pattern.test(path))?.[1];
    return answer?.(path.split('/')[1]!, given?.body as { properties: object }) ?? {};
  };
  return { request } as unknown as OpenSearchClient;
}

it('a file with vectors of an embedder that came after the last page is copied with its field', async () => {
  const indexes = createChunkIndexes(scriptedEngine(), { indexPrefix: '' });
  const { signal } = new AbortController();
  expect(await indexes.align({ source: 'source', target: 'target' }, { signal })).toEqual({
    written: 1,
    deleted: 0,
  });
});

it('what the engine met at one of many chunks is told', () => {
  expect(toVdbError(strictAnswer('vector_new'))).toMatchObject({
    code: 'VDB_ERROR',
    message: expect.stringMatching(/400: strict_dynamic_mapping_exception: .*\[vector_new\]/),
  });
});
