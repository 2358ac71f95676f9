/**
 * `npm run bench:proxy`: accepted signals per second, how long a push waits for its answer and what a signal costs of
 * processor time, then how long dashboards wait for lists and statistics at 10,000 and 50,000 stored alerts. After
 * `--`: `--pushes` and `--reads` measure one part alone, `--stored=10000` other numbers of alerts, `--days=7` other
 * spans of time, `--million` a million as well, where MONGODB_URL names a real server.
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { openBenchStack } from './open-bench-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { reportBench } from './bench-report.js';
import { processorTime, timeOfEach } from './processor-time.js';
import { measureReads } from './stored-reads.js';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 15);
const BATCH = 50;

const { values } = parseArgs({
  options: {
    reads: { type: 'boolean', default: false },
    stored: { type: 'string', default: '10000,50000' },
    days: { type: 'string', default: '30,3' },
    million: { type: 'boolean', default: false },
    pushes: { type: 'boolean', default: false },
  },
});

/** FerretDB answers with the version of MongoDB that it is like, and with its own beside it. */
async function describeStore(url: string): Promise<string> {
  const client = new MongoClient(url);
  try {
    const { version, ferretdb } = (await client.db('admin').command({ buildInfo: 1 })) as {
      version: string;
      ferretdb?: { version: string };
    };
    return ferretdb === undefined ? `MongoDB ${version}` : `FerretDB ${ferretdb.version}`;
  } finally {
    await client.close();
  }
}

async function measurePushes(stack: RunningStack): Promise<Record<string, string | number>[]> {
  const rows: Record<string, string | number>[] = [];
  for (const watchers of [1, 10, 100]) {
    const clients = Array.from({ length: watchers }, (_, index) =>
      signalClient(stack.base, `bench${watchers}watcher${index}`),
    );
    await Promise.all(clients.map((client) => client.login()));
    const times: number[] = [];
    let accepted = 0;
    let refused = 0;
    const before = processorTime(stack);
    const began = performance.now();
    const until = began + SECONDS * 1000;
    await Promise.all(
      clients.map(async (client) => {
        for (let index = 0; performance.now() < until; index += BATCH) {
          const batch = Array.from({ length: BATCH }, (_, item) => sampleSignal(index + item));
          const from = performance.now();
          const response = await client.push(batch);
          await response.arrayBuffer();
          if (response.status === 200) {
            accepted += BATCH;
            times.push(performance.now() - from);
          } else {
            refused += 1;
            // As a LAPI does: it keeps the signals and comes again.
            await setTimeout(1000 * Number(response.headers.get('Retry-After') ?? 1));
          }
        }
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    const processor = [...timeOfEach(before, processorTime(stack), accepted)];
    times.sort((one, other) => one - other);
    rows.push({
      watchers,
      'signals a second': Math.round(accepted / seconds),
      'p50 ms': Math.round(percentile(times, 0.5)),
      'p95 ms': Math.round(percentile(times, 0.95)),
      'p99 ms': Math.round(percentile(times, 0.99)),
      'pushes accepted': times.length,
      'refused, to come again': refused,
      ...Object.fromEntries(processor.map(([part, ms]) => [`${part} ms a signal`, ms.toFixed(2)])),
    });
  }
  return rows;
}

async function withStack<T>(measure: (stack: RunningStack) => Promise<T>): Promise<T> {
  const standIn = await createStandInCapi();
  const stack = await openBenchStack({ CAPI_URL: standIn.url });
  try {
    await Promise.all([stack.startGateway(), stack.startWorker()]);
    return await measure(stack);
  } finally {
    await stack.close();
    await standIn.close();
  }
}

const sizes = values.stored.split(',').map(Number);
const store = await describeStore(process.env['MONGODB_URL'] ?? 'mongodb://127.0.0.1:27017');
if (values.million) sizes.push(1_000_000);

if (!values.reads)
  reportBench(
    'proxy',
    `Pushes of ${BATCH} signals through the gateway, ${SECONDS} s each`,
    await withStack(measurePushes),
    [
      'Client, gateway, worker, Temporal, MongoDB and the stand-in of CAPI share the machine, and the worker forwards',
      `while the pushes come in. The store is ${store}.`,
    ],
  );

const reads = [];
for (const days of values.pushes ? [] : values.days.split(',').map(Number))
  reads.push(...(await withStack((stack) => measureReads(stack, sizes, days))));
if (reads.length > 0)
  reportBench(
    'proxy-reads',
    'Lists and statistics of the management API, asked 30 times one after the other',
    reads,
    [
      `The store is ${store}. The alerts are spread evenly over the days; client,`,
      'gateway, worker and every service share the machine. Of few alerts over many days an hour has fewer than there are names,',
      'so the records of the hours grow with more; over few days all are in each hour from the start.',
    ],
  );
