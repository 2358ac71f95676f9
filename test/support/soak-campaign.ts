import { readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { processMemory } from '../../activities/documents/parsing/process-memory.js';
import { changingFiles, chatFault } from './changing-files.js';
import { createCountingCapi, forwardingFaults } from './counting-capi.js';
import { documentClient } from './document-client.js';
import { footprint } from './footprint.js';
import { freePort } from './free-port.js';
import { generatedText } from './generated-text.js';
import { inspectable } from './inspector.js';
import { liveHeapMb } from './live-heap.js';
import { residentBytes } from './peak-memory.js';
import { remainingDrift } from './remaining-drift.js';
import { openStack } from './running-stack.js';
import type { RunningStack } from './running-stack.js';
import { sampleSignal, signalClient } from './signal-client.js';
import { until } from './until.js';

const PARTITION = 'mills';
const SIGNALS = 10;
/** Records that are kept of what was done, and the counts of alerts: retention removes them, by the day. */
const KEPT: ReadonlySet<string> = new Set(['tasks', 'alerts', 'alert_counts']);
/** Of counters, marks and the like there are some whatever was done. */
const SOME = 20;
/** Sockets that are kept open for the next request come and go. */
const SPARE_HANDLES = 15;

const MIB = 2 ** 20;

/** Resident memory in MiB at a moment. */
export interface SoakSample {
  second: number;
  gateway: number;
  worker: number;
  parsers: number;
}

export interface LiveSample {
  second: number;
  gateway: number;
  worker: number;
}

export interface SoakReport {
  seconds: number;
  searches: number;
  chats: number;
  changes: number;
  signals: number;
  samples: SoakSample[];
  /** Heap and buffers outside of it after a full collection. */
  live: LiveSample[];
  handles: Record<'gateway' | 'worker', { before: number; after: number }>;
  /** Records by collection that there are more of than before, without those that are kept of what was done. */
  left: Record<string, number>;
  faults: string[];
}

/**
 * Searches, chats, changes of files and pushed signals for so long, at a pace that leaves the machine some time; what
 * gateway, worker and parsers hold meanwhile, and what is left when all of it was deleted.
 */
export async function soak(options: {
  seconds: number;
  everySeconds: number;
  liveEverySeconds: number;
}): Promise<SoakReport> {
  const capi = await createCountingCapi(() => false);
  const stack = await openStack({ CAPI_URL: capi.url });
  try {
    return await drive(stack, capi, options);
  } finally {
    await stack.close();
    await capi.close();
  }
}

/** Files, sockets and pipes that a process holds open. */
async function openHandles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

type Capi = Awaited<ReturnType<typeof createCountingCapi>>;

async function drive(
  stack: RunningStack,
  capi: Capi,
  { seconds, everySeconds, liveEverySeconds }: Parameters<typeof soak>[0],
): Promise<SoakReport> {
  const ports = { gateway: await freePort(), worker: await freePort() };
  await Promise.all([
    stack.startGateway(inspectable(ports.gateway)),
    stack.startWorker(inspectable(ports.worker)),
  ]);
  const pids = { gateway: stack.gatewayPid(), worker: stack.workerPid() };
  const load = await openLoad(stack);
  await load.once();
  const settled = async () => ({
    records: await footprint(stack),
    gateway: await openHandles(pids.gateway),
    worker: await openHandles(pids.worker),
  });
  const before = await settled();

  const samples: SoakSample[] = [];
  const live: LiveSample[] = [];
  const running = load.start();
  const began = performance.now();
  const elapsed = (): number => Math.round((performance.now() - began) / 1000);
  for (let sample = 0; elapsed() < seconds; sample += 1) {
    await pause(Math.max(0, began + sample * everySeconds * 1000 - performance.now()));
    const [gateway, worker] = await Promise.all([pids.gateway, pids.worker].map(residentBytes));
    const withParsers = (await processMemory(pids.worker)) ?? worker!;
    samples.push({
      second: elapsed(),
      gateway: gateway! / MIB,
      worker: worker! / MIB,
      parsers: Math.max(0, withParsers - worker!) / MIB,
    });
    if (elapsed() >= live.length * liveEverySeconds)
      live.push({
        second: elapsed(),
        gateway: await liveHeapMb(pids.gateway, ports.gateway),
        worker: await liveHeapMb(pids.worker, ports.worker),
      });
  }
  await running.stop();

  const { report } = load;
  const { faults } = report;
  faults.push(...(await forwardingFaults(capi, report.signals)));
  await load.clear();
  for (const drift of await remainingDrift(stack)) faults.push(JSON.stringify(drift));

  const surplus = (records: Record<string, number>): Record<string, number> =>
    Object.fromEntries(
      Object.entries(records)
        .map(([name, count]): [string, number] => [name, count - (before.records[name] ?? 0)])
        .filter(([name, more]) => more > SOME && !KEPT.has(name)),
    );
  let after = await settled();
  await until(
    'what was opened is closed, and what was written is removed',
    async () => {
      after = await settled();
      return (
        after.gateway <= before.gateway + SPARE_HANDLES &&
        after.worker <= before.worker + SPARE_HANDLES &&
        Object.keys(surplus(after.records)).length === 0
      );
    },
    { withinMs: 120_000, everyMs: 2_000 },
  ).catch((error: unknown) => faults.push(String(error)));
  return {
    ...report,
    seconds: elapsed(),
    samples,
    live,
    handles: {
      gateway: { before: before.gateway, after: after.gateway },
      worker: { before: before.worker, after: after.worker },
    },
    left: surplus(after.records),
  };
}

async function openLoad(stack: RunningStack) {
  const report = { searches: 0, chats: 0, changes: 0, signals: 0, faults: [] as string[] };
  const { faults } = report;
  const documents = documentClient(stack);
  const files = changingFiles(
    { request: stack.request, repeated: () => 0 },
    { partition: PARTITION, faults },
  );
  const lapi = signalClient(stack.base, 'soak-lapi');
  await lapi.login();
  await stack.request(`/partition/${PARTITION}`, { method: 'POST' });
  const url = await documents.upload(
    'POST',
    PARTITION,
    'fixed',
    `The keeper of the tide mill. ${generatedText(1, 20)}`,
    'fixed.txt',
  );
  await documents.ended(url, 120_000);

  const works: { work: () => Promise<void>; pauseMs: number }[] = [
    {
      pauseMs: 200,
      async work() {
        const found = await documents.search(`/search/partition/${PARTITION}`, { text: 'tide mill keeper' });
        if (found.length === 0) faults.push('a search found nothing');
        report.searches += 1;
      },
    },
    {
      pauseMs: 500,
      async work() {
        const fault = await chatFault(stack, PARTITION, 'Who keeps the tide mill?');
        if (fault !== null) faults.push(fault);
        report.chats += 1;
      },
    },
    { pauseMs: 100, work: () => files.change() },
    {
      pauseMs: 250,
      async work() {
        const signals = Array.from({ length: SIGNALS }, (_, index) => sampleSignal(report.signals + index));
        const response = await lapi.push(signals);
        if (response.status === 200) report.signals += SIGNALS;
        else faults.push(`a push answered ${response.status} ${await response.text()}`);
      },
    },
  ];
  return {
    report,
    async once(): Promise<void> {
      for (const { work } of works) await work();
    },
    start() {
      let going = true;
      const loops = works.map(async ({ work, pauseMs }) => {
        while (going) {
          await work().catch((error: unknown) => faults.push(String(error)));
          await pause(pauseMs);
        }
      });
      return {
        async stop(): Promise<void> {
          going = false;
          await Promise.all(loops);
          report.changes = files.count();
        },
      };
    },
    async clear(): Promise<void> {
      await files.verify();
      await files.clear();
    },
  };
}
