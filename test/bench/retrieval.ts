/**
 * `npm run bench:retrieval`: how well search finds, on the public collections of `test/bench/data`. Each is indexed
 * through the API, one file a document, its questions are uploaded as a question set, and evaluation runs ask them:
 * one as search is, and one with each weight of the vectors. `BENCH_ONLY` names collections, with commas;
 * `BENCH_EMBEDDERS` likewise `all-minilm` and `builtin`.
 */
import { TRIED_WEIGHTS, fitWeight } from '../../activities/retrieval/evaluation/fit-weight.js';
import { figureOf } from '../../activities/retrieval/evaluation/measures.js';
import type { Figure } from '../../activities/retrieval/evaluation/measures.js';
import type { RunningStack } from '../support/running-stack.js';
import { reportBench } from './bench-report.js';
import { benchCollections, cranfieldByAbstract, piafByParagraph } from './collection.js';
import type { Collection, LongQuestions } from './collection.js';
import { evaluate, uploadQuestions } from '../support/evaluate.js';
import type { Evaluated } from '../support/evaluate.js';
import { indexFiles } from './index-files.js';
import { openBenchStack } from './open-bench-stack.js';

type Row = Record<string, string | number>;

const LONG: Readonly<Record<string, () => LongQuestions & { name: string }>> = {
  Cranfield: () => ({ name: 'Cranfield, by abstracts', ...cranfieldByAbstract() }),
  PIAF: () => ({ name: 'PIAF, by paragraphs', ...piafByParagraph() }),
};

const NAMES = new Map([
  [0, 'words alone'],
  [1, 'vectors alone'],
]);

function digits({ mean, low, high }: Figure): { mean: string; interval: string } {
  return { mean: mean.toFixed(3), interval: `${low.toFixed(3)}–${high.toFixed(3)}` };
}

/** The figures of one ranking; `leg`: what the better of the legs is worth, question by question. */
function rowOf(
  names: Pick<Row, 'questions' | 'embedder' | 'ranking'>,
  values: readonly number[],
  { summary, leg }: { summary?: Evaluated['summary']; leg?: readonly number[] } = {},
): Row {
  const ndcg = digits(figureOf(values)!);
  const against = leg && digits(figureOf(values.map((value, at) => value - leg[at]!))!);
  const other = (measure: 'recall_10' | 'recall_50' | 'mrr'): string =>
    summary?.measures[measure]?.mean.toFixed(3) ?? '';
  return {
    ...names,
    'nDCG@10': ndcg.mean,
    '95 %': ndcg.interval,
    'against the better leg': against === undefined ? '' : `${against.mean} (${against.interval})`,
    'recall@10': other('recall_10'),
    'recall@50': other('recall_50'),
    MRR: other('mrr'),
  };
}

async function measure(
  stack: RunningStack,
  partition: string,
  embedder: string,
  { name, queries }: Pick<Collection, 'name' | 'queries'>,
): Promise<Row[]> {
  const set = name.replace(/\W+/g, '-');
  await uploadQuestions(
    stack,
    partition,
    set,
    queries.map(({ id, text, grades }) => ({ id, question: text, relevant: [...grades.keys()] })),
  );
  const runs = new Map<number, Evaluated>();
  for (const weight of TRIED_WEIGHTS)
    runs.set(weight, await evaluate(stack, partition, { set, overrides: { vector_weight: weight } }));
  const asIs = await evaluate(stack, partition, { set });
  const values = new Map([...runs].map(([weight, { ndcg }]) => [weight, ndcg]));
  const [words, vectors] = [values.get(0)!, values.get(1)!];
  const leg = figureOf(words)!.mean >= figureOf(vectors)!.mean ? words : vectors;
  const names = (ranking: string) => ({ questions: `${name} (${queries.length})`, embedder, ranking });
  return [
    ...[...runs].map(([weight, { ndcg, summary }]) =>
      rowOf(names(NAMES.get(weight) ?? `vectors weighing ${weight}`), ndcg, { summary }),
    ),
    rowOf(names('a weight fitted on the other half'), fitWeight(values).heldOut, { leg }),
    rowOf(names('search'), asIs.ndcg, { summary: asIs.summary, leg }),
  ];
}

async function removeFiles(stack: RunningStack, partition: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { status } = await stack.request(`/indexer/partition/${partition}/file/${id}`, {
      method: 'DELETE',
    });
    if (status !== 204) throw new Error(`deleting ${id} answered ${status}`);
  }
}

async function measureCollection(
  stack: RunningStack,
  embedder: string,
  collection: Collection,
): Promise<Row[]> {
  const partition = collection.name.toLowerCase();
  const rows = await measure(stack, partition, embedder, collection);
  const long = LONG[collection.name]?.();
  if (long === undefined) return rows;
  await removeFiles(stack, partition, long.without);
  return [...rows, ...(await measure(stack, partition, embedder, long))];
}

const only = process.env['BENCH_ONLY']?.split(',');
const wanted = process.env['BENCH_EMBEDDERS']?.split(',');
const collections = benchCollections().filter(({ name }) => only?.includes(name) !== false);
const ollama = process.env['OLLAMA_HOST'] ?? '';
const embedders: [string, Record<string, string>][] = [
  [
    'all-minilm',
    { EMBEDDER_PROVIDER: 'ollama', EMBEDDER_BASE_URL: ollama, EMBEDDER_MODEL_NAME: 'all-minilm' },
  ],
  ['builtin', { OLLAMA_HOST: '' }],
];
const rows: Row[] = [];
const notes = [
  'Evaluation runs of each question set, 50 chunks a question; a file stands where its best chunk does. Grades above 0',
  'count alike. Intervals are 95 % percentile bootstraps over questions; differences are paired. The weight that is best',
  'for the questions of even places is measured on those of odd ones, and the other way about.',
  ...(ollama === '' ? ['No Ollama was found, so only the built-in embedder was measured.'] : []),
];

for (const [name, overrides] of embedders) {
  if (wanted?.includes(name) === false || (name !== 'builtin' && ollama === '')) continue;
  const stack = await openBenchStack(overrides);
  try {
    await Promise.all([stack.startGateway(), stack.startWorker()]);
    for (const { name: collection, documents } of collections) {
      const seconds = await indexFiles(stack, collection.toLowerCase(), documents);
      process.stderr.write(`${name}, ${collection}: ${documents.length} files in ${seconds.toFixed(0)} s\n`);
    }
    // A partition has one run at a time; those of several share the cores.
    const measured = await Promise.all(
      collections.map((collection) => measureCollection(stack, name, collection)),
    );
    rows.push(...measured.flat());
    reportBench('retrieval', 'Retrieval on public collections', rows, notes);
  } finally {
    await stack.close();
  }
}
