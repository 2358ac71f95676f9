import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent, MockAgent } from 'undici';
import type { ModelOverride } from '../../../activities/ports/chat.js';
import { createSemaphore, createSemaphores } from '../../../activities/models/semaphore.js';
import { createOverrideModels } from '../../../activities/models/override-models.js';
import { createMetrics } from '../../../activities/metrics.js';
import { UNMEASURED } from '../../../activities/ports/meter.js';
import type { Meter } from '../../../activities/ports/meter.js';
import type { LanguageModel, ModelEndpointStore } from '../../../activities/ports/models.js';
import { createEncryption } from '../../../activities/stores/mongo/encryption.js';
import { until } from '../../support/until.js';
import { modelEnvironment, openModels } from '../../support/model-server/open-models.js';
import type { OpenedModels } from '../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../support/model-server/scripted-model-server.js';

const SECRETS_KEY = Buffer.from('a key of 32 bytes for the tests!').toString('base64');
const OWN_KEY = 'key-of-the-service';

let server: ScriptedModelServer;
let own: Agent;
let opened: OpenedModels;
let foreign: MockAgent;
const heard: { authorization: string | undefined; body: Record<string, unknown> }[] = [];

beforeAll(async () => {
  server = await startScriptedModelServer({ apiKey: OWN_KEY });
  own = new Agent();
  opened = await openModels({ ...modelEnvironment(server, 'openai'), API_KEY: OWN_KEY, SECRETS_KEY });
  foreign = new MockAgent();
  foreign.disableNetConnect();
});
afterEach(() => {
  heard.length = 0;
  server.reset();
});
afterAll(async () => {
  await foreign.close();
  await opened.close();
  await own.close();
  await server.close();
});

function overrides(
  settings: { allowCustomEndpoint?: boolean; allowPrivate?: boolean } = {},
  meter: Meter = UNMEASURED,
  answers = createSemaphores(4),
  endpoints: Pick<ModelEndpointStore, 'get' | 'defaults'> = opened.endpoints,
) {
  return createOverrideModels({
    meter,
    answers,
    endpoints,
    dispatchers: { own, foreign },
    keys: createEncryption(Buffer.from(SECRETS_KEY, 'base64'), []),
    settings: {
      allowCustomEndpoint: true,
      allowPrivate: false,
      contextTokens: 4096,
      timeoutMs: 2000,
      ...settings,
    },
  });
}

/** The next request to the foreign server is answered with this status. */
function foreignAnswers(status = 200): void {
  foreign
    .get('https://models.example')
    .intercept({ path: '/v1/chat/completions', method: 'POST' })
    .reply(
      status,
      ({ headers, body }) => {
        const { authorization } = Object.fromEntries(
          Object.entries({ ...(headers as Record<string, string>) }).map(([name, value]) => [
            name.toLowerCase(),
            value,
          ]),
        );
        heard.push({ authorization, body: JSON.parse(String(body)) as Record<string, unknown> });
        return { choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }] };
      },
      { headers: { 'content-type': 'application/json' } },
    );
}

async function ask(model: LanguageModel): Promise<string> {
  return (await model.complete([{ role: 'user', content: 'Hi' }], {})).content;
}

const URL = 'https://models.example/v1';

