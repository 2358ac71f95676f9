/**
 * `npm run bench:partitions`: how long a search of one partition takes, through the gateway, while others grow beside
 * it. `BENCH_SHARDS` shards (1 unless set), `BENCH_TOTALS` chunks in all (`100000,1000000`): half an hour, and 10 GB of
 * disk.
 */
import { Agent, request } from 'undici';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { askInTurn } from './ask-in-turn.js';
import { reportBench } from './bench-report.js';
import { cranfield, piaf } from './collection.js';
import { openInstantModelServer } from './instant-model-server.js';
import { openInstantStack } from './open-bench-stack.js';
import { seedChunks } from './seed-chunks.js';

const SHARDS = process.env['BENCH_SHARDS'] ?? '1';
const TOTALS = (process.env['BENCH_TOTALS'] ?? '100000,1000000').split(',').map(Number);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 20);
const CHUNKS_PER_PARTITION = 10_000;
const SEEDERS = 3;
const EMBEDDER = 'default';

const agent = new Agent({ connections: 16 });
const models = await openInstantModelServer({ dimension: 384 });
const stack = await openInstantStack(models, { OPENSEARCH_INDEX_SHARDS: SHARDS });
const rows: Record<string, string | number>[] = [];
const texts = [...cranfield().queries, ...piaf().queries].map(({ text }) => text);

async function seed(partition: string): Promise<void> {
  await stack.adapters.partitions.create({ partition, embedder: EMBEDDER, ownerId: 1 });
  const { embed } = models;
  await seedChunks(stack, { partition, embedderName: EMBEDDER, chunks: CHUNKS_PER_PARTITION, embed });
}

let next = 0;
async function ask(): Promise<void> {
  const query = new URLSearchParams({ text: texts[next++ % texts.length]! }).toString();
  const { statusCode, body } = await request(`${stack.base}/search/partition/part-0?${query}`, {
    dispatcher: agent,
    headers: { authorization: `Bearer ${stack.token}` },
  });
  const { documents } = (await body.json()) as { documents: unknown[] };
  if (statusCode !== 200 || documents.length === 0) throw new Error(`search answered ${statusCode}`);
}

try {
  await stack.startGateway();
  const index = `${stack.config.opensearch.indexPrefix}chunks`;
  let seeded = 0;
  for (const total of TOTALS) {
    const began = performance.now();
    const seedNext = async (): Promise<void> => {
      while (seeded * CHUNKS_PER_PARTITION < total) await seed(`part-${seeded++}`);
    };
    await Promise.all(Array.from({ length: SEEDERS }, seedNext));
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stderr.write(`${total} chunks after ${seconds} s\n`);
    // What a night without writes leaves: the merges of the seeding are not the searches' cost.
    const url = `${stack.config.opensearch.url}/${index}/_forcemerge?max_num_segments=5`;
    const merged = await request(url, { method: 'POST', headersTimeout: 0, bodyTimeout: 0 });
    await merged.body.dump();
    for (let warm = 0; warm < 200; warm += 1) await ask();
    const row: Record<string, string | number> = { chunks: total, shards: SHARDS };
    for (const clients of [1, 4]) {
      const taken = (await askInTurn(clients, SECONDS, ask)).sort((one, other) => one - other);
      row[`p50 ms, ${clients} clients`] = percentile(taken, 0.5).toFixed(1);
      row[`p95 ms, ${clients} clients`] = percentile(taken, 0.95).toFixed(1);
    }
    rows.push(row);
    process.stderr.write(`${JSON.stringify(row)}\n`);
  }
} finally {
  await stack.close();
  await agent.close();
  await models.close();
}
reportBench('partitions', `Searches of a partition of ${CHUNKS_PER_PARTITION} chunks beside others`, rows, [
  'Chunks of 60 words, vectors of 384 dimensions, segments merged to five a shard before the searches.',
]);
