import type { PushRecord } from '../../deploy/stand-in-capi/push-log.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import type { RunningStack } from './running-stack.js';
import { sampleSignal, signalClient } from './signal-client.js';
import { until } from './until.js';

const BATCH = 50;
/** What a LAPI pushes at a time while another one's backlog drains. */
const STEADY_ITEMS = 10;
const STEADY_EVERY_MS = 100;

export interface DrainReport {
  watchers: number;
  signals: number;
  /** From the first batch that CAPI took to the last one. */
  signalsASecond: number;
  /** How long steady pushes waited for their answer: before the backlog moved, and while it did. */
  pushMs: { before: PushTimes; meanwhile: PushTimes };
  faults: string[];
}

interface PushTimes {
  pushes: number;
  p50: number;
  p95: number;
  p99: number;
}

interface Target {
  stack: RunningStack;
  standIn: StandInCapi;
  watchers: number;
  signals: number;
}

/**
 * Fills the queues of paused watchers, lets them go at once, and measures how fast CAPI gets what waits, beside a
 * watcher that pushes all the time. What arrives is compared with what was pushed: everything once and in order.
 */
export async function runDrain({ stack, standIn, watchers, signals }: Target): Promise<DrainReport> {
  const names = Array.from({ length: watchers }, (_, index) => `drain${watchers}of${index}`);
  const now = new Date();
  const { proxy } = stack.adapters;
  if (proxy === null) throw new Error('the proxy is off');
  await Promise.all(names.map((name) => proxy.watchers.setPaused(name, now)));
  const pushed = await fill(stack, names, signals);
  const steady = await steadyPushes(stack, `steady${watchers}`);
  const before = await steady.measureUntil(() => new Promise((resolve) => setTimeout(resolve, 10_000)));
  await Promise.all(names.map((name) => resume(stack, name)));
  const taken = (watcher: string): PushRecord[] => standIn.received(watcher);
  const arrived = (watcher: string): string[] =>
    taken(watcher).flatMap(({ items }) => items.map((item) => (item as { uuid: string }).uuid));
  const meanwhile = await steady.measureUntil(() =>
    until(
      'everything has arrived',
      async () => [...pushed].every(([watcher, uuids]) => arrived(watcher).length >= uuids.length),
      { withinMs: 15 * 60_000, everyMs: 200 },
    ),
  );
  const times = [...pushed.keys()].flatMap((watcher) => taken(watcher).map(({ at }) => Date.parse(at)));
  const seconds = (Math.max(...times) - Math.min(...times)) / 1000;
  return {
    watchers,
    signals,
    signalsASecond: Math.round(signals / seconds),
    pushMs: { before, meanwhile },
    faults: [...pushed].flatMap(([watcher, uuids]) =>
      arrived(watcher).join() === uuids.join()
        ? []
        : [`${watcher}: not what was pushed, or not in its order`],
    ),
  };
}

async function resume(stack: RunningStack, watcher: string): Promise<void> {
  const headers = { 'x-api-key': stack.config.proxy.dashboardApiKey ?? '' };
  const response = await stack.request(`/api/forwarding/${watcher}/resume`, { method: 'POST', headers });
  if (response.status !== 200) throw new Error(`resuming was answered ${response.status}`);
}

/** Pushes so many signals over all watchers; answers the uuids of each, in order. */
async function fill(stack: RunningStack, names: string[], signals: number): Promise<Map<string, string[]>> {
  const each = Math.ceil(signals / names.length / BATCH) * BATCH;
  const pushed = new Map(names.map((name) => [name, [] as string[]]));
  const rest = [...names];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
        const client = signalClient(stack.base, name);
        await client.login();
        for (let index = 0; index < each; index += BATCH) {
          const batch = Array.from({ length: BATCH }, (_, item) => sampleSignal(index + item));
          const response = await client.push(batch);
          await response.arrayBuffer();
          if (response.status !== 200) throw new Error(`a push was answered ${response.status}`);
          pushed.get(name)!.push(...batch.map(({ uuid }) => uuid));
        }
      }
    }),
  );
  return pushed;
}

async function steadyPushes(stack: RunningStack, name: string) {
  const client = signalClient(stack.base, name);
  await client.login();
  const push = async (): Promise<number> => {
    const from = performance.now();
    const batch = Array.from({ length: STEADY_ITEMS }, (_, item) => sampleSignal(item));
    const response = await client.push(batch);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`a steady push was answered ${response.status}`);
    return performance.now() - from;
  };
  return {
    /** How long pushes at a steady rate take until the work is done. */
    async measureUntil(work: () => Promise<unknown>): Promise<PushTimes> {
      const pushes: Promise<number>[] = [];
      const timer = setInterval(() => pushes.push(push()), STEADY_EVERY_MS);
      try {
        await work();
      } finally {
        clearInterval(timer);
      }
      const times = (await Promise.all(pushes)).sort((one, other) => one - other);
      const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => Math.round(percentile(times, share)));
      return { pushes: times.length, p50: p50!, p95: p95!, p99: p99! };
    },
  };
}
