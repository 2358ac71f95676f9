/**
 * `npm run bench:scaling`: what more gateways and workers add on one machine, which also runs engines and clients.
 */
import { mintToken } from '../../deploy/stand-in-capi/stand-in-token.js';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { openFleet } from '../support/fleet.js';
import { sampleSignal } from '../support/signal-client.js';
import { reportBench } from './bench-report.js';
import { askInTurn } from './ask-in-turn.js';
import { cranfield } from './collection.js';
import { indexFiles } from './index-files.js';
import { openInstantModelServer } from './instant-model-server.js';
import { openInstantStack } from './open-bench-stack.js';
import { seedChunks } from './seed-chunks.js';

const LAYOUTS = [
  { gateways: 1, workers: 1 },
  { gateways: 1, workers: 2 },
  { gateways: 1, workers: 4 },
  { gateways: 2, workers: 1 },
  { gateways: 2, workers: 2 },
];
const FILES = Number(process.env['BENCH_FILES'] ?? 300);
const WARM_FILES = 100;
const CHUNKS = Number(process.env['BENCH_CHUNKS'] ?? 10_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10);
const CLIENTS = Number(process.env['BENCH_CLIENTS'] ?? 16);
const SIGNALS = 50;
const SEARCHED = 'searched';

/** So many clients, each asking again when it is answered. @returns answers a second and the 95th percentile in ms */
async function keepAsking(ask: () => Promise<Response>): Promise<{ perSecond: number; p95: number }> {
  const began = performance.now();
  const times = await askInTurn(CLIENTS, SECONDS, async () => {
    const { status } = await ask();
    if (status !== 200) throw new Error(`answered ${status}`);
  });
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  return { perSecond: times.length / seconds, p95: percentile(times, 0.95) };
}

const models = await openInstantModelServer({ dimension: 384 });
const stack = await openInstantStack(models, { FORWARD_ENABLED: 'false' });
const { token } = mintToken('bench');
const questions = cranfield().queries.map(({ text }) => text);

async function measure({ gateways, workers }: (typeof LAYOUTS)[number]): Promise<Record<string, number>> {
  const fleet = await openFleet(stack, { gateways, workers });
  try {
    const { request } = fleet.client();
    const clients = { request, adapters: stack.adapters };
    const name = `g${gateways}w${workers}`;
    const { documents } = cranfield();
    await indexFiles(clients, `warm-${name}`, documents.slice(-WARM_FILES), { clients: CLIENTS });
    const seconds = await indexFiles(clients, name, documents.slice(0, FILES), { clients: CLIENTS });

    let asked = 0;
    const search = (): Promise<Response> => {
      const text = questions[(asked += 1) % questions.length]!;
      return request(`/search/partition/${SEARCHED}?${new URLSearchParams({ text, top_k: '5' }).toString()}`);
    };
    for (let count = 0; count < 50; count += 1) await search();
    const searches = await keepAsking(search);

    let signals = 0;
    const pushes = await keepAsking(() =>
      request('/v3/signals', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(Array.from({ length: SIGNALS }, () => sampleSignal((signals += 1)))),
      }),
    );
    return {
      gateways,
      workers,
      'files a second': Number((FILES / seconds).toFixed(1)),
      'searches a second': Math.round(searches.perSecond),
      'search p95 ms': Math.round(searches.p95),
      'signals a second': Math.round(pushes.perSecond * SIGNALS),
      'push p95 ms': Math.round(pushes.p95),
    };
  } finally {
    await fleet.close();
  }
}

try {
  await stack.adapters.partitions.create({ partition: SEARCHED, embedder: 'default', ownerId: 1 });
  await seedChunks(stack, {
    partition: SEARCHED,
    embedderName: 'default',
    chunks: CHUNKS,
    embed: models.embed,
  });
  const rows: Record<string, number>[] = [];
  for (const layout of LAYOUTS) {
    rows.push(await measure(layout));
    process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
  }
  reportBench('scaling', 'More gateways and workers on one machine', rows, [
    `${CLIENTS} clients for each figure; ${FILES} small files; searches among ${CHUNKS} chunks for ${SECONDS} s; pushes of ${SIGNALS} signals for ${SECONDS} s, not forwarded.`,
    'The model server answers at once, so no model takes of the cores.',
  ]);
} finally {
  await stack.close();
  await models.close();
}
