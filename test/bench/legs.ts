/**
 * `npm run bench:legs`: how long both legs of a search take in the store, whose scores depend on the searched
 * partitions alone, against the engine's own BM25 and a walk through its graph of vectors, whose scores depend on all
 * tenants. In turns, on the same segments.
 */
import { randomUUID } from 'node:crypto';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { createOpenSearchChunkStore } from '../../activities/stores/opensearch/chunk-store.js';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import type { Scope } from '../../schemas/documents/users.js';
import { reportBench } from './bench-report.js';
import { cranfield, piaf } from './collection.js';
import { reducedVector } from './instant-model-server.js';
import { createPlainEngine } from './plain-engine.js';
import { benchTexts, CHUNKS_PER_FILE, fileChunks } from './seed-chunks.js';

const SIZES = (process.env['BENCH_CHUNKS'] ?? '1000,10000,100000').split(',').map(Number);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10);
/** Turns of each kind within its seconds. */
const ROUNDS = 10;
const DIMENSION = 384;
const CANDIDATES = 50;
const PARTITION = 'bench';
const PREFIX = `tamis-bench-legs-${process.pid}-`;
const FIELD = 'vector_bench';

const { client, close } = connectOpenSearch({ url: process.env['OPENSEARCH_URL']! });
const store = createOpenSearchChunkStore(client, { indexPrefix: PREFIX });
const plain = createPlainEngine(client, { indexPrefix: PREFIX });
const text = benchTexts();
const scope: Scope = { kind: 'partitions', userId: 1, roles: { [PARTITION]: 'owner' } };
const questions = [...cranfield().queries, ...piaf().queries].map((query) => ({
  text: query.text,
  vector: reducedVector(query.text, DIMENSION),
}));
type Question = (typeof questions)[number];

async function fillTo(chunks: number, from: number): Promise<void> {
  for (let file = from / CHUNKS_PER_FILE; file * CHUNKS_PER_FILE < chunks; file += 1) {
    const fileKey = randomUUID().replaceAll('-', '');
    const made = fileChunks(text, {
      partition: PARTITION,
      file_id: `file-${file}`,
      file_key: fileKey,
      generation: file + 1,
      filename: `file-${file}.txt`,
      metadata: [],
    });
    await store.put(
      made.map((chunk) => ({
        chunk: { ...chunk, published: true },
        vector: reducedVector(chunk.text, DIMENSION),
      })),
      FIELD,
    );
  }
  await store.show();
}

async function askPlain({ text: asked, vector }: Question): Promise<void> {
  await plain.ask({ partition: PARTITION, text: asked, vector, vectorField: FIELD, size: CANDIDATES });
}

async function askStore({ text: asked, vector }: Question): Promise<void> {
  await store.searchHybrid({
    scope,
    partitions: [PARTITION],
    text: asked,
    vector,
    vectorField: FIELD,
    size: CANDIDATES,
  });
}

async function countWords({ text: asked }: Question): Promise<void> {
  await store.prepareSearch({ scope, partitions: [PARTITION], text: asked, size: CANDIDATES });
}

/** In turns, so that a machine whose speed changes is fast or slow for all alike; each sorted. */
async function timesOf(asks: readonly ((question: Question) => Promise<void>)[]): Promise<number[][]> {
  const taken: number[][] = asks.map(() => []);
  let next = 0;
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [place, ask] of asks.entries()) {
      const until = performance.now() + (SECONDS * 1000) / ROUNDS;
      while (performance.now() < until) {
        const from = performance.now();
        await ask(questions[next++ % questions.length]!);
        taken[place]!.push(performance.now() - from);
      }
    }
  return taken.map((each) => each.sort((one, other) => one - other));
}

const rows: Record<string, string | number>[] = [];
try {
  await store.ensureSchema([{ vectorField: FIELD, dimension: DIMENSION }]);
  for (const [place, chunks] of SIZES.entries()) {
    const began = performance.now();
    await fillTo(chunks, SIZES[place - 1] ?? 0);
    await plain.copy();
    process.stderr.write(`${chunks} chunks in ${Math.round((performance.now() - began) / 1000)} s\n`);
    // Each question once: its words are counted before it is asked, as they are while it is embedded.
    const counting: number[] = [];
    for (const question of questions) {
      const from = performance.now();
      await countWords(question);
      counting.push(performance.now() - from);
      await askStore(question);
      await askPlain(question);
    }
    const [engine = [], ours = []] = await timesOf([askPlain, askStore]);
    const middle = percentile(engine, 0.5);
    rows.push({
      chunks,
      'engine p50 ms': middle.toFixed(1),
      'store p50 ms': percentile(ours, 0.5).toFixed(1),
      ratio: (percentile(ours, 0.5) / middle).toFixed(2),
      'engine p95 ms': percentile(engine, 0.95).toFixed(1),
      'store p95 ms': percentile(ours, 0.95).toFixed(1),
      'counting p50 ms': percentile(
        counting.sort((one, other) => one - other),
        0.5,
      ).toFixed(1),
    });
    process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
    await plain.drop();
  }
} finally {
  await client.request('DELETE', `/${PREFIX}*`, { query: { expand_wildcards: 'all' } });
  await close();
}
reportBench('legs', 'Both legs of a search, in the store', rows, [
  `One client, ${CANDIDATES} candidates of each leg, ${DIMENSION} dimensions, questions of Cranfield and PIAF, each figure ${SECONDS} s in ${ROUNDS} turns.`,
  'Engine: BM25 with the statistics of the whole index, and a walk through the graph of vectors.',
  'Counting: of the words of a question that is asked for the first time, which is done while it is embedded.',
]);
