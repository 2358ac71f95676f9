import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoStage } from './demo-client.js';

type Stage = Pick<DemoStage, 'gateway' | 'endpoints' | 'print' | 'signal'>;

interface AlertView {
  uuid: string | null;
  scenario: string;
  sourceIp: string | null;
  filtered: boolean | null;
  filterReasons: string | null;
  forwardedToCapi: boolean | null;
}

interface QueueView {
  watcher: string;
  waiting: number;
  lastError: { message: string } | null;
  nextAttempt: string | null;
}

/** For so long the stand-in accepts no connection. */
const AWAY_MS = 5000;

/** A threat signal is filtered, stored and forwarded, and waits while the central API is away. */
export async function demoSignals(stage: Stage): Promise<void> {
  const { print, endpoints } = stage;
  if (endpoints.capi === null || !(await isStandIn(endpoints.capi))) {
    print('\n6. Signals: left out, since CAPI_URL names a central API that is not our stand-in');
    return;
  }
  const watcher = `demo${randomBytes(12).toString('hex')}`;
  const lapi = lapiOf(stage, watcher);
  await lapi.login();

  print('\n6. Push signals, as a CrowdSec local API server does');
  const first = [
    signalOf('crowdsecurity/ssh-bf', '203.0.113.7'),
    signalOf('crowdsecurity/http-probing', '198.51.100.24'),
    signalOf('crowdsecurity/ssh-bf', '10.0.0.12'),
    { ...signalOf('crowdsecurity/iptables-scan-multi_ports', '192.0.2.99'), decisions: [] },
    signalOf('crowdsecurity/nginx-req-limit-exceeded', '2001:db8::17'),
  ];
  await lapi.push(first);
  const passing = 3;
  await lapi.arrived(passing);
  for (const { scenario, sourceIp, filtered, filterReasons } of await lapi.alerts(first))
    print(
      `   ${(sourceIp ?? '').padEnd(14)} ${scenario.padEnd(40)} ${
        filtered === true ? `held back: ${reasonsOf(filterReasons)}` : 'forwarded'
      }`,
    );

  print(`\n7. The central API goes away for ${AWAY_MS / 1000} s; the local API server pushes again`);
  stage.signal.throwIfAborted();
  await postJson(new URL('_control/refuse', endpoints.capi), { forMs: AWAY_MS });
  const second = Array.from({ length: 4 }, (_, index) =>
    signalOf('crowdsecurity/ssh-bf', `203.0.113.${100 + index}`),
  );
  await lapi.push(second);
  const queue = await until('the queue says why it waits', async () => {
    const found = await lapi.queue();
    return found?.lastError != null && found.waiting > 0 ? found : null;
  });
  print(
    `   ${queue.waiting} wait; last error: ${queue.lastError?.message}; next attempt ${queue.nextAttempt}`,
  );
  await lapi.arrived(passing + second.length);
  const uuids = await lapi.received();
  if (new Set(uuids).size !== uuids.length) throw new Error('a signal arrived twice');
  print(`   The central API is back: all ${second.length} have arrived, once each and in order`);
}

/** The API gives the reasons as a JSON list in a text. */
function reasonsOf(filterReasons: string | null): string {
  return (JSON.parse(filterReasons ?? '[]') as string[]).join('; ');
}

async function isStandIn(capi: string): Promise<boolean> {
  return (
    /^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(capi) &&
    (await fetch(new URL('_control/behaviour', capi)).then(
      (response) => response.ok,
      () => false,
    ))
  );
}

function signalOf(scenario: string, ip: string) {
  return {
    scenario,
    scenario_hash: 'd2b0a3a1',
    scenario_version: '0.4',
    scenario_trust: 'certified',
    message: `Ip ${ip} performed '${scenario}'`,
    machine_id: 'demo-agent',
    start_at: new Date(Date.now() - 10_000).toISOString(),
    stop_at: new Date().toISOString(),
    uuid: randomUUID(),
    source: { scope: 'Ip', value: ip, ip, cn: 'FR' },
    decisions: [
      {
        uuid: randomUUID(),
        origin: 'crowdsec',
        scenario,
        scope: 'Ip',
        type: 'ban',
        value: ip,
        duration: '4h',
      },
    ],
  };
}

type Signal = ReturnType<typeof signalOf>;

function postJson(url: URL | string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** What a local API server sends, and what an operator sees of it. */
function lapiOf({ gateway, endpoints, print }: Stage, watcher: string) {
  let token = '';
  const manage = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${gateway}${path}`, { headers: { 'x-api-key': endpoints.dashboard_key } });
    if (!response.ok) throw new Error(`GET ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const received = async (): Promise<string[]> => {
    const url = new URL(`_control/received?watcher=${watcher}`, endpoints.capi!);
    const pushes = (await (await fetch(url)).json()) as { items: Signal[] }[];
    return pushes.flatMap((push) => push.items.map((item) => item.uuid));
  };
  return {
    received,
    async login(): Promise<void> {
      const response = await postJson(`${gateway}/v3/watchers/login`, {
        machine_id: watcher,
        password: randomUUID(),
        scenarios: [],
      });
      if (!response.ok) throw new Error(`the login answered ${response.status}: ${await response.text()}`);
      ({ token } = (await response.json()) as { token: string });
    },
    async push(signals: readonly unknown[]): Promise<void> {
      const from = Date.now();
      const response = await postJson(`${gateway}/v3/signals`, signals, { authorization: `Bearer ${token}` });
      if (response.status !== 200)
        throw new Error(`the push answered ${response.status}: ${await response.text()}`);
      print(`   ${signals.length} signals pushed: 200 after ${Date.now() - from} ms`);
    },
    /** The stored alerts of these signals, in their order. */
    async alerts(signals: readonly Signal[]): Promise<AlertView[]> {
      const alerts = await manage<AlertView[]>('/api/alerts?limit=100&machineId=demo-agent');
      return signals.flatMap((signal) => alerts.find((alert) => alert.uuid === signal.uuid) ?? []);
    },
    async queue(): Promise<QueueView | undefined> {
      const { watchers } = await manage<{ watchers: QueueView[] }>('/api/forwarding');
      return watchers.find((queue) => queue.watcher === watcher);
    },
    arrived: (count: number) =>
      until(`${count} signals have arrived`, async () => ((await received()).length >= count ? true : null)),
  };
}

async function until<T>(what: string, ask: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answer = await ask().catch(() => null);
    if (answer !== null) return answer;
    if (Date.now() > deadline) throw new Error(`not within a minute: ${what}`);
    await sleep(200);
  }
}
