/** `npm run bench:proxy`: accepted signals per second, and how long a push waits for its answer. */
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { openStack } from '../support/running-stack.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { percentile, reportBench } from './bench-report.js';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 15);
const BATCH = 50;

const standIn = await createStandInCapi();
const stack = await openStack({ CAPI_URL: standIn.url });
const rows: Record<string, string | number>[] = [];
try {
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  for (const watchers of [1, 10, 100]) {
    const clients = Array.from({ length: watchers }, (_, index) =>
      signalClient(stack.base, `bench${watchers}watcher${index}`),
    );
    await Promise.all(clients.map((client) => client.login()));
    const times: number[] = [];
    let accepted = 0;
    let refused = 0;
    const began = performance.now();
    const until = began + SECONDS * 1000;
    await Promise.all(
      clients.map(async (client) => {
        for (let index = 0; performance.now() < until; index += BATCH) {
          const batch = Array.from({ length: BATCH }, (_, item) => sampleSignal(index + item));
          const from = performance.now();
          const response = await client.push(batch);
          await response.arrayBuffer();
          times.push(performance.now() - from);
          if (response.status === 200) accepted += BATCH;
          else refused += BATCH;
        }
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    times.sort((one, other) => one - other);
    rows.push({
      watchers,
      'signals a second': Math.round(accepted / seconds),
      'p50 ms': Math.round(percentile(times, 0.5)),
      'p95 ms': Math.round(percentile(times, 0.95)),
      'p99 ms': Math.round(percentile(times, 0.99)),
      pushes: times.length,
      'not accepted': refused,
    });
  }
} finally {
  await stack.close();
  await standIn.close();
}
reportBench('proxy', `Pushes of ${BATCH} signals through the gateway, ${SECONDS} s each`, rows, [
  'Client, gateway, worker, Temporal, MongoDB and the stand-in of CAPI share the machine, and the worker forwards',
  'while the pushes come in. Where no real MongoDB is found the store is the stand-in of `deploy/java/`.',
]);
