/**
 * `npm run bench:metadata`: what it costs that each chunk holds its file's metadata as nested documents, against one
 * document a file that is asked first: bytes and documents of the index, and the time of a search with a filter.
 * `BENCH_CHUNKS` and `BENCH_VALUES` (values a file, several with commas) change the sizes.
 */
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { parseFilter } from '../../activities/retrieval/filter/parse-filter.js';
import { createOpenSearchChunkStore } from '../../activities/stores/opensearch/chunk-store.js';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import { filterQuery } from '../../activities/stores/opensearch/filter-query.js';
import { toVersionEntries } from '../../activities/documents/metadata-entries.js';
import { chunkId } from '../../schemas/documents/chunk-id.js';
import type { StoredChunk } from '../../schemas/documents/documents.js';
import type { Scope } from '../../schemas/documents/users.js';
import { reportBench } from './bench-report.js';
import { cranfield } from './collection.js';
import { reducedVector } from './instant-model-server.js';
import { benchTexts, CHUNKS_PER_FILE, fileChunks } from './seed-chunks.js';

const CHUNKS = Number(process.env['BENCH_CHUNKS'] ?? 20_000);
const VALUES = (process.env['BENCH_VALUES'] ?? '1,10,100').split(',').map(Number);
const DIMENSION = 384;
const FIELD = 'vector_bench';
const PARTITION = 'bench';
const CANDIDATES = 50;
/** One file of ten. */
const FILTER = parseFilter('value_0 == "word-3"');
const PREFIX = `tamis-bench-metadata-${process.pid}-`;
const scope: Scope = { kind: 'all', userId: 1 };

const { client, close } = connectOpenSearch({ url: process.env['OPENSEARCH_URL']! });

interface Stats {
  _all: { primaries: { store: { size_in_bytes: number } } };
}

function metadataOf(file: number, values: number): StoredChunk['metadata'] {
  const said = Array.from({ length: values }, (_, place) => [
    `value_${place}`,
    `word-${(file + place) % 10}`,
  ]);
  return toVersionEntries({
    metadata: Object.fromEntries(said) as Record<string, string>,
    original_filename: `file-${file}.txt`,
    size_bytes: 10_000,
    content_sha256: String(file).padStart(64, '0'),
    indexed_at: new Date(file),
  });
}

/** @param metadata of the chunks of each file */
async function fill(
  prefix: string,
  metadata: (file: number) => StoredChunk['metadata'],
  each = CHUNKS_PER_FILE,
) {
  const store = createOpenSearchChunkStore(client, { indexPrefix: prefix });
  await store.ensureSchema([{ vectorField: FIELD, dimension: DIMENSION }]);
  const text = benchTexts();
  for (let file = 0; file * CHUNKS_PER_FILE < CHUNKS; file += 1) {
    const made = fileChunks(text, {
      partition: PARTITION,
      file_id: `file-${file}`,
      file_key: `key-${file}`,
      generation: file + 1,
      filename: `file-${file}.txt`,
      metadata: metadata(file),
    });
    await store.put(
      made.slice(0, each).map((chunk) => ({
        chunk: {
          ...chunk,
          chunk_id: chunkId(chunk.file_key, chunk.generation, chunk.position),
          published: true,
        },
        vector: reducedVector(chunk.text, DIMENSION),
      })),
      FIELD,
    );
  }
  await store.show();
  const index = `${prefix}chunks`;
  await client.request('POST', `/${index}/_forcemerge`, {
    query: { max_num_segments: 1 },
    timeoutMs: 600_000,
  });
  // What was merged is removed with the next refresh and commit.
  await client.request('POST', `/${index}/_refresh`);
  await client.request('POST', `/${index}/_flush`, { query: { force: true } });
  const stats = await client.request<Stats>('GET', `/${index}/_stats/store`);
  const [counted] = await client.request<{ 'docs.count': string }[]>('GET', `/_cat/indices/${index}`, {
    query: { format: 'json' },
  });
  return {
    store,
    index,
    bytes: stats._all.primaries.store.size_in_bytes,
    documents: Number(counted!['docs.count']),
  };
}

const questions = cranfield()
  .queries.slice(0, 150)
  .map(({ text }) => ({ text, vector: reducedVector(text, DIMENSION) }));

const rows: Record<string, string | number>[] = [];
try {
  for (const values of VALUES) {
    const [nested, bare, files] = [
      await fill(`${PREFIX}${values}-nested-`, (file) => metadataOf(file, values)),
      await fill(`${PREFIX}${values}-bare-`, () => []),
      await fill(`${PREFIX}${values}-files-`, (file) => metadataOf(file, values), 1),
    ];
    const base = { scope, partitions: [PARTITION], size: CANDIDATES, vectorField: FIELD };
    const ways: Record<string, (question: (typeof questions)[number]) => Promise<unknown>> = {
      chunk: (question) => nested.store.searchHybrid({ ...base, ...question, filter: FILTER }),
      file: async (question) => {
        const { hits } = await client.request<{ hits: { hits: { fields: { file_key: string[] } }[] } }>(
          'POST',
          `/${files.index}/_search`,
          {
            body: {
              size: 10_000,
              _source: false,
              stored_fields: '_none_',
              docvalue_fields: ['file_key'],
              query: { bool: { filter: [{ terms: { partition: [PARTITION] } }, filterQuery(FILTER)] } },
            },
          },
        );
        const fileKeys = hits.hits.map(({ fields }) => fields.file_key[0]!);
        return await bare.store.searchHybrid({ ...base, ...question, fileKeys });
      },
      none: (question) => bare.store.searchHybrid({ ...base, ...question }),
    };
    const names = Object.keys(ways);
    for (const question of questions) for (const name of names) await ways[name]!(question);
    const taken = Object.fromEntries(names.map((name) => [name, [] as number[]]));
    for (const [place, question] of questions.entries())
      for (const turn of names.keys()) {
        const name = names[(turn + place) % names.length]!;
        const from = performance.now();
        await ways[name]!(question);
        taken[name]!.push(performance.now() - from);
      }
    const p50 = (name: string): string =>
      percentile(
        taken[name]!.sort((one, other) => one - other),
        0.5,
      ).toFixed(1);
    const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
    rows.push({
      'values a file': values,
      'MiB, with each chunk': mib(nested.bytes),
      'MiB, once a file': mib(bare.bytes + files.bytes),
      'Lucene documents, with each chunk': nested.documents,
      'Lucene documents, once a file': bare.documents + files.documents,
      'filtered p50 ms, with each chunk': p50('chunk'),
      'filtered p50 ms, files asked first': p50('file'),
      'no filter p50 ms': p50('none'),
    });
    process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
  }
} finally {
  await client.request('DELETE', `/${PREFIX}*`, { query: { expand_wildcards: 'all' } });
}
await close();
reportBench('metadata', 'Metadata with each chunk, or once a file', rows, [
  `${CHUNKS} chunks in files of ${CHUNKS_PER_FILE}; the filter holds of one file of ten.`,
]);
