/**
 * `npm run bench:migration`: how fast the chunks go into an index of the present shape, against a plain scroll-and-bulk
 * of the same index in the same run, and how long a search takes meanwhile.
 */
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import type { MigrationRunBody } from '../../schemas/migrations/migrations-api.js';
import { vectorFieldOf } from '../../schemas/models/endpoint-names.js';
import { askStack } from '../support/ask-stack.js';
import { documentClient } from '../support/document-client.js';
import { createFirstIndex } from '../support/earlier-index.js';
import { until } from '../support/until.js';
import { reportBench } from './bench-report.js';
import { cranfield } from './collection.js';
import { openInstantModelServer } from './instant-model-server.js';
import { openInstantStack } from './open-bench-stack.js';
import { seedChunks } from './seed-chunks.js';

const CHUNKS = Number(process.env['BENCH_CHUNKS'] ?? 20_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 15);
const PARTITION = 'bench';
const EMBEDDER = 'default';
const PAGE = 1_000;
/** Searches begin so far apart, as those of people do: one that waits for the one before measures nothing else. */
const EVERY_MS = 100;

const models = await openInstantModelServer({ dimension: 384 });
const stack = await openInstantStack(models);
const { client, close } = connectOpenSearch({ url: stack.config.opensearch.url });
const index = `${stack.config.opensearch.indexPrefix}chunks-v3`;

/** Every document read by a scroll and written by bulk into an index of the same shape; its seconds. */
async function scrollAndBulk(source: string, shape: string): Promise<number> {
  const target = `${stack.config.opensearch.indexPrefix}plain`;
  const found = await client.request<Record<string, { settings: { index: object }; mappings: object }>>(
    'GET',
    `/${shape}`,
  );
  const { settings, mappings } = Object.values(found)[0]!;
  const own = new Set(['uuid', 'version', 'creation_date', 'provided_name', 'blocks', 'replication']);
  const kept = Object.fromEntries(Object.entries(settings.index).filter(([name]) => !own.has(name)));
  await client.request('PUT', `/${target}`, { body: { settings: { index: kept }, mappings } });
  interface Page {
    _scroll_id: string;
    hits: { hits: { _id: string; _source: object }[] };
  }
  const began = performance.now();
  let page = await client.request<Page>('POST', `/${source}/_search`, {
    query: { scroll: '1m' },
    body: { size: PAGE, sort: ['_doc'] },
  });
  while (page.hits.hits.length > 0) {
    const lines = page.hits.hits.flatMap(({ _id, _source }) => [{ index: { _id } }, _source]);
    const { errors } = await client.request<{ errors: boolean }>('POST', `/${target}/_bulk`, { lines });
    if (errors) throw new Error('a chunk could not be copied');
    page = await client.request<Page>('POST', '/_search/scroll', {
      body: { scroll: '1m', scroll_id: page._scroll_id },
    });
  }
  await client.request('POST', `/${target}/_refresh`);
  const seconds = (performance.now() - began) / 1000;
  await client.request('DELETE', `/${target}`);
  return seconds;
}

/** What was written before is merged behind it, and would take a processor from what is timed. */
async function untilMerged(): Promise<void> {
  interface Stats {
    _all: { total: { merges: { current: number } } };
  }
  const path = `/${stack.config.opensearch.indexPrefix}*/_stats/merge`;
  const merged = async () => (await client.request<Stats>('GET', path))._all.total.merges.current === 0;
  await until('no merge goes on', merged, { withinMs: 120_000, everyMs: 200 });
}

