import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { documentClient } from '../support/document-client.js';
import { freePort } from '../support/free-port.js';
import { grafanaQueries, seriesIn } from '../support/grafana-series.js';
import { modelEnvironment } from '../support/model-server/open-models.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import type { OtlpReceiver } from '../support/otlp-receiver.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { sampleSignal } from '../support/signal-client.js';
import { until } from '../support/until.js';

/** Words that occur nowhere else: credentials, and below them what people write and what attacks hold. */
const SECRETS = {
  metricsToken: 'plantedmetricstoken0123456789',
  dashboardKey: 'planteddashboardkey0123456789',
  modelKey: 'plantedmodelkey0123456789',
  callbackToken: 'plantedcallbacktoken0123456789',
  callbackSecret: 'plantedcallbacksecret0123456789',
  watcherPassword: 'plantedwatcherpassword0123456789',
  wrongToken: 'plantedwrongtoken0123456789',
  queryToken: 'plantedquerytoken0123456789',
  collectorKey: 'plantedcollectorkey0123456789',
};
const WORDS = {
  text: 'plantedtextquagga',
  damaged: 'plantedtextaxolotl',
  echoed: 'plantedtextokapi',
  metadata: 'plantedmetadatatapir',
  question: 'plantedquestionnarwhal',
  chat: 'plantedchatpangolin',
  failedChat: 'plantedchatechidna',
  answer: 'plantedanswernumbat',
  alert: 'plantedalertcassowary',
  refusedAlert: 'plantedalertquokka',
  brokenAlert: 'plantedalertdugong',
  usage: 'plantedusageibex',
};
/** Where they may not be as a label, either. */
const NAMES = { partition: 'planted-partition', file: 'planted-file', watcher: 'plantedwatcher'.repeat(3) };

let stack: RunningStack;
let server: ScriptedModelServer;
let capi: StandInCapi;
let collector: OtlpReceiver;
let client: ReturnType<typeof documentClient>;
let metricsUrl: string;
/** What the four are grepped for besides: made by the service itself. */
const made: Record<string, string> = {};

const json = { 'content-type': 'application/json' };

function chat(content: string, headers: Record<string, string> = {}) {
  return stack.request('/v1/chat/completions', {
    method: 'POST',
    headers: { ...json, ...headers },
    body: JSON.stringify({
      model: `rag-${NAMES.partition}`,
      stream: headers['accept'] === 'text/event-stream',
      messages: [{ role: 'user', content }],
    }),
  });
}

async function scrape(url: string): Promise<string> {
  return (await fetch(url, { headers: { authorization: `Bearer ${SECRETS.metricsToken}` } })).text();
}

function upload(fileId: string, text: string, fields: Record<string, string> = {}, id = `request-${fileId}`) {
  const form = new FormData();
  form.append('metadata', JSON.stringify({ note: WORDS.metadata }));
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([text]), `${fileId}.md`);
  return stack.request(`/indexer/partition/${NAMES.partition}/file/${fileId}`, {
    method: 'POST',
    body: form,
    headers: { 'x-request-id': id },
  });
}

async function statusUrl(answer: Response): Promise<string> {
  const body = (await answer.json()) as { task_status_url?: string };
  if (body.task_status_url === undefined) throw new Error(`an upload was refused: ${JSON.stringify(body)}`);
  return body.task_status_url;
}

