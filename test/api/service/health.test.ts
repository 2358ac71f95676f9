import { afterEach, describe, expect, it, test } from '@jest/globals';
import { createDefaultEmbedderMigration } from '../../../activities/migrations/default-embedder.js';
import type { Adapters } from '../../../activities/ports/adapters.js';
import { createInProcessRateLimits } from '../../../activities/stores/redis/rate-limits.js';
import { AppError } from '../../../schemas/app-error.js';
import { AccessProblem } from '../../../schemas/engine-access.js';
import type { ModelType } from '../../../schemas/models/model-endpoints.js';
import type { ReadyBody } from '../../../schemas/documents/documents-api.js';
import { askJson } from '../support/ask-json.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

let gateway: Gateway;
afterEach(() => gateway.close());

describe('GET /health_check', () => {
  it('is open to everyone and says one JSON string', async () => {
    gateway = await startGateway();
    const response = await gateway.call('GET', '/health_check', { token: null });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-xss-protection': '0',
      'cross-origin-opener-policy': 'same-origin',
      'x-permitted-cross-domain-policies': 'none',
    });
    expect(headers).not.toHaveProperty('strict-transport-security');
    expect(await response.text()).toBe('"RAG API is up."');
  });
});

test('in production every answer asks for https from then on', async () => {
  gateway = await startGateway({ env: { NODE_ENV: 'production' } });
  for (const path of ['/health_check', '/nowhere', '/partition/'])
    expect((await gateway.call('GET', path, { token: null })).headers.get('strict-transport-security')).toBe(
      'max-age=15552000; includeSubDomains',
    );
});

describe('GET /version', () => {
  it('tells our release and the contract', async () => {
    gateway = await startGateway();
    const body = await (await gateway.call('GET', '/version/', { token: null })).json();
    expect(body).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/), api_version: '2.3' });
  });
});

describe('GET /ready', () => {
  it('is ready when the three engines answer', async () => {
    gateway = await startGateway();
    const response = await gateway.call('GET', '/ready', { token: null });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'ready',
      checks: {
        postgres: 'ok',
        milvus: 'ok',
        ray: 'ok',
        mongodb: 'ok',
        opensearch: 'ok',
        temporal: 'ok',
        embedder: 'ok',
        llm: 'ok',
        reranker: 'unresolvable',
        migrations: 'ok',
      },
      model_endpoints: [
        { provider: 'configured', kind: 'embedder', status: 'ok' },
        { provider: 'configured', kind: 'llm', status: 'ok' },
      ],
      configuration_references: [],
      migrations: [],
    });
  });

  it('is not ready without Temporal, while /health_check still answers', async () => {
    gateway = await startGateway();
    gateway.workflows.state.away = true;
    const response = await gateway.call('GET', '/ready', { token: null });
    expect(response.status).toBe(503);
    const body = (await response.json()) as { status: string; checks: Record<string, string> };
    expect(body).toMatchObject({
      status: 'not_ready',
      checks: { ray: 'unavailable', temporal: 'unavailable' },
    });
    expect((await gateway.call('GET', '/health_check', { token: null })).status).toBe(200);
  });

  it('gives an engine that hangs two seconds', async () => {
    gateway = await startGateway({
      adapt: (adapters) => ({
        ...adapters,
        probes: { ...adapters.probes, opensearch: () => new Promise(() => {}) },
      }),
    });
    const body = (await (await gateway.call('GET', '/ready', { token: null })).json()) as {
      checks: Record<string, string>;
    };
    expect(body.checks).toMatchObject({ milvus: 'timeout', opensearch: 'timeout', mongodb: 'ok' });
  });
});

