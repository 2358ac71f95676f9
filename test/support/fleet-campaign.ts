import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { changingFiles, chatFault } from './changing-files.js';
import { documentClient } from './document-client.js';
import { openFleet } from './fleet.js';
import { generatedText } from './generated-text.js';
import { sweptUp } from './kill-tools.js';
import { openStack } from './running-stack.js';
import { sampleSignal } from './signal-client.js';
import { until } from './until.js';

const PARTITION = 'mills';
const SIGNALS = 10;

export interface FleetReport {
  seconds: number;
  kills: string[];
  searches: number;
  chats: number;
  changes: number;
  signals: number;
  /** What the central API got more than once: the worker was killed before it could write down the answer. */
  signalsTwice: number;
  repeated: { all: number; refused: number };
  faults: string[];
}

/**
 * Two gateways and three workers under searches, chats, uploads, replacements, deletions and pushed signals, while one
 * of the five is killed every so often and started anew: nothing that was answered is lost or answered wrongly.
 */
export async function killFleet(size: { kills: number; everyMs: number }): Promise<FleetReport> {
  const capi = await createStandInCapi();
  const stack = await openStack({ CAPI_URL: `${capi.url}/` });
  const fleet = await openFleet(stack, { gateways: 2, workers: 3 });
  const report: FleetReport = {
    seconds: 0,
    kills: [],
    searches: 0,
    chats: 0,
    changes: 0,
    signals: 0,
    signalsTwice: 0,
    repeated: { all: 0, refused: 0 },
    faults: [],
  };
  const { faults } = report;
  try {
    let loading = true;
    const load = (what: string, work: () => Promise<void>): Promise<void> =>
      (async () => {
        while (loading) await work().catch((error: unknown) => faults.push(`${what}: ${String(error)}`));
      })();

    const first = fleet.client();
    const documents = documentClient(first);
    for (const partition of [PARTITION, 'left', 'right'])
      await first.request(`/partition/${partition}`, { method: 'POST' });
    for (let file = 0; file < 6; file += 1) {
      const text = `The keeper of the tide mill, number ${file}. ${generatedText(file, 10)}`;
      const url = await documents.upload('POST', PARTITION, `fixed-${file}`, text, `fixed-${file}.txt`);
      await documents.ended(url, 300_000);
    }

    const searching = fleet.client();
    const search = async (): Promise<void> => {
      const response = await searching.request(
        `/search/partition/${PARTITION}?text=tide+mill+keeper&top_k=3`,
      );
      const body = await response.text();
      if (response.status !== 200 || !body.includes('fixed-'))
        faults.push(`a search answered ${response.status} ${body.slice(0, 200)}`);
      report.searches += 1;
    };
    const chatting = fleet.client();
    const chat = async (): Promise<void> => {
      const fault = await chatFault(chatting, PARTITION, 'Who keeps the tide mill?');
      if (fault !== null) faults.push(fault);
      report.chats += 1;
    };
    // Each in a partition of its own: both write the same texts, which one partition takes once.
    const writers = ['left', 'right'].map((partition) =>
      changingFiles(fleet.client(), { partition, faults }),
    );
    const pushing = fleet.client();
    const pushed = new Set<string>();
    const login = await pushing.request('/v3/watchers/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'crowdsec/1.7.8-linux' },
      body: JSON.stringify({ machine_id: 'fleetwatcher', password: 'a-password', scenarios: [] }),
    });
    const { token } = (await login.json()) as { token: string };
    const push = async (): Promise<void> => {
      const signals = Array.from({ length: SIGNALS }, (_, index) => sampleSignal(report.signals + index));
      const response = await pushing.request('/v3/signals', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'crowdsec/1.7.8-linux',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify(signals),
      });
      if (response.status === 200) for (const { uuid } of signals) pushed.add(uuid);
      else faults.push(`a push answered ${response.status} ${(await response.text()).slice(0, 200)}`);
      report.signals += SIGNALS;
      await new Promise((resolve) => setTimeout(resolve, 200));
    };
    const running = Promise.all([
      load('a search', search),
      load('a chat', chat),
      ...writers.map((files) => load('a change', files.change)),
      load('a push', push),
    ]);

    const began = performance.now();
    // A worker, a gateway, a worker, …: each of the five comes up again and again.
    const order = ['worker 1', 'gateway 1', 'worker 2', 'gateway 2', 'worker 3'];
    try {
      for (let kill = 0; kill < size.kills; kill += 1) {
        const due = began + (kill + 1) * size.everyMs;
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
        const name = order[kill % order.length]!;
        await fleet.replace(name);
        report.kills.push(name);
      }
    } finally {
      report.seconds = (performance.now() - began) / 1000;
      loading = false;
    }
    await running;
    report.changes = writers.reduce((sum, files) => sum + files.count(), 0);
    report.repeated = fleet.repeated();

    const arrived = (): string[] =>
      capi.received().flatMap(({ items }) => items.map((item) => (item as { uuid: string }).uuid));
    const missing = (): number => {
      const there = new Set(arrived());
      return [...pushed].filter((uuid) => !there.has(uuid)).length;
    };
    await until('all signals are forwarded', async () => missing() === 0, {
      withinMs: 120_000,
      everyMs: 500,
    }).catch(() => faults.push(`${missing()} of ${pushed.size} signals were not forwarded`));
    report.signalsTwice = arrived().length - new Set(arrived()).size;
    for (const files of writers) await files.verify();
    for (const drift of await sweptUp(stack)) faults.push(JSON.stringify(drift));
    return report;
  } finally {
    await fleet.close();
    await stack.close();
    await capi.close();
  }
}
