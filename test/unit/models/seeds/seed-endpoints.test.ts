import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createFakeModelEndpointStore } from '../../../support/fakes/models/fake-model-endpoint-store.js';
import { modelEnvironment, openModels } from '../../../support/model-server/open-models.js';
import type { OpenedModels } from '../../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';

/** Nobody listens there. */
const AWAY = 'http://127.0.0.1:9';
const SECRETS_KEY = Buffer.from('a key of 32 bytes for the tests!').toString('base64');

let server: ScriptedModelServer;
const opened: OpenedModels[] = [];

/** One start of a process over a table that outlives it. */
async function start(environment: Record<string, string>, endpoints = createFakeModelEndpointStore()) {
  const models = await openModels(environment, { endpoints });
  opened.push(models);
  return models;
}

function defaultsOf({ endpoints }: OpenedModels) {
  return endpoints.defaults();
}

beforeAll(async () => {
  server = await startScriptedModelServer();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((models) => models.close()));
  server.reset();
});
afterAll(() => server.close());

describe('the table of model endpoints at the start', () => {
  test('without any configuration holds the built-in models', async () => {
    const models = await start({});
    expect((await models.endpoints.list()).map(({ name }) => name)).toEqual([
      'builtin-hash',
      'builtin-extractive',
    ]);
    expect(await defaultsOf(models)).toEqual({ embedder: 'builtin-hash', llm: 'builtin-extractive' });
  });

  test('is filled from the environment at the first start, and wins afterwards', async () => {
    const first = await start(modelEnvironment(server));
    expect(await defaultsOf(first)).toEqual({ embedder: 'default', llm: 'default' });
    const second = await start({ BASE_URL: AWAY, MODEL: 'other' }, first.endpoints);
    expect(await second.endpoints.get('llm', 'default')).toMatchObject({ endpoint: server.url });
    const third = await start({ ...modelEnvironment(server), BASE_URL: AWAY }, (await start({})).endpoints);
    expect(await defaultsOf(third)).toEqual({ embedder: 'builtin-hash', llm: 'builtin-extractive' });
    expect(await third.endpoints.get('llm', 'default')).toMatchObject({ endpoint: AWAY });
  });

  test('is marked as put there by a start, whatever put it there', async () => {
    const environment = { ...modelEnvironment(server), MODEL_ENDPOINT_SYNC_ON_BOOT: 'true' };
    const { endpoints } = await start(environment);
    await start({ OLLAMA_HOST: server.url }, endpoints);
    await start({ ...environment, EMBEDDER_BATCH_SIZE: '7' }, endpoints);
    const marks = (await endpoints.list()).map(({ name, seeded }) => [name, seeded]);
    expect(marks.length).toBeGreaterThan(4);
    expect(marks.filter(([, seeded]) => seeded !== true)).toEqual([]);
  });

  test('says which dialect the environment names', async () => {
    const { endpoints } = await start({ ...modelEnvironment(server, 'openai'), LLM_PROVIDER: '' });
    expect(await endpoints.get('embedder', 'default')).toMatchObject({
      provider: 'openai',
      extra: { provider: 'openai' },
    });
    expect(await endpoints.get('llm', 'default')).toMatchObject({ provider: null, extra: {} });
  });

  test('holds the vision model of the environment', async () => {
    const models = await start({ VLM_BASE_URL: AWAY, VLM_MODEL: 'eye' });
    expect(await models.endpoints.get('vlm', 'default')).toMatchObject({ endpoint: AWAY, model_name: 'eye' });
    expect((await defaultsOf(models)).vlm).toBe('default');
  });

  test('with MODEL_ENDPOINT_SYNC_ON_BOOT the environment wins, and what was probed of the same model stays', async () => {
    const { endpoints, registry } = await start({});
    const sync = { MODEL_ENDPOINT_SYNC_ON_BOOT: 'true' };
    const synced = await start({ ...modelEnvironment(server), ...sync }, endpoints);
    expect(await defaultsOf(synced)).toEqual({ embedder: 'default', llm: 'default' });
    await synced.registry.embedder('default');
    const probed = await endpoints.get('embedder', 'default');
    const again = { ...modelEnvironment(server), ...sync, EMBEDDER_BATCH_SIZE: '7' };
    await start(again, endpoints);
    expect(await endpoints.get('embedder', 'default')).toEqual({
      ...probed,
      batch_size: 7,
      updated_at: expect.any(Date),
    });
    await start({ ...again, EMBEDDER_MODEL_NAME: 'another' }, endpoints);
    const other = await endpoints.get('embedder', 'default');
    expect(other).toMatchObject({ dimension: null, probed_at: null, provider: null });
    expect(other?.vector_field).not.toBe(probed?.vector_field);
    expect(await registry.defaultName('embedder')).toBe('default');
  });

  test('a key is stored sealed, for its own address only', async () => {
    const environment = { BASE_URL: server.url, MODEL: 'm', API_KEY: 'the-key', SECRETS_KEY };
    const { endpoints } = await start(environment);
    const record = await endpoints.get('llm', 'default');
    expect(record?.sealed_api_key).toMatch(/^v1\./);
    expect(JSON.stringify(record)).not.toContain('the-key');
    await endpoints.save({ ...record!, endpoint: AWAY });
    const moved = await start({ SECRETS_KEY }, endpoints);
    await expect(moved.registry.languageModel()).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
    const keyless = await start({}, endpoints);
    await expect(keyless.registry.languageModel()).rejects.toThrow('SECRETS_KEY');
  });
});

