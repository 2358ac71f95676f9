/**
 * `npm run bench:words`: how well the words alone find, one chunk a document, in the store and by the engine's own
 * BM25; each collection alone in the index, and beside ten other partitions.
 */
import { figureOf, judgeRanking } from '../../activities/retrieval/evaluation/measures.js';
import { createOpenSearchChunkStore } from '../../activities/stores/opensearch/chunk-store.js';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import { chunkId } from '../../schemas/documents/chunk-id.js';
import type { StoredChunk } from '../../schemas/documents/documents.js';
import { reportBench } from './bench-report.js';
import { benchCollections } from './collection.js';
import type { Collection } from './collection.js';
import { createPlainEngine } from './plain-engine.js';
import { benchTexts, fileChunks } from './seed-chunks.js';

const CANDIDATES = 50;
const OTHERS = 10;
/** Of a hundred chunks each. */
const FILES_OF_EACH = 5;
const FIELD = 'vector_bench';

const { client, close } = connectOpenSearch({ url: process.env['OPENSEARCH_URL']! });
const rows: Record<string, string | number>[] = [];
let generation = 0;

function chunksOf({ name, documents }: Collection): StoredChunk[] {
  return documents.map(({ id, filename, content }) => {
    const file = { partition: name, file_id: id, file_key: `${name}-${id}`, filename, metadata: [] };
    generation += 1;
    const [chunk] = fileChunks(new Array(100).fill(content)[Symbol.iterator](), { ...file, generation });
    const [, heading] = /^# (.+)\n/.exec(content) ?? [];
    return {
      ...chunk!,
      chunk_id: chunkId(file.file_key, generation, 0),
      next_section_id: null,
      heading_path: heading === undefined ? [] : [heading],
      published: true,
    };
  });
}

for (const collection of benchCollections()) {
  const indexPrefix = `tamis-bench-words-${process.pid}-${collection.name.toLowerCase()}-`;
  const store = createOpenSearchChunkStore(client, { indexPrefix });
  const plain = createPlainEngine(client, { indexPrefix });
  const { name: partition, queries } = collection;
  const put = async (chunks: readonly StoredChunk[]): Promise<void> => {
    for (let from = 0; from < chunks.length; from += 100)
      await store.put(
        chunks.slice(from, from + 100).map((chunk) => ({ chunk, vector: [0, 0] })),
        FIELD,
      );
    await store.show();
  };
  const inStore = async (text: string): Promise<string[]> => {
    const { lexical } = await store.searchHybrid({
      scope: { kind: 'all', userId: 1 },
      partitions: [partition],
      text,
      vector: [0, 0],
      vectorField: FIELD,
      size: CANDIDATES,
    });
    return lexical.map(({ chunk }) => chunk.file_key);
  };
  const measure = async (place: string): Promise<void> => {
    await plain.copy();
    for (const [ranking, ask] of [
      ['words in the store', inStore],
      ["engine's BM25", (text: string) => plain.ask({ partition, text, size: CANDIDATES })],
    ] as const) {
      const measured = [];
      for (const { text, grades } of queries) {
        const ids = (await ask(text)).map((key) => key.slice(partition.length + 1));
        measured.push(judgeRanking(ids, grades));
      }
      const { mean, low, high } = figureOf(measured.map(({ ndcg_10: ndcg }) => ndcg))!;
      rows.push({
        collection: partition,
        ranking,
        place,
        'nDCG@10': mean.toFixed(4),
        interval: `${low.toFixed(3)}–${high.toFixed(3)}`,
      });
      process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
    }
    await plain.drop();
  };
  try {
    await store.ensureSchema([{ vectorField: FIELD, dimension: 2 }]);
    await put(chunksOf(collection));
    await measure('alone in the index');
    const text = benchTexts();
    for (let file = 0; file < OTHERS * FILES_OF_EACH; file += 1) {
      const other = {
        partition: `other-${file % OTHERS}`,
        file_id: `file-${file}`,
        file_key: `other-${file}`,
        generation: (generation += 1),
        filename: `file-${file}.txt`,
        metadata: [],
      };
      await put(fileChunks(text, other).map((chunk) => ({ ...chunk, published: true })));
    }
    await measure(`beside ${OTHERS} other partitions`);
  } finally {
    await client.request('DELETE', `/${indexPrefix}*`, { query: { expand_wildcards: 'all' } });
  }
}
await close();
reportBench('words', 'Words alone on public collections', rows, [
  `One chunk a document, ${CANDIDATES} candidates. Ten other partitions of ${FILES_OF_EACH * 100} chunks each, of the words of both collections.`,
  'The intervals are 95 % percentile bootstraps over queries.',
]);
