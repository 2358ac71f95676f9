/** How long dashboards wait for lists and numbers, by how many alerts are stored. */
import { toNewAlert } from '../../activities/signals/reading/to-new-alert.js';
import type { NewAlert } from '../../schemas/signals/signals.js';
import type { RunningStack } from '../support/running-stack.js';
import { sampleSignal } from '../support/signal-client.js';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';

const RUNS = 30;
const BATCH = 1_000;
const DAY_MS = 86_400_000;
const COUNTRIES = ['FR', 'DE', 'US', 'JP', 'BR', 'IN', 'ZA', 'AU', 'CA', 'IT', 'ES', 'PL'];
const DURATIONS = ['59m', '4h', '24h', '168h', '720h'];

/** Spread evenly over the days before `now`; a third filtered, the rest withheld, so that nothing is sent. */
function storedAlert(index: number, of: number, now: number, spanMs: number): NewAlert {
  const address = `198.51.${Math.floor(index / 250) % 250}.${index % 250}`;
  const value = sampleSignal(index, {
    scenario: `crowdsecurity/scenario-${(index * 7) % 40}`,
    machine_id: `agent-${index % 20}`,
    source: { scope: 'Ip', value: address, ip: address, cn: COUNTRIES[index % COUNTRIES.length] },
    decisions: [{ scenario: `crowdsecurity/scenario-${index % 40}`, duration: DURATIONS[index % 5] }],
  });
  const raw = JSON.stringify(value);
  const alert = toNewAlert({
    item: { raw, value, bytes: Buffer.byteLength(raw), problem: null },
    watcher: `bench-${index % 50}`,
    version: 'v3',
    rules: [],
    mode: 'block',
    forwarding: false,
    receivedAt: new Date(now - spanMs + Math.floor((index / of) * spanMs)),
  });
  return index % 3 === 0 ? { ...alert, state: 'filtered' } : alert;
}

const QUESTIONS = [
  '/api/alerts',
  '/api/alerts?limit=1000',
  '/api/alerts?limit=100&offset=5000',
  '/api/alerts?scenario=scenario-13',
  '/api/alerts?country=FR&filtered=true',
  '/api/alerts?ip=198.51.7.9',
  '/api/stats',
  '/api/stats/distribution',
  '/api/stats/distribution?period=all',
  '/api/stats/decisions?period=7d',
];

/**
 * Fills the store up to each size in turn, over so many days, and asks. Ids of the alerts that are there already are
 * not looked at. Few days make full hours: there the hours have all the names that there are at the least of the sizes.
 */
export async function measureReads(
  stack: RunningStack,
  sizes: readonly number[],
  days: number,
): Promise<Record<string, string | number>[]> {
  const { alerts, statistics } = stack.adapters.proxy!;
  const key = stack.config.proxy.dashboardApiKey!;
  const ask = async (path: string): Promise<number> => {
    const from = performance.now();
    const response = await fetch(`${stack.base}${path}`, { headers: { 'x-api-key': key } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    return performance.now() - from;
  };
  const rows: Record<string, string | number>[] = [];
  const row = (stored: number, question: string, times: number[]): void => {
    times.sort((one, other) => one - other);
    rows.push({
      days,
      'alerts stored': stored,
      question,
      'p50 ms': Math.round(percentile(times, 0.5)),
      'p95 ms': Math.round(percentile(times, 0.95)),
      'worst ms': Math.round(times.at(-1) ?? NaN),
    });
  };

  let there = 0;
  for (const size of sizes) {
    const now = Date.now();
    for (; there < size; there += BATCH)
      await alerts.insert(
        // Each size has its own spread: what is added lies between what is there.
        Array.from({ length: Math.min(BATCH, size - there) }, (_, index) =>
          storedAlert(there + index, size, now, days * DAY_MS),
        ),
      );
    const from = performance.now();
    while ((await statistics.recompute(10_000)).left) continue;
    row(size, `counting every hour that changed (${days * 24} at most), once`, [performance.now() - from]);
    for (const question of QUESTIONS) {
      await ask(question);
      const times: number[] = [];
      for (let run = 0; run < RUNS; run += 1) times.push(await ask(question));
      row(size, question, times);
    }
    const afterPush: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      await alerts.insert([storedAlert(size + run, size + run, Date.now(), days * DAY_MS)]);
      afterPush.push(await ask('/api/stats'));
    }
    row(size, '/api/stats right after a push', afterPush);
  }
  return rows;
}
