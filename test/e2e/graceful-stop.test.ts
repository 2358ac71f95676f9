import { once } from 'node:events';
import { createServer } from 'node:net';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import type { StandInCapi } from '../../deploy/stand-in-capi/create-stand-in-capi.js';
import { documentClient } from '../support/document-client.js';
import { generatedText } from '../support/generated-text.js';
import { modelEnvironment } from '../support/model-server/open-models.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { listenOnLoopback } from '../support/loopback-server.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { sampleSignal, signalClient } from '../support/signal-client.js';
import { until } from '../support/until.js';

/** The gateway's grace time, and the worker's with what follows it; a second for the processes themselves. */
const GATEWAY_GRACE_MS = 11_000;
const WORKER_GRACE_MS = 16_000;
const WORDS = 40;

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;
let models: ScriptedModelServer;
let capi: StandInCapi;

beforeAll(async () => {
  capi = await createStandInCapi();
  models = await startScriptedModelServer({
    dimension: 32,
    answer: () => Array.from({ length: WORDS }, (_, index) => `word${index}`).join(' '),
  });
  stack = await openStack({
    ...modelEnvironment(models, 'openai'),
    CAPI_URL: capi.url,
    RAG_MODE: 'SimpleRag',
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
  const url = await client.upload('POST', 'mill', 'first', generatedText(0, 40), 'first.txt');
  expect((await client.ended(url)).task_state).toBe('COMPLETED');
}, 180_000);
afterAll(async () => {
  await stack?.close();
  await models?.close();
  await capi?.close();
}, 60_000);

async function stopped(stop: () => Promise<unknown>): Promise<{ code: unknown; ms: number }> {
  const from = performance.now();
  return { code: await stop(), ms: performance.now() - from };
}

/** What came of a request: its status and whole body, that none came at all, or that it broke off. */
type Outcome = { status: number; body: string } | 'not taken' | 'broken off';

/** Over connections that are kept, as local API servers and balancers have them. */
function keptClient() {
  const dispatcher = new Agent({ connections: 20, keepAliveTimeout: 60_000 });
  return {
    async ask(path: string, init: { method?: 'GET' | 'POST'; body?: string; token?: string } = {}) {
      let response;
      try {
        response = await request(`${stack.base}${path}`, {
          dispatcher,
          method: init.method ?? 'GET',
          headers: {
            authorization: `Bearer ${init.token ?? stack.token}`,
            ...(init.body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(init.body !== undefined && { body: init.body }),
        });
      } catch (error) {
        // Reset: a connection that the kernel had taken and the gateway had not, when it stopped listening. A request
        // that ends in another way may have been obeyed, so that a client cannot send it again.
        const { code = '' } = error as { code?: string };
        return ['ECONNREFUSED', 'ECONNRESET'].includes(code) ? 'not taken' : 'broken off';
      }
      try {
        return { status: response.statusCode, body: await response.body.text() };
      } catch {
        return 'broken off';
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** One request after the other until one is not taken. */
async function hammer(ask: (index: number) => Promise<Outcome>, outcomes: Outcome[]): Promise<void> {
  for (let index = 0; ; index += 1) {
    const outcome = await ask(index);
    outcomes.push(outcome);
    if (typeof outcome === 'string') return;
  }
}

function chat(kept: ReturnType<typeof keptClient>): Promise<Outcome> {
  const messages = [{ role: 'user', content: 'What does the document say of the tide?' }];
  const body = JSON.stringify({ model: 'rag-mill', stream: true, messages });
  return kept.ask('/v1/chat/completions', { method: 'POST', body });
}

function wordsOf(outcome: Outcome): { words: number; error: boolean; done: boolean } {
  const body = typeof outcome === 'string' ? '' : outcome.body;
  return {
    words: new Set(body.match(/word\d+/g)).size,
    error: body.includes('"error"'),
    done: body.endsWith('data: [DONE]\n\n'),
  };
}

async function completed(urls: readonly string[]): Promise<void> {
  const states = await Promise.all(urls.map(async (url) => (await client.ended(url)).task_state));
  expect(states).toEqual(urls.map(() => 'COMPLETED'));
}

describe('a process that gets SIGTERM while it starts', () => {
  it.each(['worker', 'gateway'] as const)(
    'ends at once: %s',
    async (name) => {
      // It takes connections and never says a word.
      const silent = createServer(() => undefined);
      const asked = once(silent, 'connection');
      const { port } = await listenOnLoopback(silent);
      const other = await openStack();
      const MONGODB_URL = `mongodb://127.0.0.1:${port}`;
      const start = name === 'worker' ? other.startWorker : other.startGateway;
      const starting = start({ MONGODB_URL }).catch(() => 'ended');
      await asked;
      const { code, ms } = await stopped(name === 'worker' ? other.stopWorker : other.stopGateway);
      expect([code, await starting]).toEqual([0, 'ended']);
      expect(ms).toBeLessThan(5_000);
      await other.close();
      silent.close();
    },
    60_000,
  );
});

describe('a worker that gets SIGTERM', () => {
  it('under load hands back what does not end, and all of it is done once by another', async () => {
    const lapi = signalClient(stack.base, 'stopped-worker');
    await lapi.login();
    const urls = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        client.upload('POST', 'mill', `load${index}`, generatedText(100 + index, 20), 'load.txt'),
      ),
    );
    // Not the others: as many of them as the model may be asked at once would keep it from being asked.
    models.always('embed', { kind: 'silence' }, 'Document 99,');
    const held = await client.upload('POST', 'mill', 'held', generatedText(99, 400), 'held.txt');
    await until('its embedding waits for the model', async () =>
      models.asked('embed').some(({ body }) => JSON.stringify(body['input']).includes('Document 99,')),
    );
    capi.behave({ kind: 'slow', delayMs: 3_000, times: 1 });
    expect((await lapi.push(Array.from({ length: 200 }, (_, index) => sampleSignal(index)))).status).toBe(
      200,
    );
    await until('an offer is under way', async () => capi.underWay() > 0);

    const { code, ms } = await stopped(() => stack.stopWorker());
    expect([code, ms < WORKER_GRACE_MS]).toEqual([0, true]);
    const { file_key: key, generation } = (await stack.adapters.tasks.get(held.split('/').at(-1)!))!;
    const workflow = `${stack.config.temporal.prefix}index-document/${key}/${generation}`;
    const { raw } = await stack.temporal.workflow.getHandle(workflow).describe();
    const failures = (raw.pendingActivities ?? []).map(
      ({ lastFailure }) => lastFailure?.applicationFailureInfo?.type,
    );
    expect(failures).toEqual(['WorkerShutdown']);
    models.reset();
    capi.behave();
    await stack.startWorker();
    await completed([...urls, held]);
    const sent = () => capi.received('stopped-worker').flatMap(({ items }) => items);
    await until('CAPI has every signal', async () => sent().length >= 200);
    expect(sent()).toHaveLength(200);
    expect(await remainingDrift(stack)).toEqual([]);
  }, 180_000);
});

describe('a gateway that gets SIGTERM under load', () => {
  it('answers what it has taken, ends its streams in good form, and loses nothing', async () => {
    const kept = keptClient();
    const lapi = signalClient(stack.base, 'stopped-gateway');
    await lapi.login();
    // Two hundred milliseconds a word: eight seconds in all.
    models.models.msPerWord = 200;
    const short = [chat(kept), chat(kept)];
    await until('both answers are being written', async () => models.asked('chat').length >= 2);
    models.models.msPerWord = 400;
    const long = chat(kept);
    await until('the long answer is being written', async () => (models.asked('chat')[2]?.said ?? 0) > 0);
    // It is not taken up.
    await stack.killWorker();
    const slow = await client.upload('POST', 'mill', 'slow', generatedText(700, 400), 'slow.txt');
    const id = slow.split('/').at(-1)!;
    const events = kept.ask(`/indexer/task/${id}/events`);
    const waiting = kept.ask(`/indexer/task/${id}?wait=50`);
    const searches: Outcome[] = [];
    const pushes: Outcome[] = [];
    const lists: Outcome[] = [];
    const load = [
      hammer(() => kept.ask('/search/partition/mill?text=tide'), searches),
      hammer(() => kept.ask('/partition/mill/chunks'), lists),
      ...['a', 'b'].map((name) =>
        hammer(
          (index) =>
            kept.ask('/v3/signals', {
              method: 'POST',
              body: JSON.stringify([{ ...sampleSignal(index), message: `${name}${index}` }]),
              token: lapi.token()!,
            }),
          pushes,
        ),
      ),
    ];
    await until('the load runs', async () => pushes.length > 20 && searches.length > 2 && lists.length > 2);

    const { code, ms } = await stopped(() => stack.stopGateway());
    await Promise.all(load);
    expect([code, ms < GATEWAY_GRACE_MS]).toEqual([0, true]);
    const whole = [...searches, ...pushes, ...lists].filter((outcome) => outcome !== 'not taken');
    expect(whole.filter((outcome) => typeof outcome === 'string' || outcome.status !== 200)).toEqual([]);
    for (const { body } of whole as { body: string }[]) JSON.parse(body);
    for (const outcome of await Promise.all(short))
      expect(wordsOf(outcome)).toEqual({ words: WORDS, error: false, done: true });
    const cut = wordsOf(await long);
    expect(cut).toEqual({ words: expect.any(Number), error: true, done: true });
    expect([cut.words > 0, cut.words < WORDS]).toEqual([true, true]);
    expect(await events).toMatchObject({
      status: 200,
      body: expect.stringMatching(/SERVICE_UNAVAILABLE[^]*\[DONE\]\n\n$/),
    });
    expect(await waiting).toMatchObject({ status: 200, body: expect.stringContaining('QUEUED') });

    await Promise.all([stack.startGateway(), stack.startWorker()]);
    await completed([slow]);
    const taken = pushes.filter((outcome) => outcome !== 'not taken').length;
    const sent = () =>
      capi.received('stopped-gateway').flatMap(({ items }) => items as { message: string }[]);
    await until('CAPI has what was answered 200', async () => sent().length >= taken);
    // A push without an answer may have been stored; each of the others is there once.
    expect(new Set(sent().map(({ message }) => message)).size).toBe(sent().length);
    expect(sent().length).toBeLessThanOrEqual(pushes.length);
    await kept.close();
  }, 120_000);
});