/** A run of the migration, or its rollback; its seconds from the request to its end. */
async function migrate(mode: 'run' | 'rollback'): Promise<{ seconds: number; run: MigrationRunBody }> {
  const began = performance.now();
  const path = '/admin/migrations/vector-store';
  const { status, body } = await askStack(stack, 'POST', path, { mode });
  if (status !== 202) throw new Error(`${mode} answered ${status} ${JSON.stringify(body)}`);
  const run = await until(
    `the ${mode} has ended`,
    async () => {
      const { runs } = (await askStack<{ runs: MigrationRunBody[] }>(stack, 'GET', `${path}/runs`)).body;
      const [latest] = runs;
      return latest?.mode === mode && latest.finished_at !== null && latest;
    },
    { withinMs: 900_000, everyMs: 20 },
  );
  if (run.state !== 'completed') throw new Error(`${mode} ended so: ${JSON.stringify(run)}`);
  return { seconds: (performance.now() - began) / 1000, run };
}

const questions = cranfield().queries.map(({ text }) => text);
let next = 0;

/** Times of searches that begin one after the other as long as `work` goes on, sorted. */
async function searchDuring(work: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  let isOver = false;
  const ended = work().finally(() => (isOver = true));
  const asked: Promise<unknown>[] = [];
  while (!isOver) {
    const from = performance.now();
    const text = questions[next++ % questions.length]!;
    asked.push(
      documentClient(stack)
        .search(`/search/partition/${PARTITION}`, { text })
        .then(({ length }) => {
          if (length === 0) throw new Error(`nothing was found for ${text}`);
          taken.push(performance.now() - from);
        }),
    );
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  await Promise.all([ended, ...asked]);
  return taken.sort((one, other) => one - other);
}

const rows: Record<string, string | number>[] = [];
try {
  await client.request('DELETE', `/${index}`);
  const vectorField = vectorFieldOf(EMBEDDER, 'embed');
  await createFirstIndex(client, index, [{ vectorField, dimension: models.dimension }]);
  await stack.startGateway();
  await stack.adapters.partitions.create({ partition: PARTITION, embedder: EMBEDDER, ownerId: 1 });
  await seedChunks(stack, {
    partition: PARTITION,
    embedderName: EMBEDDER,
    chunks: CHUNKS,
    embed: models.embed,
  });
  await stack.startWorker();
  await searchDuring(() => new Promise((resolve) => setTimeout(resolve, 3_000)));

  await untilMerged();
  const { seconds, run } = await migrate('run');
  await untilMerged();
  const plain = await scrollAndBulk(index, `${stack.config.opensearch.indexPrefix}chunks`);
  await migrate('rollback');
  const alone = await searchDuring(() => new Promise((resolve) => setTimeout(resolve, 1000 * SECONDS)));
  const meanwhile = await searchDuring(() => migrate('run'));

  const rate = (taken: number): string => (CHUNKS / taken).toFixed(0);
  rows.push(
    { what: 'plain scroll-and-bulk, chunks a second', figure: rate(plain) },
    { what: 'migration, chunks a second', figure: rate(seconds) },
    { what: 'its time to that of the plain copy (aim: 1.5 at most)', figure: (seconds / plain).toFixed(2) },
    { what: 'writers waited, ms', figure: run.figures['milliseconds_without_writes'] ?? '' },
  );
  for (const [when, times] of [
    ['before', alone],
    ['meanwhile', meanwhile],
  ] as const)
    rows.push(
      { what: `search p50 ${when}, ms`, figure: percentile(times, 0.5).toFixed(1) },
      {
        what: `search p95 ${when}, ms (${times.length} searches)`,
        figure: percentile(times, 0.95).toFixed(1),
      },
    );
  const slower = percentile(meanwhile, 0.95) / percentile(alone, 0.95);
  rows.push({ what: 'p95 meanwhile to before (aim: 2 at most)', figure: slower.toFixed(2) });
} finally {
  await close();
  await stack.close();
  await models.close();
}
reportBench('migration', `A migration of ${CHUNKS} chunks of ${models.dimension} dimensions`, rows, [
  'The migration: from the request to the end of its run, with its comparisons and the switch. The plain copy: documents read by',
  `a scroll and written by bulk, ${PAGE} at a time, into an index of the same shape, without any check.`,
  `A search begins every ${EVERY_MS} ms through the gateway. Clients, gateway, worker and engines share the machine.`,
]);