describe('OLLAMA_HOST alone', () => {
  test('its models become endpoints, and the defaults of the first start', async () => {
    const models = await start({ OLLAMA_HOST: server.url });
    const names = { embedder: 'ollama-scripted-embedder', llm: 'ollama-scripted-llm' };
    expect(await defaultsOf(models)).toEqual(names);
    expect(await models.registry.embedder(names.embedder)).toMatchObject({ dimension: 48 });
    expect(await models.registry.languageModel()).toMatchObject({
      endpointName: names.llm,
      contextTokens: 512,
    });
  });

  test('a later find only adds endpoints', async () => {
    const { endpoints } = await start({});
    const later = await start({ OLLAMA_HOST: server.url }, endpoints);
    expect(await defaultsOf(later)).toEqual({ embedder: 'builtin-hash', llm: 'builtin-extractive' });
    expect((await endpoints.list()).map(({ name }) => name)).toContain('ollama-scripted-embedder');
  });

  test('away at the first start: the built-in models serve until the first find', async () => {
    const { endpoints } = await start({ OLLAMA_HOST: AWAY });
    expect(await endpoints.defaults()).toEqual({ embedder: 'builtin-hash', llm: 'builtin-extractive' });
    await start({ OLLAMA_HOST: server.url }, endpoints);
    expect((await endpoints.defaults()).embedder).toBe('ollama-scripted-embedder');
  });

  test('leaves alone the type that is configured otherwise', async () => {
    const models = await start({ OLLAMA_HOST: server.url, BASE_URL: AWAY, MODEL: 'm' });
    expect(await defaultsOf(models)).toEqual({ embedder: 'ollama-scripted-embedder', llm: 'default' });
    expect((await models.endpoints.list('llm')).map(({ name }) => name)).not.toContain('ollama-scripted-llm');
  });
});

describe('an endpoint that was never probed', () => {
  test('costs the start nothing while its server is away, and is probed once when it is needed', async () => {
    const { endpoints, registry } = await start({
      EMBEDDER_BASE_URL: AWAY,
      EMBEDDER_MODEL_NAME: 'scripted-embedder',
    });
    await expect(registry.embedder('default')).rejects.toMatchObject({
      code: 'EMBEDDING_API_ERROR',
      status: 503,
    });
    await endpoints.save({ ...(await endpoints.get('embedder', 'default'))!, endpoint: server.url });
    const [embedder] = await Promise.all(Array.from({ length: 20 }, () => registry.embedder('default')));
    expect(embedder).toMatchObject({ dimension: 48, maxInputTokens: 512 });
    expect(server.asked('embed')).toHaveLength(1);
    expect(await registry.embedder('default')).toBe(embedder);
  });

  test('makes sure of its own vector field before it is used', async () => {
    const models = await start(modelEnvironment(server));
    const { vectorField } = await models.registry.embedder('default');
    expect(models.fields).toEqual([{ vectorField, dimension: 48 }]);
    expect(vectorField).toMatch(/^vector_default_[0-9a-f]{8}$/);
  });

  test('an unknown model is an error, and nothing is written down', async () => {
    const models = await start({ ...modelEnvironment(server), EMBEDDER_MODEL_NAME: 'none', MODEL: 'none' });
    await expect(models.registry.embedder('default')).rejects.toMatchObject({ code: 'EMBEDDING_API_ERROR' });
    await expect(models.registry.languageModel()).rejects.toMatchObject({ code: 'INFERENCE_ERROR' });
    expect(await models.endpoints.get('embedder', 'default')).toMatchObject({
      probed_at: null,
      dimension: null,
    });
  });
});
