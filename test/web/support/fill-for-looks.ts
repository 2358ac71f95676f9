import { runDemo } from '../../../deploy/local/demo.js';
import { documentClient } from '../../support/document-client.js';
import { sampleSignal, signalClient } from '../../support/signal-client.js';
import { until } from '../../support/until.js';
import type { Stage } from './open-stage.js';

const SAMPLES = new URL('../../../deploy/samples', import.meta.url).pathname;
/** The demo's partition. */
export const PARTITION = 'tide-mill';
/** A file of it whose pages can be shown. */
export const PDF = 'keepers-handbook';
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

/** A file that fails, a workspace, a prompt, a rule without a file and a backup. */
async function addOperations(stage: Stage): Promise<void> {
  const { stack, key } = stage;
  const documents = documentClient(stack);
  const broken = await documents.upload(
    'POST',
    PARTITION,
    'tide-table',
    '%PDF-1.7 no more',
    'tide-table.pdf',
  );
  await documents.ended(broken);
  await post(stage, `/partition/${PARTITION}/workspaces`, { workspace_id: 'visitors' });
  const content = 'Answer in one sentence, from what stands here: {context}';
  await post(stage, '/prompts/', { prompt_type: 'sys_prompt', name: 'short answers', content });
  const condition = { field: 'source.cn', op: 'in', value: ['ZA', 'JP'] };
  const text = JSON.stringify({ name: 'quiet-countries', filter: condition }, null, 2);
  const saved = await stack.request('/api/filters/saved', {
    method: 'PUT',
    headers: {
      'x-api-key': key,
      authorization: '',
      'content-type': 'application/json',
      'if-match': '"0"',
    },
    body: JSON.stringify({ rules: [{ text }], note: 'few of them are ours' }),
  });
  if (!saved.ok) throw new Error(`the rule was answered ${saved.status}: ${await saved.text()}`);
  await post(stage, '/admin/backups', { vectors: true });
  await until('the backup has ended', async () => {
    const response = await stack.request('/admin/backup-runs');
    const { runs } = (await response.json()) as { runs: { state: string }[] };
    return runs.length > 0 && runs.every(({ state }) => state !== 'running');
  });
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
    // The run before is told as completed a moment before its workflow ends.
    const { run_id: id } = await until('the run is taken', () =>
      post<{ run_id: string }>(stage, `${base}/runs`, body).catch(() => false as const),
    );
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
  await addOperations(stage);
  return { runs };
}
