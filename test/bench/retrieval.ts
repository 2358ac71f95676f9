/**
 * `npm run bench:retrieval`: how well search finds, on the public collections of `test/bench/data`, one file per
 * document through the public API. Each leg by itself, fusions of them, and what the search route answers; the same
 * search without its measurement of what the embedder understands. `BENCH_ONLY` names the collections, with commas.
 */
import type { SearchLegHit } from '../../activities/ports/chunks.js';
import {
  convexCombination,
  reciprocalRankFusion,
  scaleScores,
} from '../../activities/retrieval/search/fusion.js';
import { figureOf, judgeRanking } from '../../activities/retrieval/evaluation/measures.js';
import { UNKNOWN_COMPETENCES } from '../../activities/retrieval/search/competence.js';
import { documentClient } from '../support/document-client.js';
import { openBenchStack } from './open-bench-stack.js';
import { plainSearch } from '../support/plain-search.js';
import type { RunningStack } from '../support/running-stack.js';
import { reportBench } from './bench-report.js';
import { benchCollections } from './collection.js';
import type { Collection } from './collection.js';
import { indexFiles } from './index-files.js';

const WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
const CANDIDATES = Number(process.env['BENCH_CANDIDATES'] ?? 50);

type Row = Record<string, string | number>;
/** How a query's hits of both legs become document ids, best first. */
type Ranking = (legs: Legs) => string[];

interface Legs {
  lexical: SearchLegHit[];
  dense: SearchLegHit[];
  /** Ids of the files by their keys. */
  files: ReadonlyMap<string, string>;
}

function hitsOf(leg: readonly SearchLegHit[]) {
  return leg.map(({ chunk, score }) => ({ id: chunk.chunk_id, score }));
}

function documentsOf({ lexical, dense, files }: Legs, ranked: readonly { id: string }[]): string[] {
  const fileOf = new Map(
    [...lexical, ...dense].map(({ chunk }) => [chunk.chunk_id, files.get(chunk.file_key)]),
  );
  return [...new Set(ranked.map(({ id }) => fileOf.get(id)!))];
}

const RANKINGS: [string, Ranking][] = [
  ['BM25', (legs) => documentsOf(legs, hitsOf(legs.lexical))],
  ['vectors', (legs) => documentsOf(legs, hitsOf(legs.dense))],
  ...WEIGHTS.map((weight): [string, Ranking] => [
    `min-max, ${weight} vectors`,
    (legs) => documentsOf(legs, convexCombination(hitsOf(legs.lexical), hitsOf(legs.dense), { weight })),
  ]),
  ...WEIGHTS.map((weight): [string, Ranking] => [
    `scaled, ${weight} vectors`,
    (legs) =>
      documentsOf(
        legs,
        convexCombination(hitsOf(legs.lexical), hitsOf(legs.dense), { weight, normalize: scaleScores }),
      ),
  ]),
  [
    'reciprocal rank, k = 60',
    (legs) => documentsOf(legs, reciprocalRankFusion([hitsOf(legs.lexical), hitsOf(legs.dense)])),
  ],
];

/** A few requests at a time: the machine has few cores. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!);
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return results;
}

async function measure(stack: RunningStack, embedderName: string, collection: Collection): Promise<Row[]> {
  const partition = collection.name.toLowerCase();
  const seconds = await indexFiles(stack, partition, collection.documents);
  process.stderr.write(
    `${collection.name}: ${collection.documents.length} files in ${seconds.toFixed(0)} s\n`,
  );
  const client = documentClient(stack);
  const embedder = await stack.adapters.models.embedder(embedderName);
  const row = (name: string, rankings: readonly (readonly string[])[]): Row => {
    const measured = rankings.map((ranked, index) => judgeRanking(ranked, collection.queries[index]!.grades));
    const over = (measure: keyof (typeof measured)[number]) => {
      const { mean, low, high } = figureOf(measured.map((one) => one[measure]))!;
      return { figure: mean.toFixed(3), interval: `${low.toFixed(3)}–${high.toFixed(3)}` };
    };
    return {
      collection: collection.name,
      embedder: embedder.modelName,
      ranking: name,
      'nDCG@10': over('ndcg_10').figure,
      '95 % of nDCG@10': over('ndcg_10').interval,
      'Recall@10': over('recall_10').figure,
      MRR: over('mrr').figure,
    };
  };
  const scope = { kind: 'all', userId: 1 } as const;
  const files = new Map(
    (await stack.adapters.files.listLive(scope, partition)).map((file) => [file.file_key, file.file_id]),
  );
  const legs = await inTurns(collection.queries, async ({ text }): Promise<Legs> => {
    const [vector = []] = await embedder.embed([text], { kind: 'query' });
    const found = await stack.adapters.chunks.searchHybrid({
      scope,
      partitions: [partition],
      text,
      vector,
      vectorField: embedder.vectorField,
      size: CANDIDATES,
    });
    return { ...found, files };
  });
  const answers = await inTurns(collection.queries, async ({ text }) => {
    const found = await client.search(`/search/partition/${partition}`, { text, top_k: '30' });
    return [...new Set(found.map(({ metadata }) => String(metadata['file_id'])))];
  });
  const byAgreement = plainSearch({ ...stack.adapters, competences: UNKNOWN_COMPETENCES });
  const otherAnswers = await inTurns(collection.queries, async ({ text }) => {
    const found = await byAgreement.search({ scope, partitions: [partition], text, topK: 30 });
    return [...new Set(found.map(({ file }) => file.file_id))];
  });
  return [
    ...RANKINGS.map(([name, ranking]) => row(name, legs.map(ranking))),
    row('the search, weighted by agreement alone', otherAnswers),
    row('GET /search', answers),
  ];
}

const only = process.env['BENCH_ONLY']?.split(',');
const rows: Row[] = [];
const notes: string[] = [];
const ollama = process.env['OLLAMA_HOST'] ?? '';
const embedders: [string, Record<string, string>][] = [['builtin-hash', { OLLAMA_HOST: '' }]];
if (ollama === '') notes.push('No Ollama was found, so only the built-in embedder was measured.');
else
  embedders.unshift([
    'default',
    { EMBEDDER_PROVIDER: 'ollama', EMBEDDER_BASE_URL: ollama, EMBEDDER_MODEL_NAME: 'all-minilm' },
  ]);

function report(): void {
  reportBench('retrieval', 'Retrieval on public collections', rows, [
    ...notes,
    `Each leg gives ${CANDIDATES} chunks; a document stands where its best chunk does. Grades above 0 count alike.`,
    'The intervals are 95 % percentile bootstraps over queries.',
  ]);
}

for (const [name, overrides] of embedders) {
  const stack = await openBenchStack(overrides);
  try {
    await Promise.all([stack.startGateway(), stack.startWorker()]);
    for (const collection of benchCollections()) {
      if (only?.includes(collection.name) === false) continue;
      rows.push(...(await measure(stack, name, collection)));
      // After each: the whole takes half an hour.
      report();
    }
  } finally {
    await stack.close();
  }
}
