/**
 * `npm run bench:legs`: how long a question takes from its text to the hits of both legs, by scores that depend on the
 * searched partitions alone, against the engine's own BM25 and a walk through its graph of vectors, whose scores depend
 * on all tenants. In turns, on the same segments, and with the question's embedding in both: its words are counted and
 * searched meanwhile. `BENCH_CHUNKS` names the sizes, `BENCH_QUESTIONS` how many questions are asked at each.
 */
import { randomUUID } from 'node:crypto';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { createOpenSearchChunkStore } from '../../activities/stores/opensearch/chunk-store.js';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import type { Scope } from '../../schemas/documents/users.js';
import { reportBench } from './bench-report.js';
import { cranfield, piaf } from './collection.js';
import { reducedVector } from './instant-model-server.js';
import { openBenchStack } from './open-bench-stack.js';
import { createPlainEngine } from './plain-engine.js';
import { benchTexts, CHUNKS_PER_FILE, fileChunks } from './seed-chunks.js';

const SIZES = (process.env['BENCH_CHUNKS'] ?? '1000,10000,100000').split(',').map(Number);
const QUESTIONS = Number(process.env['BENCH_QUESTIONS'] ?? 300);
const DIMENSION = 384;
const CANDIDATES = 50;
const PARTITION = 'bench';
const PREFIX = `tamis-bench-legs-${process.pid}-`;
const FIELD = 'vector_bench';

/** all-MiniLM where there is Ollama, otherwise the built-in one. */
const ollama = process.env['OLLAMA_HOST'] ?? '';
const stack = await openBenchStack({
  OLLAMA_HOST: '',
  ...(ollama !== '' && {
    EMBEDDER_PROVIDER: 'ollama',
    EMBEDDER_BASE_URL: ollama,
    EMBEDDER_MODEL_NAME: 'all-minilm',
  }),
});
await stack.startGateway();
const embedder = await stack.adapters.models.embedder(ollama === '' ? 'builtin-hash' : 'default');
await stack.killGateway();
const { client, close } = connectOpenSearch({ url: process.env['OPENSEARCH_URL']! });
const store = createOpenSearchChunkStore(client, { indexPrefix: PREFIX });
const plain = createPlainEngine(client, { indexPrefix: PREFIX });
const text = benchTexts();
const scope: Scope = { kind: 'all', userId: 1 };

interface Question {
  text: string;
  /** As those of the chunks are made, so that it has neighbours among them; the model's own is not compared with. */
  vector: number[];
}

const french = piaf().queries;
/** Of both languages in turn. */
const questions: Question[] = cranfield()
  .queries.flatMap((query, place) => [query, ...french.slice(place, place + 1)])
  .slice(0, QUESTIONS)
  .map((query) => ({ text: query.text, vector: reducedVector(query.text, DIMENSION) }));

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

async function embed({ text: asked }: Question): Promise<void> {
  await embedder.embed([asked], { kind: 'query' });
}

async function askEngine(question: Question): Promise<void> {
  await embed(question);
  const { text: asked, vector } = question;
  await plain.ask({ partition: PARTITION, text: asked, vector, vectorField: FIELD, size: CANDIDATES });
}

/** As `searchLegs` does. */
async function askStore(question: Question, countedIn: string[]): Promise<void> {
  const request = { scope, partitions: [PARTITION], countedIn, text: question.text, size: CANDIDATES };
  const lexical = store.searchWords(request);
  await embed(question);
  await store.searchHybrid({ ...request, vector: question.vector, vectorField: FIELD, lexical });
}

let places = 0;
const ways: Record<string, (question: Question) => Promise<void>> = {
  engine: askEngine,
  known: (question) => askStore(question, [PARTITION]),
  // No word has been counted in these partitions, of which one holds nothing.
  new: (question) => askStore(question, [PARTITION, `empty-${(places += 1)}`]),
  embedding: embed,
};

/** Each question in every way, in an order that changes: a machine whose speed changes does so for all alike. */
async function timesOf(): Promise<Record<string, number[]>> {
  const names = Object.keys(ways);
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  for (const [place, question] of questions.entries())
    for (const [turn] of names.entries()) {
      const name = names[(turn + place) % names.length]!;
      const from = performance.now();
      await ways[name]!(question);
      taken[name]!.push(performance.now() - from);
    }
  return taken;
}

const rows: Record<string, string | number>[] = [];
try {
  await store.ensureSchema([{ vectorField: FIELD, dimension: DIMENSION }]);
  for (const [place, chunks] of SIZES.entries()) {
    const began = performance.now();
    await fillTo(chunks, SIZES[place - 1] ?? 0);
    await plain.copy();
    process.stderr.write(`${chunks} chunks in ${Math.round((performance.now() - began) / 1000)} s\n`);
    for (const question of questions) for (const name of ['known', 'engine']) await ways[name]!(question);
    const taken = await timesOf();
    const at = (name: string, share: number): number =>
      percentile(
        taken[name]!.sort((one, other) => one - other),
        share,
      );
    const ratio = (name: string): string => (at(name, 0.5) / at('engine', 0.5)).toFixed(2);
    rows.push({
      chunks,
      'embedding p50 ms': at('embedding', 0.5).toFixed(1),
      'engine p50 ms': at('engine', 0.5).toFixed(1),
      'known words p50 ms': at('known', 0.5).toFixed(1),
      'known ratio': ratio('known'),
      'new words p50 ms': at('new', 0.5).toFixed(1),
      'new ratio': ratio('new'),
      'engine p95 ms': at('engine', 0.95).toFixed(1),
      'known words p95 ms': at('known', 0.95).toFixed(1),
      'new words p95 ms': at('new', 0.95).toFixed(1),
    });
    process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
    await plain.drop();
  }
} finally {
  await client.request('DELETE', `/${PREFIX}*`, {
    query: { expand_wildcards: 'all', ignore_unavailable: true },
    timeoutMs: 120_000,
  });
  await close();
  await stack.close();
}
reportBench('legs', 'Both legs of a search, with the embedding of the question', rows, [
  `One client, ${CANDIDATES} candidates of each leg, ${DIMENSION} dimensions, ${questions.length} questions of Cranfield and PIAF, each in every way in turn.`,
  `Embedding: by ${embedder.modelName}; it is part of all other figures.`,
  'Engine: BM25 with the statistics of the whole index, and a walk through the graph of vectors.',
  'Known words were counted in these partitions before; new words are all counted by the search itself, while the question is embedded.',
]);
