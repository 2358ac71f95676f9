import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { openCutLine } from './cut-line.js';
import type { CutLine } from './cut-line.js';
import { documentClient } from './document-client.js';
import { generatedText } from './generated-text.js';
import { modelEnvironment } from './model-server/open-models.js';
import { startScriptedModelServer } from './model-server/scripted-model-server.js';
import { startRedis } from './redis-server.js';
import { sweptUp } from './kill-tools.js';
import { remainingDrift } from './remaining-drift.js';
import { openStack } from './running-stack.js';
import { sampleSignal, signalClient } from './signal-client.js';
import { until } from './until.js';

export const ENGINES = ['mongodb', 'opensearch', 'redis', 'temporal', 'models', 'capi'] as const;
export type Engine = (typeof ENGINES)[number];

export const OPERATIONS = [
  'search',
  'chat',
  'upload',
  'list',
  'push',
  'login',
  'decisions',
  'management',
  'ready',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface CutReport {
  /** What was answered while the engine was away to requests that were made then, and how often. 0: nothing came. */
  during: Record<Operation, Record<number, number>>;
  /** Of those, in milliseconds. */
  slowestMs: Record<Operation, number>;
  /** From the engine's return until everything was answered as before. */
  recoveredMs: number;
  /** Of all that was answered 201, or 200 for a push: what did not come to its end, or came twice. */
  faults: string[];
}

const PARTITION = 'mill';
const WATCHER = 'cutwatcher';
const PAUSE_MS = 150;
/** Longer than any answer should take; a client would have left. */
const NO_ANSWER_MS = 60_000;
const KEY = 'key-of-the-management-side-0123456789';

function served(address: string): string {
  return `http://${address}`;
}

/** A gateway and a worker with a line to each engine that can be cut. */
export async function openCutStage() {
  const env = (name: string): string => {
    const value = process.env[name];
    if (value === undefined) throw new Error(`${name} is not set: run the tests with \`npm test\``);
    return value;
  };
  const [capi, models, redis] = await Promise.all([
    createStandInCapi(),
    startScriptedModelServer({ dimension: 32 }),
    startRedis(),
  ]);
  const targets: Record<Engine, string> = {
    mongodb: env('MONGODB_URL'),
    opensearch: env('OPENSEARCH_URL'),
    redis: redis.url,
    temporal: env('TEMPORAL_ADDRESS'),
    models: models.url,
    capi: capi.url,
  };
  const lines = Object.fromEntries(
    await Promise.all(ENGINES.map(async (engine) => [engine, await openCutLine(targets[engine])] as const)),
  ) as Record<Engine, CutLine>;
  const through = (engine: 'mongodb' | 'redis'): string => {
    const url = new URL(targets[engine]);
    url.host = lines[engine].address;
    return url.href;
  };
  const stack = await openStack({
    ...modelEnvironment({ ...models, url: served(lines.models.address) }, 'openai'),
    MONGODB_URL: through('mongodb'),
    REDIS_URL: through('redis'),
    OPENSEARCH_URL: served(lines.opensearch.address),
    TEMPORAL_ADDRESS: lines.temporal.address,
    CAPI_URL: `${served(lines.capi.address)}/`,
    DASHBOARD_API_KEY: KEY,
    MAX_QUEUED_TASKS_PER_USER: '100000',
    // They are what Redis is for; wide enough for everything that is asked here.
    RATE_LIMIT_ENABLED: 'true',
    ...Object.fromEntries(
      ['DEFAULT', 'AUTH', 'CHAT', 'AUTH_FAILURE'].map((name) => [`RATE_LIMIT_${name}`, '1000000/minute']),
    ),
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  const client = documentClient(stack);
  const url = await client.upload('POST', PARTITION, 'first', generatedText(0, 20), 'first.txt');
  const { task_state: state } = await client.ended(url);
  if (state !== 'COMPLETED') throw new Error(`the first file ended ${state}`);
  const lapi = signalClient(stack.base, WATCHER);
  await lapi.login();
  return {
    stack,
    capi,
    lines,
    lapi,
    async close() {
      await Promise.all(Object.values(lines).map((line) => line.restore()));
      await stack.close();
      await Promise.all([...Object.values(lines), models, capi, redis].map((each) => each.close()));
    },
  };
}

export type CutStage = Awaited<ReturnType<typeof openCutStage>>;

/** Everything that clients of both jobs do, all the time, while the line to an engine is cut for so long. */
export async function cutOff(stage: CutStage, engine: Engine, cutMs: number): Promise<CutReport> {
  const { stack, capi, lines } = stage;
  const tasks: string[] = [];
  const pushed: string[] = [];
  const asking = askings(stage, engine, { tasks, pushed });
  const during = Object.fromEntries(OPERATIONS.map((name) => [name, {}])) as CutReport['during'];
  const slowestMs = Object.fromEntries(OPERATIONS.map((name) => [name, 0])) as CutReport['slowestMs'];
  /** When the last request was made that was answered well. */
  const lastWell = new Map<Operation, number>();
  let away = false;
  let going = true;

  const loop = async (name: Operation): Promise<void> => {
    for (let index = 0; going; index += 1) {
      const inOutage = away;
      const from = performance.now();
      const status = await asking[name](index).catch(() => 0);
      // One that the engine's return has saved tells nothing of its absence.
      if (inOutage && away) {
        during[name][status] = (during[name][status] ?? 0) + 1;
        slowestMs[name] = Math.max(slowestMs[name], Math.round(performance.now() - from));
      }
      if (status >= 200 && status < 300) lastWell.set(name, from);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const allWell = (since: number) =>
    until(
      'everything is answered',
      async () => OPERATIONS.every((name) => (lastWell.get(name) ?? -1) >= since),
      { withinMs: 90_000 },
    ).catch((error: unknown) => {
      throw new Error(
        `${String(error)}: all but ${OPERATIONS.filter((name) => (lastWell.get(name) ?? -1) >= since).join(', ')}`,
      );
    });

  const loops = OPERATIONS.map(loop);
  let recoveredMs: number;
  try {
    await allWell(0);
    await lines[engine].cut();
    away = true;
    const cutAt = performance.now();
    await until('the time is over', async () => performance.now() - cutAt >= cutMs, {
      withinMs: cutMs + 5_000,
    });
    away = false;
    await lines[engine].restore();
    const from = performance.now();
    await allWell(from);
    recoveredMs = Math.round(performance.now() - from);
  } finally {
    going = false;
    await Promise.allSettled(loops);
  }
  const faults: string[] = [];
  for (const task of tasks) {
    const { task_state: state } = await documentClient(stack).ended(task, 120_000);
    if (state !== 'COMPLETED') faults.push(`${task} ended ${state}`);
  }
  const times = (): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const { items } of capi.received(WATCHER))
      for (const { message } of items as { message: string }[])
        counts.set(message, (counts.get(message) ?? 0) + 1);
    return counts;
  };
  await until('the central API has every push', async () => pushed.every((message) => times().has(message)), {
    withinMs: 120_000,
  }).catch((error: unknown) => faults.push(String(error)));
  // An answer of the central API may be lost on the line: what it may have taken is offered again.
  if (engine !== 'capi')
    for (const message of pushed)
      if (times().get(message) !== 1) faults.push(`${message} reached the central API more than once`);
  // Only where the records went away behind the bytes of an upload can these not be removed with its refusal.
  const left = engine === 'mongodb' ? await sweptUp(stack) : await remainingDrift(stack);
  for (const drift of left) faults.push(JSON.stringify(drift));
  return { during, slowestMs, recoveredMs, faults };
}

/** One request of each operation; answers its status once the whole body is there. */
function askings(
  { stack, lapi }: CutStage,
  engine: Engine,
  taken: { tasks: string[]; pushed: string[] },
): Record<Operation, (index: number) => Promise<number>> {
  const ask = async (path: string, init: RequestInit = {}): Promise<{ status: number; body: string }> => {
    const response = await stack.request(path, { ...init, signal: AbortSignal.timeout(NO_ANSWER_MS) });
    return { status: response.status, body: await response.text() };
  };
  const get = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
    (await ask(path, { headers })).status;
  const asWatcher = () => ({ authorization: `Bearer ${lapi.token()}` });
  const json = { 'content-type': 'application/json' };
  return {
    search: () => get(`/search/partition/${PARTITION}?text=tide`),
    list: () => get(`/partition/${PARTITION}`),
    ready: () => get('/ready'),
    management: () => get('/api/alerts?limit=1', { 'x-api-key': KEY }),
    decisions: () => get('/v3/decisions/stream', asWatcher()),
    async chat() {
      const messages = [{ role: 'user', content: 'When does the mill open?' }];
      const body = JSON.stringify({ model: `rag-${PARTITION}`, messages });
      return (await ask('/v1/chat/completions', { method: 'POST', headers: json, body })).status;
    },
    async upload(index) {
      const form = new FormData();
      form.append('file', new Blob([generatedText(index, 2), engine]), 'cut.txt');
      const path = `/indexer/partition/${PARTITION}/file/${engine}-${index}`;
      const { status, body } = await ask(path, { method: 'POST', body: form });
      if (status === 201) taken.tasks.push((JSON.parse(body) as { task_status_url: string }).task_status_url);
      return status;
    },
    async push(index) {
      const message = `${engine} ${index}`;
      const body = JSON.stringify([{ ...sampleSignal(index), message }]);
      const headers = { ...json, ...asWatcher() };
      const { status } = await ask('/v3/signals', { method: 'POST', headers, body });
      if (status === 200) taken.pushed.push(message);
      return status;
    },
    async login() {
      const body = JSON.stringify({
        machine_id: WATCHER,
        password: 'a-password',
        scenarios: ['crowdsecurity/ssh-bf'],
      });
      return (await ask('/v3/watchers/login', { method: 'POST', headers: json, body })).status;
    },
  };
}