function push(body: string, token: string) {
  return fetch(`${stack.base}/v3/signals`, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${token}` },
    body,
  });
}

function lines(): Record<string, unknown>[] {
  return stack
    .logs()
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line.replace(/^(gateway|worker): /, '')) as Record<string, unknown>];
      } catch {
        return [];
      }
    });
}

/** Everything that Temporal keeps of this run, its payloads as what they hold. */
async function histories(): Promise<string> {
  const texts: string[] = [];
  const query = `WorkflowId STARTS_WITH "${stack.config.temporal.prefix}"`;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as the server sends them, known to us or not
  for await (const { workflowId, runId, memo, searchAttributes } of stack.temporal.workflow.list({ query })) {
    const history = await stack.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    const text = historyToJSON(history);
    const payloads = [...text.matchAll(/"data": ?"([A-Za-z0-9+/=]+)"/g)].map(([, data]) =>
      Buffer.from(data!, 'base64').toString(),
    );
    texts.push(workflowId, text, ...payloads, JSON.stringify([memo, searchAttributes]));
  }
  return texts.join('\n');
}

beforeAll(async () => {
  [server, capi, collector] = await Promise.all([
    startScriptedModelServer({ dimension: 16, apiKey: SECRETS.modelKey, answer: () => `${WORDS.answer}.` }),
    createStandInCapi(),
    startOtlpReceiver(),
  ]);
  const port = await freePort();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  stack = await openStack({
    ...modelEnvironment(server, 'openai'),
    API_KEY: SECRETS.modelKey,
    EMBEDDER_API_KEY: SECRETS.modelKey,
    RAG_MODE: 'SimpleRag',
    METRICS_TOKEN: SECRETS.metricsToken,
    DASHBOARD_API_KEY: SECRETS.dashboardKey,
    CALLBACK_SIGNING_KEY: SECRETS.callbackSecret,
    INDEXING_CALLBACK_ALLOW_PRIVATE_URLS: 'true',
    CAPI_URL: capi.url,
    PROXY_TIMEOUT_MS: '1500',
    WORKER_METRICS_PORT: String(port),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${SECRETS.collectorKey}`,
    // Everything that could be logged is.
    LOG_LEVEL: 'trace',
    MAX_RUNNING_TASKS_PER_USER: '1',
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
  await actEverywhere();
}, 240_000);
afterAll(async () => {
  await stack?.close();
  await Promise.all([server?.close(), capi?.close(), collector?.close()]);
}, 60_000);

