import { runDemo } from '../../../deploy/local/demo.js';
import { sampleSignal, signalClient } from '../../support/signal-client.js';
import { until } from '../../support/until.js';
import type { Stage } from './open-stage.js';

const SAMPLES = new URL('../../../deploy/samples', import.meta.url).pathname;
/** The demo's partition. */
export const PARTITION = 'tide-mill';
const PLACES = ['FR', 'DE', 'US', 'BR', 'IN', 'CN', 'NL', 'VN', 'GB', 'ZA', 'JP', 'AU'];
const SCENARIOS = [
  'crowdsecurity/ssh-bf',
  'crowdsecurity/http-probing',
  'crowdsecurity/http-crawl-non_statics',
  'crowdsecurity/iptables-scan-multi_ports',
  'crowdsecurity/nginx-req-limit-exceeded',
];
const SIGNALS = 240;

const QUESTIONS = [
  { question: 'How much does an adult ticket cost?', relevant: ['visitor-guide'] },
  { question: 'How often are the millstones dressed?', relevant: ['keepers-handbook'] },
  { question: 'When is the causeway closed?', relevant: ['harbour-notices'] },
  { question: 'What does the mill earn in a year?', not_answerable: true },
];

async function post<T>(stage: Stage, path: string, body: unknown): Promise<T> {
  const response = await stage.stack.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

async function runDemoOn({ stack, capi, key }: Stage): Promise<void> {
  await runDemo({
    gateway: stack.base,
    authToken: stack.token,
    endpoints: {
      gateway: stack.base,
      temporal: null,
      temporal_ui: null,
      mongodb: null,
      opensearch: null,
      redis: null,
      ollama: null,
      capi: `${capi.url}/`,
      auth_token: stack.token,
      dashboard_key: key,
      pids: {},
    },
    quoting: false,
    samples: SAMPLES,
    print: () => undefined,
    signal: AbortSignal.timeout(300_000),
  });
}

async function pushSignals({ stack }: Stage): Promise<void> {
  const lapi = signalClient(stack.base, 'harbour-gateway');
  await lapi.login();
  await lapi.push(
    Array.from({ length: SIGNALS }, (_, index) => {
      const ip = `198.51.${index % 3}.${1 + (index % 250)}`;
      const country = PLACES[(index * index) % PLACES.length];
      return sampleSignal(index, {
        scenario: SCENARIOS[(index * 7) % SCENARIOS.length],
        machine_id: `edge-${1 + (index % 4)}`,
        source: { scope: 'Ip', value: ip, ip, cn: country, as_number: '64500', as_name: 'Example networks' },
      });
    }),
  );
}

/** What the demo leaves, some more signals, two evaluation runs and their ids. */
export async function fillForLooks(stage: Stage): Promise<{ runs: string[] }> {
  await runDemoOn(stage);
  await pushSignals(stage);
  const base = `/evaluation/partition/${PARTITION}`;
  const content = QUESTIONS.map((question) => JSON.stringify(question)).join('\n');
  await post(stage, `${base}/question-sets/visitors`, {
    format: 'jsonl',
    content,
    note: 'asked at the desk',
  });
  const runs: string[] = [];
  for (const [label, topK] of [
    ['before', 50],
    ['fewer passages', 3],
  ] as const) {
    const body = { set: 'visitors', label, chat: true, top_k: topK };
    const { run_id: id } = await post<{ run_id: string }>(stage, `${base}/runs`, body);
    await until(
      'the run has ended',
      async () => {
        const response = await stage.stack.request(`${base}/runs/${id}`);
        return ((await response.json()) as { status: string }).status !== 'running';
      },
      { withinMs: 120_000 },
    );
    runs.push(id);
  }
  await post(stage, '/users/', { display_name: 'Ada of the ferry' });
  return { runs };
}