test('GET /ready names the variable of an engine that turns the service away, and shows nothing secret', async () => {
  const refused = new AccessProblem('OPENSEARCH_USERNAME, OPENSEARCH_PASSWORD: refused.', {
    cause: new Error('the password hunter2 is wrong'),
  });
  gateway = await startGateway({
    adapt: (adapters) => ({
      ...adapters,
      probes: {
        ...adapters.probes,
        opensearch: () => Promise.reject(new AppError('VDB_CONNECTION_ERROR', undefined, { cause: refused })),
      },
    }),
    // Redis decides nothing.
    rateLimits: { ...createInProcessRateLimits(), problem: () => new AccessProblem('REDIS_URL: refused.') },
  });
  const response = await gateway.call('GET', '/ready', { token: null });
  expect(response.status).toBe(503);
  const body = (await response.json()) as ReadyBody;
  expect(body.checks).toMatchObject({ opensearch: 'unavailable', mongodb: 'ok', temporal: 'ok' });
  expect(body.problems).toEqual([refused.message, 'REDIS_URL: refused.']);
});

describe('GET /ready, of models on a server', () => {
  const ready = async (adapt: (models: Adapters['models']) => Partial<Adapters['models']>, env = {}) => {
    gateway = await startGateway({
      env,
      adapt: (adapters) => ({ ...adapters, models: { ...adapters.models, ...adapt(adapters.models) } }),
    });
    const response = await gateway.call('GET', '/ready', { token: null });
    return { status: response.status, body: (await response.json()) as ReadyBody };
  };
  const REQUIRED = { READINESS_REQUIRE_EMBEDDER: 'true' };
  const away = async (kind: string): Promise<void> => {
    if (kind === 'embedder') throw new AppError('EMBEDDING_API_ERROR');
  };

  it('tells that one is away; only READINESS_REQUIRE_EMBEDDER makes an embedder decide', async () => {
    const told = await ready(() => ({ check: away }));
    expect(told).toMatchObject({ status: 200, body: { checks: { embedder: 'unavailable', llm: 'ok' } } });
    expect(told.body.model_endpoints).toContainEqual({
      provider: 'configured',
      kind: 'embedder',
      status: 'unavailable',
    });
    await gateway.close();
    expect(await ready(() => ({ check: away }), REQUIRED)).toMatchObject({
      status: 503,
      body: { status: 'not_ready', checks: { embedder: 'unavailable', mongodb: 'ok' } },
    });
  });

  it('gives a model two seconds, stops asking then, and never lets a slow one decide', async () => {
    let dropped = false;
    const silent = (kind: string, _name: string, signal?: AbortSignal) =>
      kind === 'embedder'
        ? new Promise<void>(() => signal?.addEventListener('abort', () => (dropped = true)))
        : Promise.resolve();
    const { status, body } = await ready(() => ({ check: silent }), REQUIRED);
    expect(status).toBe(200);
    expect(body.checks).toMatchObject({ embedder: 'timeout', llm: 'ok' });
    expect(dropped).toBe(true);
  });

  it('tells of every endpoint that a partition or a preset names, and of the kinds beside the three', async () => {
    gateway = await startGateway({
      adapt: (adapters) => ({
        ...adapters,
        endpoints: {
          ...adapters.endpoints,
          list: async () => {
            const own = await adapters.endpoints.list();
            const more = (name: string, model_type: ModelType) => ({ ...own[0]!, name, model_type });
            return [...own, more('second', 'embedder'), more('eyes', 'vlm'), more('idle', 'stt')];
          },
        },
        partitions: {
          ...adapters.partitions,
          list: async (scope) =>
            (await adapters.partitions.list(scope)).map((record) => ({ ...record, embedder: 'second' })),
        },
        presets: {
          ...adapters.presets,
          list: async () =>
            (await adapters.presets.list()).map((preset) =>
              preset.preset_type === 'indexation'
                ? { ...preset, config: { ...preset.config, vlm: 'eyes' } }
                : preset,
            ),
        },
        models: {
          ...adapters.models,
          check: async (type, name, signal) => {
            if (name === 'second') throw new AppError('EMBEDDING_API_ERROR');
            if (name !== 'eyes') await adapters.models.check(type, name, signal);
          },
        },
      }),
    });
    await gateway.call('POST', '/partition/one');
    const response = await gateway.call('GET', '/ready', { token: null });
    const { status, checks, model_endpoints: endpoints } = (await response.json()) as ReadyBody;
    expect(status).toBe('ready');
    expect(checks).toMatchObject({ embedder: 'ok', llm: 'ok', vlm: 'ok' });
    expect(checks).not.toHaveProperty('stt');
    expect(endpoints).toEqual(
      [
        ['embedder', 'ok'],
        ['embedder', 'unavailable'],
        ['llm', 'ok'],
        ['vlm', 'ok'],
      ].map(([kind, state]) => ({ provider: 'configured', kind, status: state })),
    );
  });

  it('an embedder that is not configured decides when it is required', async () => {
    const none = () => ({ defaultName: () => Promise.resolve(null) });
    expect(await ready(none, REQUIRED)).toMatchObject({
      status: 503,
      body: { checks: { embedder: 'unresolvable' }, model_endpoints: [] },
    });
  });

  it('a table of endpoints that cannot be read is told, and no embedder decides then', async () => {
    const broken = () => ({ defaultName: () => Promise.reject(new AppError('SERVICE_UNAVAILABLE')) });
    expect(await ready(broken, REQUIRED)).toMatchObject({
      status: 200,
      body: { checks: { model_endpoint_discovery: 'unavailable', embedder: 'unavailable' } },
    });
  });

  it('asks once in two seconds, however often it is asked', async () => {
    let asked = 0;
    gateway = await startGateway({
      adapt: (adapters) => ({
        ...adapters,
        models: { ...adapters.models, check: async () => void (asked += 1) },
      }),
    });
    await Promise.all(Array.from({ length: 20 }, () => gateway.call('GET', '/ready', { token: null })));
    expect(asked).toBe(2);
  });
});

