/**
 * `npm run bench:profile`: where the main threads of gateway and worker spend their time while texts are indexed,
 * searched, asked in a chat and signals are pushed: self time by part, from V8's sampling profiler. Models answer at
 * once, so that what is seen is our own. Not seen are the worker's threads for workflows and Temporal's native core.
 */
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { documentClient } from '../support/document-client.js';
import { freePort } from '../support/free-port.js';
import { inspectable, openInspector } from '../support/inspector.js';
import type { Inspector } from '../support/inspector.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { reportBench } from './bench-report.js';
import { cranfield } from './collection.js';
import { inParallel, uploadAndWait } from './clients.js';
import { openInstantModelServer } from './instant-model-server.js';
import { openInstantStack } from './open-bench-stack.js';
import { summarizeProfile } from './summarize-profile.js';
import type { CpuProfile } from './summarize-profile.js';

const PARTITION = 'bench';
const SIGNALS = 50;
const INTERVAL_MICROSECONDS = 200;

interface Work {
  name: string;
  unit: string;
  clients: number;
  /** Done before, unmeasured. */
  warm: number;
  count: number;
  once(index: number): Promise<void>;
}

// In the build each process is one file with its packages; from the sources each part has an address of its own.
delete process.env['TAMIS_TEST_BUILD'];

const { documents, queries } = cranfield();
const models = await openInstantModelServer({ dimension: 384 });
const capi = await createStandInCapi();
const ports = { gateway: await freePort(), worker: await freePort() };
const stack = await openInstantStack(models, {
  LLM_PROVIDER: 'openai',
  BASE_URL: models.url,
  MODEL: 'chat',
  CAPI_URL: capi.url,
});
const documentsOf = documentClient(stack);
const watchers = Array.from({ length: 4 }, (_, place) => signalClient(stack.base, `profile${place}watcher`));

function numbers(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => from + place);
}

async function answered(response: Response): Promise<void> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 300)}`);
}

const WORKS: readonly Work[] = [
  {
    name: 'indexing',
    unit: 'file',
    clients: 8,
    warm: 60,
    count: 240,
    async once(index) {
      const { id, content, filename } = documents[index]!;
      await uploadAndWait(documentsOf, PARTITION, { id, filename, content });
    },
  },
  {
    name: 'search',
    unit: 'search',
    clients: 4,
    warm: 400,
    count: 400,
    once: async (index) =>
      answered(
        await stack.request(
          `/search/partition/${PARTITION}?${new URLSearchParams({ text: question(index), top_k: '10' }).toString()}`,
        ),
      ),
  },
  {
    name: 'chat',
    unit: 'chat',
    clients: 4,
    warm: 100,
    count: 200,
    once: async (index) =>
      answered(
        await stack.request('/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            model: `rag-${PARTITION}`,
            stream: true,
            messages: [{ role: 'user', content: question(index) }],
          }),
        }),
      ),
  },
  {
    name: 'push',
    unit: `push of ${SIGNALS} signals`,
    clients: watchers.length,
    warm: 80,
    count: 240,
    async once(index) {
      const signals = Array.from({ length: SIGNALS }, (_, place) => sampleSignal(index * SIGNALS + place));
      await answered(await watchers[index % watchers.length]!.push(signals));
    },
  },
];

/** Each another one: words of two questions. */
function question(index: number): string {
  const [one, other] = [queries[index % queries.length]!, queries[(index * 7 + 3) % queries.length]!];
  return [...one.text.split(' ').slice(0, 6), ...other.text.split(' ').slice(-4)].join(' ');
}

async function profiled(inspectors: readonly Inspector[], work: () => Promise<void>): Promise<CpuProfile[]> {
  await Promise.all(
    inspectors.map(async ({ ask }) => {
      await ask('Profiler.enable');
      await ask('Profiler.setSamplingInterval', { interval: INTERVAL_MICROSECONDS });
      await ask('Profiler.start');
    }),
  );
  await work();
  return Promise.all(
    inspectors.map(async ({ ask }) => (await ask<{ profile: CpuProfile }>('Profiler.stop')).profile),
  );
}

function sumOf(values: Iterable<number>): number {
  return [...values].reduce((sum, value) => sum + value, 0);
}

const columns = new Map<string, Map<string, number>>();
try {
  await Promise.all([
    stack.startGateway(inspectable(ports.gateway)),
    stack.startWorker(inspectable(ports.worker)),
  ]);
  await stack.request(`/partition/${PARTITION}`, { method: 'POST' });
  await Promise.all(watchers.map((watcher) => watcher.login()));
  const inspectors = [
    await openInspector(stack.gatewayPid(), ports.gateway),
    await openInspector(stack.workerPid(), ports.worker),
  ];
  for (const work of WORKS) {
    await inParallel(work.clients, numbers(0, work.warm), work.once);
    const profiles = await profiled(inspectors, () =>
      inParallel(work.clients, numbers(work.warm, work.count), work.once),
    );
    for (const [place, profile] of profiles.entries()) {
      const spent = summarizeProfile(profile);
      const each = new Map([...spent].map(([part, ms]) => [part, ms / work.count]));
      columns.set(`${work.name}, ${place === 0 ? 'gateway' : 'worker'}`, each);
    }
  }
  for (const inspector of inspectors) inspector.close();
} finally {
  await stack.close();
  await models.close();
  await capi.close();
}

// A worker has no part in a search or a chat.
const shown = [...columns].filter(([, parts]) => sumOf(parts.values()) >= 0.5);
const parts = [...new Set(shown.flatMap(([, of]) => [...of.keys()]))].sort(
  (one, other) =>
    sumOf(shown.map(([, of]) => of.get(other) ?? 0)) - sumOf(shown.map(([, of]) => of.get(one) ?? 0)),
);

function rowOf(name: string, ms: (of: Map<string, number>) => number): Record<string, string> {
  return {
    'ms of': name,
    ...Object.fromEntries(shown.map(([column, of]) => [column, ms(of).toFixed(2)])),
  };
}

reportBench(
  'profile',
  'Where the main threads spend their time',
  [...parts.map((part) => rowOf(part, (of) => of.get(part) ?? 0)), rowOf('all', (of) => sumOf(of.values()))],
  [
    `Milliseconds for each ${WORKS.map(({ unit }) => unit).join(', ')}, by self time in samples every`,
    `${INTERVAL_MICROSECONDS} µs; ${WORKS.map(({ name, clients, count }) => `${count} × ${name} by ${clients} clients`).join(', ')}, each`,
    'after some that are not counted. Workflows and the native core of Temporal run in other threads of the worker.',
  ],
);