/** Plants each word where such a thing comes in, where it goes well and where it fails. */
async function actEverywhere(): Promise<void> {
  const documents = async (): Promise<void> => {
    const callback = { callback_url: `${server.url}/callback`, callback_token: SECRETS.callbackToken };
    const whole = await statusUrl(await upload(NAMES.file, `# Report\n\n${WORDS.text} grazes.`, callback));
    expect((await client.ended(whole)).task_state).toBe('COMPLETED');
    const damaged = await statusUrl(
      await client.send('POST', NAMES.partition, 'damaged', `%PDF-1.4\n${WORDS.damaged}\n`, 'damaged.pdf'),
    );
    expect((await client.ended(damaged)).task_state).toBe('FAILED');
    // A model server that quotes what it refuses; the first failure is tried again, the last one ends the task.
    const quote = JSON.stringify({ error: { message: `cannot embed '${WORDS.echoed} grazes.'` } });
    server.next('embed', { kind: 'status', status: 500, body: quote });
    for (let times = 0; times < 3; times += 1)
      server.next('embed', { kind: 'status', status: 422, body: quote });
    const echoed = await statusUrl(await upload('echoed', `${WORDS.echoed} grazes.`));
    expect((await client.ended(echoed)).task_state).toBe('FAILED');
    server.reset();
    // Two wait for their turn behind the first.
    const urls = await Promise.all(
      ['one', 'two', 'three'].map((id) => upload(id, `Text of ${id}.`).then(statusUrl)),
    );
    for (const url of urls) expect((await client.ended(url)).task_state).toBe('COMPLETED');
  };
  const questions = async (): Promise<void> => {
    await client.search(`/search/partition/${NAMES.partition}`, { text: WORDS.question });
    const answered = await chat(WORDS.chat, { 'x-request-id': 'request-chat' });
    expect(await answered.text()).toContain(WORDS.answer);
    await (await chat(WORDS.chat, { 'x-request-id': 'request-stream', accept: 'text/event-stream' })).text();
    const quote = JSON.stringify({ error: { message: `cannot answer '${WORDS.failedChat}'` } });
    for (let times = 0; times < 6; times += 1)
      server.next('chat', { kind: 'status', status: 422, body: quote });
    expect((await chat(WORDS.failedChat)).status).toBeGreaterThanOrEqual(400);
    server.reset();
  };
  const people = async (): Promise<void> => {
    const user = await stack.request('/users/', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ display_name: 'Ann' }),
    });
    made['userToken'] = ((await user.json()) as { token: string }).token;
    expect(made['userToken']).toMatch(/^or-/);
    for (const path of ['/partition/', '/users/info', `/extract/x?token=${SECRETS.queryToken}`])
      await fetch(`${stack.base}${path}`, { headers: { authorization: `Bearer ${SECRETS.wrongToken}` } });
    await fetch(`${stack.base}/static/x?token=${SECRETS.queryToken}`);
    await fetch(`${stack.base}/api/alerts`, { headers: { 'x-api-key': SECRETS.wrongToken } });
  };
  const signals = async (): Promise<void> => {
    const login = await fetch(`${stack.base}/v3/watchers/login`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ machine_id: NAMES.watcher, password: SECRETS.watcherPassword, scenarios: [] }),
    });
    const { token } = (await login.json()) as { token: string };
    made['watcherToken'] = token;
    // Refuses what holds the word, and quotes it, as a proxy before the central API may.
    capi.behave({ kind: 'marked-items', marker: WORDS.refusedAlert, status: 400 });
    const signal = (message: string, index: number) =>
      sampleSignal(index, { message, machine_id: NAMES.watcher });
    await push(JSON.stringify([signal(WORDS.alert, 1), signal(WORDS.refusedAlert, 2)]), token);
    await push(`[{"scenario": "${WORDS.brokenAlert}", `, token);
    await push(JSON.stringify([{ message: WORDS.brokenAlert }]), token);
    await fetch(`${stack.base}/v3/usage-metrics`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${token}` },
      body: JSON.stringify({ log_processors: [{ name: WORDS.usage }] }),
    });
    await until('the signals are done with', async () => {
      const [queue] = await stack.proxy.summaries();
      return capi.received(NAMES.watcher).length > 0 && queue?.waiting === 0;
    });
  };
  await Promise.all([people(), signals(), documents().then(questions)]);
  await until('the callback has been tried', async () => stack.logs().includes('"activity":"sendCallback"'));
}

function planted(): [string, string][] {
  return Object.entries({ ...SECRETS, ...WORDS, ...made, token: stack.token });
}

function found(text: string, words: [string, string][] = planted()): string[] {
  return words.filter(([, word]) => text.includes(word)).map(([name]) => name);
}

describe('what was planted everywhere', () => {
  it('is in no log line, also where everything is logged', () => {
    const text = stack.logs();
    for (const known of [
      '"msg":"request"',
      '"msg":"activity"',
      '"msg":"model call"',
      '"route":"/v3/signals"',
    ])
      expect(text).toContain(known);
    expect(found(text)).toEqual([]);
  });

  it('is in no metric, and neither is a name', async () => {
    const text = `${await scrape(`${stack.base}/metrics`)}${await scrape(metricsUrl)}`;
    for (const known of [
      'openrag_http_requests_total{',
      'openrag_ingest_documents_total{status="COMPLETED"} ',
      'openrag_ingest_documents_total{status="FAILED"} ',
      ...['parse', 'chunk', 'embed', 'store', 'publish'].map(
        (stage) => `openrag_ingest_stage_duration_seconds_count{stage="${stage}"} `,
      ),
      'openrag_ingest_last_parse_completion_timestamp_seconds{pool="MarkerPool"} ',
      'openrag_inference_requests_total{provider="openai",operation="embedding",outcome="ok"} ',
      'tamis_engine_call_duration_seconds_count{engine="mongodb",operation="files.getMany"} ',
      'tamis_engine_call_duration_seconds_count{engine="opensearch",operation="bulk"} ',
      'tamis_engine_call_duration_seconds_count{engine="temporal",operation="start"} ',
      'tamis_signals_forwarded_total 1',
      'tamis_capi_answers_total{operation="signals",class="2xx"} ',
      'tamis_capi_answers_total{operation="signals",class="4xx"} ',
      'tamis_capi_answers_total{operation="relay",class="2xx"} ',
      'temporal_worker_task_slots_available{',
    ])
      expect(text).toContain(known);
    expect(text).toMatch(/^openrag_ingest_queue_wait_seconds_count [1-9]/m);
    expect(text).toMatch(/^tamis_opensearch_disk_used_ratio 0\.\d+$/m);
    expect(found(text)).toEqual([]);
    expect(found(text, Object.entries({ ...NAMES, address: '127.0.0.1', network: '203.0.113.' }))).toEqual(
      [],
    );
  });

  it('does not keep the series of Temporal from the dashboards', async () => {
    const text = await scrape(metricsUrl);
    const named = new Set(grafanaQueries().flatMap(seriesIn));
    const temporals = [...named].filter((name) => name.startsWith('temporal_'));
    expect(temporals).not.toEqual([]);
    expect(temporals.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  });

  it('is in no trace, and neither is a name', async () => {
    const names = [
      'RunActivity:parseDocument',
      'RunActivity:sendBatches',
      'StartWorkflow:indexDocument',
      'model chat',
      'model embedding',
      'opensearch bulk',
      'mongodb alerts.insert',
      'POST /v3/signals',
      'POST /v1/chat/completions',
      'GET /search/partition/{partition}',
    ];
    // Processes hand their spans over every five seconds; the last ones are awaited.
    const missing = (): string[] => names.filter((name) => !collector.text().includes(name));
    await until('the collector has the last spans', async () => missing().length === 0).catch(
      () => undefined,
    );
    expect(missing()).toEqual([]);
    expect(collector.spans().some(({ failed }) => failed)).toBe(true);
    expect(found(collector.text())).toEqual([]);
    // The id of a request is its caller's choice; this test's own hold the name of the file.
    const text = collector.text().replaceAll(`request-${NAMES.file}`, '');
    expect(found(text, Object.entries({ ...NAMES, address: '127.0.0.1', network: '203.0.113.' }))).toEqual(
      [],
    );
  });

  it('is in no history of Temporal', async () => {
    const text = await histories();
    for (const known of ['indexDocument', 'forwardSignals', 'parseDocument', 'sendBatches', 'taskId'])
      expect(text).toContain(known);
    expect(found(text)).toEqual([]);
  });
});

describe('the id of a request', () => {
  it.each(['one', 'two', 'three', NAMES.file])(
    'is in the lines of what the upload %s led to',
    async (file) => {
      const of = (msg: string, files = [file]) =>
        lines().filter(
          (line) => line['msg'] === msg && files.some((id) => line['request_id'] === `request-${id}`),
        );
      expect(of('request')).toHaveLength(1);
      // A small text is embedded and stored by the step that reads it.
      expect(of('activity').map((line) => line['activity'])).toContain('parseDocument');
      // Texts that wait at the same moment share a call, whose line has the id of one of them.
      const together = file === NAMES.file ? [file] : ['one', 'two', 'three'];
      expect(of('model call', together)).toEqual(
        expect.arrayContaining([expect.objectContaining({ operation: 'embedding', process: 'worker' })]),
      );
    },
  );

  it.each(['request-chat', 'request-stream'])('is in the lines of the model calls of %s', (id) => {
    expect(lines()).toEqual(
      expect.arrayContaining(
        ['embedding', 'chat'].map((operation) =>
          expect.objectContaining({ msg: 'model call', request_id: id, operation, outcome: 'ok' }),
        ),
      ),
    );
  });
});