describe('GET /ready, of what is to be migrated', () => {
  const ready = async () => {
    const response = await gateway.call('GET', '/ready', { token: null });
    const { status, checks, migrations } = (await response.json()) as ReadyBody;
    return { code: response.status, status, check: checks['migrations'], migrations };
  };
  const GREEN = { code: 200, status: 'ready' };
  const NEEDED = { what: 'schema 2', amount: 7, dark: ['searches', 'uploads'] };

  it('names it and stays green', async () => {
    gateway = await startGateway();
    gateway.migrations.state.pending = { ...NEEDED, obstacle: null };
    expect(await ready()).toEqual({
      ...GREEN,
      check: 'required',
      migrations: [
        {
          name: 'vector-store',
          state: 'required',
          dark: NEEDED.dark,
          next: 'POST /admin/migrations/vector-store runs it.',
        },
      ],
    });
  });

  it('tells what makes nothing dark from what does', async () => {
    gateway = await startGateway();
    gateway.migrations.state.pending = { ...NEEDED, dark: [], obstacle: null };
    expect(await ready()).toMatchObject({ ...GREEN, check: 'pending', migrations: [{ state: 'pending' }] });
  });

  it('tells nobody the names that stand in an obstacle', async () => {
    gateway = await startGateway();
    gateway.migrations.state.pending = { ...NEEDED, obstacle: 'The partition secret-plans uses …' };
    const told = await ready();
    expect(told.migrations[0]?.next).toBe('It cannot run as things stand: GET /admin/migrations says why.');
    expect(JSON.stringify(told)).not.toContain('secret-plans');
  });

  it('says what to do where no embedder is marked for those of an earlier release', async () => {
    gateway = await startGateway({
      adapt: (own) => ({
        ...own,
        migrations: { ...own.migrations, migrations: [createDefaultEmbedderMigration(own)] },
      }),
    });
    const { adapters } = gateway;
    await adapters.partitions.create({ partition: 'p', embedder: 'default', ownerId: 1 });
    expect(await ready()).toEqual({
      ...GREEN,
      check: 'required',
      migrations: [
        {
          name: 'default-embedder',
          state: 'required',
          dark: ['searches', 'uploads', 'chats'],
          next: expect.stringContaining('mark the embedder that made their vectors as the default'),
        },
      ],
    });
  });

  it('is unknown while the vector store is away', async () => {
    gateway = await startGateway();
    gateway.migrations.state.fault = new AppError('VDB_CONNECTION_ERROR');
    expect(await ready()).toEqual({ ...GREEN, check: 'unavailable', migrations: [] });
  });
});

