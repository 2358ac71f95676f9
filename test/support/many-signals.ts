import type { CountingCapi } from './counting-capi.js';
import { sampleSignal, signalClient } from './signal-client.js';
import { until } from './until.js';

/** Where signals are pushed to, and how the campaign looks at it. */
export interface SignalsTarget {
  readonly base: string;
  readonly dashboardKey: string;
  readonly capi: CountingCapi;
  /** Bytes of each process; empty where the processes are not the campaign's own. */
  memory(): Record<string, number>;
  /** Stops everything and starts it again; answers the seconds until it is up. */
  restart(): Promise<number>;
}

export interface ManySignalsReport {
  pushed: number;
  perSecond: number;
  /** Pushes that were refused and made again. */
  pushedAgain: number;
  slowestPushMs: number;
  /** The 95th percentile of each question, in milliseconds, at each number of stored alerts. */
  reads: { stored: number; question: string; p95: number }[];
  /** The most that each process was seen to take, in MiB. */
  memoryMiB: Record<string, number>;
  /** Seconds after the last push until CAPI had everything. */
  drainedAfter: number;
  restartSeconds: number;
  faults: string[];
}

const BATCH = 50;
const RUNS = 20;
/** One signal in so many is of a country of its own: the rare filter. */
const RARE_EVERY = 5_003;
const COUNTRIES = ['FR', 'DE', 'US', 'JP', 'BR', 'IN', 'ZA', 'AU'];

/** The questions of a dashboard. */
const QUESTIONS = {
  'first page': '/api/alerts',
  'offset 5,000': '/api/alerts?limit=100&offset=5000',
  'by country and status': '/api/alerts?country=FR&filtered=false',
  'by part of a scenario': '/api/alerts?scenario=scenario-13',
  'by address': '/api/alerts?ip=198.51.7.9',
  rare: '/api/alerts?country=XX',
  'rare, and filtered': '/api/alerts?country=XX&filtered=true',
  statistics: '/api/stats',
  distribution: '/api/stats/distribution?period=7d',
  decisions: '/api/stats/decisions?period=7d',
  'rules and their matches': '/api/filters',
} as const;

/** Each twentieth signal is from a private address, which a shipped rule holds back. */
export function isHeldBack(number: number): boolean {
  return number % 20 === 19;
}

function signalOf(number: number): object {
  const address = isHeldBack(number)
    ? '10.1.2.3'
    : `198.51.${Math.floor(number / 250) % 250}.${number % 250}`;
  const cn = number % RARE_EVERY === 7 ? 'XX' : COUNTRIES[number % COUNTRIES.length];
  return sampleSignal(number, {
    scenario: `crowdsecurity/scenario-${(number * 7) % 40}`,
    machine_id: `agent-${number % 20}`,
    source: { scope: 'Ip', value: address, ip: address, cn },
  });
}

/**
 * Watchers push without a pause until so many signals are accepted, while what is stored is asked for at each of some
 * sizes, and CAPI takes what the rules let through. Then everything is stopped and started again.
 */
export async function pushManySignals(
  target: SignalsTarget,
  { signals, watchers, sizes }: { signals: number; watchers: number; sizes: readonly number[] },
): Promise<ManySignalsReport> {
  const report: ManySignalsReport = {
    pushed: 0,
    perSecond: 0,
    pushedAgain: 0,
    slowestPushMs: 0,
    reads: [],
    memoryMiB: {},
    drainedAfter: 0,
    restartSeconds: 0,
    faults: [],
  };
  const clients = Array.from({ length: watchers }, (_, index) => signalClient(target.base, `many${index}`));
  await Promise.all(clients.map((client) => client.login()));
  const sent = new Map(clients.map((client) => [client.machineId, 0]));
  let seconds = 0;

  const pushUpTo = async (size: number): Promise<void> => {
    const began = performance.now();
    await Promise.all(
      clients.map(async (client) => {
        const share = Math.ceil(size / watchers / BATCH) * BATCH;
        for (let number = sent.get(client.machineId)!; number < share; number += BATCH) {
          const batch = Array.from({ length: BATCH }, (_, item) => signalOf(number + item));
          await pushOnce(client, batch);
          sent.set(client.machineId, number + BATCH);
        }
      }),
    );
    seconds += (performance.now() - began) / 1000;
    report.pushed = [...sent.values()].reduce((sum, count) => sum + count, 0);
  };
  const pushOnce = async (client: (typeof clients)[number], batch: object[]): Promise<void> => {
    for (;;) {
      const from = performance.now();
      const response = await client.push(batch);
      await response.arrayBuffer();
      report.slowestPushMs = Math.max(report.slowestPushMs, Math.round(performance.now() - from));
      if (response.status === 200) return;
      report.pushedAgain += 1;
      if (response.status === 401) await client.login();
    }
  };
  const lookAtMemory = (): void => {
    for (const [name, bytes] of Object.entries(target.memory()))
      report.memoryMiB[name] = Math.max(report.memoryMiB[name] ?? 0, Math.round(bytes / 1024 / 1024));
  };
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(`${target.base}${path}`, { headers: { 'x-api-key': target.dashboardKey } });
    const body = await response.json();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    return body;
  };
  const total = async (): Promise<number> => ((await ask('/api/stats')) as { total: number }).total;
  const passing = (): number => report.pushed - report.pushed / 20;
  const drained = () =>
    until('CAPI has everything', async () => target.capi.received() >= passing(), { withinMs: 1_800_000 });

  const watching = setInterval(lookAtMemory, 2_000);
  try {
    for (const size of sizes.filter((one) => one <= signals)) {
      await pushUpTo(size);
      const from = performance.now();
      await drained();
      report.drainedAfter = Math.round((performance.now() - from) / 1000);
      if ((await total()) !== report.pushed)
        report.faults.push(`${await total()} alerts of ${report.pushed}`);
      for (const [question, path] of Object.entries(QUESTIONS)) {
        const times: number[] = [];
        for (let run = 0; run <= RUNS; run += 1) {
          const began = performance.now();
          await ask(path);
          // The first one is the warm-up.
          if (run > 0) times.push(performance.now() - began);
        }
        times.sort((a, b) => a - b);
        report.reads.push({
          stored: report.pushed,
          question,
          p95: Math.round(times[Math.ceil(RUNS * 0.95) - 1]!),
        });
      }
    }
    report.perSecond = Math.round(report.pushed / seconds);
    lookAtMemory();
    report.restartSeconds = await target.restart();
    if ((await total()) !== report.pushed) report.faults.push(`${await total()} alerts after the restart`);
    const [newest] = (await ask('/api/alerts?limit=1')) as { id: number }[];
    if (newest === undefined) report.faults.push('the list is empty after the restart');
    report.faults.push(...target.capi.faults());
    if (target.capi.received() !== passing())
      report.faults.push(`CAPI has ${target.capi.received()} of ${passing()}`);
    return report;
  } finally {
    clearInterval(watching);
  }
}