describe('a model of the client’s choice', () => {
  test('on our own server is asked with our key', async () => {
    server.models.llm = 'another-llm';
    const model = await overrides().languageModel({ model: 'another-llm' });
    expect(await ask(model)).toBe('The mill opens at nine.');
    expect(server.asked('chat').map(({ body }) => body['model'])).toEqual(['another-llm']);
    server.models.llm = 'scripted-llm';
  });

  test('on our own server with a key of the client’s is asked with that key', async () => {
    const model = await overrides().languageModel({ apiKey: 'wrong' });
    await expect(ask(model)).rejects.toMatchObject({ code: 'INFERENCE_REFUSED', status: 400 });
    expect(server.asked('chat')[0]?.headers.authorization).toBe('Bearer wrong');
  });

  test.each<ModelOverride>([{ model: 'scripted-llm' }, { apiKey: OWN_KEY }])(
    'on our own server waits in the queue of our endpoint: %j',
    async (override) => {
      const queue = createSemaphore(1);
      const leave = await queue.enter();
      const waiting: string[] = [];
      const answers = (name: string) => ({
        enter(signal?: AbortSignal) {
          waiting.push(name);
          return queue.enter(signal);
        },
      });
      const models = overrides({}, UNMEASURED, answers);
      const asked = Promise.all([1, 2].map(async () => ask(await models.languageModel(override))));
      await until('both wait', async () => waiting.length === 2);
      expect(server.asked('chat')).toEqual([]);
      expect(new Set(waiting)).toEqual(new Set([(await opened.endpoints.defaults()).llm]));
      leave();
      expect(await asked).toEqual(['The mill opens at nine.', 'The mill opens at nine.']);
    },
  );

  test('on our own server is sent as much as the endpoint says', async () => {
    const { llm } = await opened.endpoints.defaults();
    const endpoint = (await opened.endpoints.get('llm', llm!))!;
    const of = async (max_llm_context_size: number) => {
      const extra = { ...endpoint.extra, max_llm_context_size };
      const endpoints = {
        ...opened.endpoints,
        get: async () => ({ ...endpoint, extra, context_tokens: 131_072 }),
      };
      return (await overrides({}, UNMEASURED, undefined, endpoints).languageModel({ model: 'm' }))
        .contextTokens;
    };
    expect([await of(32_768), await of(1_024)]).toEqual([32_768, 1_024]);
  });

  test('on a foreign server never sees our key', async () => {
    foreignAnswers();
    const model = await overrides().languageModel({ baseUrl: URL, model: 'm' });
    expect(await ask(model)).toBe('Hello.');
    foreignAnswers();
    await ask(await overrides().languageModel({ baseUrl: `${URL}/`, apiKey: 'theirs' }));
    expect(heard).toMatchObject([
      { authorization: undefined, body: { model: 'm' } },
      { authorization: 'Bearer theirs', body: { model: 'scripted-llm' } },
    ]);
    expect(JSON.stringify(heard)).not.toContain(OWN_KEY);
    expect(server.requests).toEqual([]);
  });

  test('is counted under one name, whoever serves it', async () => {
    const { registry, meter } = createMetrics();
    foreignAnswers();
    await ask(await overrides({}, meter).languageModel({ baseUrl: URL, model: 'm' }));
    await ask(await overrides({}, meter).languageModel({ model: 'scripted-llm' }));
    const text = await registry.metrics();
    expect(text).toContain(
      'openrag_inference_requests_total{provider="client_override",operation="chat",outcome="ok"} 2',
    );
    expect(text).not.toContain('models.example');
  });

  test('on our own server named by its address is ours, its key included', async () => {
    const model = await overrides().languageModel({ baseUrl: `${server.url}/` });
    expect(await ask(model)).toBe('The mill opens at nine.');
  });

  test.each([
    [404, { kind: 'status', status: 404 }],
    [400, { kind: 'status', status: 400, body: '{"error":"no such model"}' }],
  ] as const)('is a bad request when the server does not take its name: %s', async (_status, behaviour) => {
    const models = overrides();
    const typed = await models.languageModel({ model: 'tpyo' });
    server.always('chat', behaviour);
    for (let asked = 0; asked < 6; asked += 1)
      await expect(ask(typed)).rejects.toMatchObject({ code: 'BAD_REQUEST', status: 400, plain: true });
    expect(server.asked('chat')).toHaveLength(6);
    const keyed = await models.languageModel({ apiKey: OWN_KEY });
    await expect(ask(keyed)).rejects.toMatchObject({ code: 'INFERENCE_ERROR', status: 503 });
  });

  test('is a bad request when the server of the client’s choice has no such model', async () => {
    foreignAnswers(404);
    const model = await overrides().languageModel({ baseUrl: URL });
    await expect(ask(model)).rejects.toMatchObject({ code: 'BAD_REQUEST', status: 400 });
  });

  test('is the client’s matter when its key is refused, and ours when it named none', async () => {
    foreignAnswers(401);
    const keyed = await overrides().languageModel({ baseUrl: URL, apiKey: 'theirs' });
    await expect(ask(keyed)).rejects.toMatchObject({ code: 'INFERENCE_REFUSED', status: 400 });
    foreignAnswers(403);
    const keyless = await overrides().languageModel({ baseUrl: URL });
    await expect(ask(keyless)).rejects.toMatchObject({ code: 'INFERENCE_REFUSED', status: 502 });
  });

  test.each([
    'http://models.example/v1',
    'ftp://models.example',
    'models.example',
    'https://',
    '',
    'https://models.example/v1?x=1',
    'https://models.example/v1#x',
    'https://models.example/v1?',
    'https://models.example/../admin',
    'https://models.example/v1/..',
    'https://models.example/%2E%2e/x',
    'https://user:pw@models.example/v1',
    'https://models.example\\@127.0.0.1/',
    'https://127.0.0.1/v1',
    'https://localhost/v1',
    'https://[::1]/v1',
    'https://10.0.0.7/v1',
    'https://169.254.169.254/latest',
    'https://0x7f.1/v1',
    'https://2130706433/',
    'https://metadata.internal/',
    'https://[::ffff:10.0.0.1]/v1',
    'https://api.local',
  ])('is not at %j', async (baseUrl) => {
    await expect(overrides().languageModel({ baseUrl })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      status: 400,
      plain: true,
    });
  });

  test('is not behind a name that leads into our own network', async () => {
    const blocked = Object.assign(new Error('address not allowed'), { code: 'ERR_ADDRESS_BLOCKED' });
    foreign
      .get('https://inward.example')
      .intercept({ path: '/v1/chat/completions', method: 'POST' })
      .replyWithError(blocked)
      .persist();
    const model = await overrides().languageModel({ baseUrl: 'https://inward.example/v1' });
    await expect(ask(model)).rejects.toMatchObject({ code: 'BAD_REQUEST', status: 400 });
  });

  test('may lie in our own network where the operator says so', async () => {
    await expect(
      overrides({ allowPrivate: true }).languageModel({ baseUrl: 'https://127.0.0.1:1/v1' }),
    ).resolves.toBeDefined();
  });

  test.each<ModelOverride>([{ baseUrl: URL }, { apiKey: 'k' }])(
    'may only be named where addresses and keys are not allowed: %j',
    async (override) => {
      const refused = overrides({ allowCustomEndpoint: false });
      await expect(refused.languageModel(override)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      await expect(refused.languageModel({ model: 'm' })).resolves.toMatchObject({ modelName: 'm' });
    },
  );

  test('needs a server', async () => {
    const builtin = await openModels({});
    const models = createOverrideModels({
      endpoints: builtin.endpoints,
      dispatchers: { own, foreign },
      answers: createSemaphores(1),
      keys: null,
      settings: {
        allowCustomEndpoint: true,
        allowPrivate: false,
        contextTokens: 4096,
        timeoutMs: 1000,
      },
    });
    await expect(models.languageModel({ model: 'm' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    foreignAnswers();
    expect(await ask(await models.languageModel({ baseUrl: URL, model: 'm' }))).toBe('Hello.');
    await builtin.close();
  });
});