describe('GET /ready, of names that resolve to nothing', () => {
  const references = async (): Promise<unknown> => {
    const response = await gateway.call('GET', '/ready', { token: null });
    expect(response.status).toBe(200);
    return ((await response.json()) as ReadyBody).configuration_references;
  };
  const ask = async (method: string, path: string, body?: unknown): Promise<void> => {
    const [status, answered] = await askJson(gateway, method, path, { token: ADMIN_TOKEN, body });
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answered)}`);
  };

  it('counts the names by what they should be, and decides nothing by them', async () => {
    gateway = await startGateway();
    const AWAY = 'http://127.0.0.1:9/v1';
    for (const [model_type, name] of [
      ['embedder', 'vectors'],
      ['llm', 'writer'],
      ['llm', 'talker'],
      ['reranker', 'scorer'],
    ])
      await ask('POST', '/model-endpoints/', { name, model_type, endpoint: AWAY, model_name: 'm' });
    const retrieval = {
      preset_type: 'retrieval',
      config: { reranker: 'scorer', llm: 'writer', hyde_prompt_name: 'mine' },
    };
    await ask('POST', '/prompts/', { prompt_type: 'hyde', name: 'mine', content: '{query}' });
    await ask('POST', '/presets/', { name: 'careful', ...retrieval });
    await ask('POST', '/presets/', { name: 'twice', ...retrieval });
    await ask('POST', '/presets/', {
      name: 'slow',
      preset_type: 'indexation',
      config: { contextualization_llm: 'default' },
    });
    for (const partition of ['one', 'two']) {
      await ask('POST', `/partition/${partition}`);
      await ask('PATCH', `/partition/${partition}`, {
        embedder: 'vectors',
        chat_llm: 'talker',
        retrieval_preset: 'careful',
        indexation_preset: 'slow',
      });
    }
    const { endpoints, presets, prompts } = gateway.adapters;
    const prompt = await prompts.find('hyde', 'mine');
    // Nothing of this can be removed through the API.
    await endpoints.remove('embedder', 'vectors');
    await endpoints.remove('llm', 'writer');
    await endpoints.remove('llm', 'talker');
    await presets.remove('indexation', 'slow');
    await prompts.remove(prompt!.id);
    expect(await references()).toEqual([
      { kind: 'embedder', count: 1, status: 'unresolvable' },
      { kind: 'indexation_preset', count: 1, status: 'unresolvable' },
      { kind: 'llm', count: 2, status: 'unresolvable' },
      { kind: 'prompt', count: 1, status: 'unresolvable' },
    ]);
  });

  it('has none where everything resolves, `default` included, or while they cannot be read', async () => {
    gateway = await startGateway();
    await ask('POST', '/partition/one');
    await ask('POST', '/presets/', {
      name: 'plain',
      preset_type: 'retrieval',
      config: { reranker: 'default', hyde_prompt_name: 'default' },
    });
    expect(await references()).toEqual([]);
    await gateway.close();
    gateway = await startGateway({
      adapt: (own) => ({
        ...own,
        presets: { ...own.presets, list: () => Promise.reject(new AppError('SERVICE_UNAVAILABLE')) },
      }),
    });
    expect(await references()).toEqual([]);
  });
});
