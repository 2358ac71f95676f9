import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import { until } from '../../support/until.js';
import { askJson } from '../support/ask-json.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { indexText, uploadForm } from '../support/uploads.js';

/** Nobody listens there. */
const AWAY = 'http://127.0.0.1:9/v1';
const SECRETS_KEY = Buffer.from('a key of 32 bytes for the tests!').toString('base64');
const KEY = 'sk-0123456789';

let server: ScriptedModelServer;
let gateway: Gateway;
let ada: string;
beforeAll(async () => {
  server = await startScriptedModelServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  gateway = await startGateway({ env: { SECRETS_KEY } });
  ada = gateway.addUser('ada').token;
});
afterEach(async () => {
  await gateway.close();
  server.reset();
});

function ask(method: string, path: string, body?: unknown, token = ADMIN_TOKEN) {
  return askJson(gateway, method, path, { body, token });
}

function create(body: object) {
  return ask('POST', '/model-endpoints/', body);
}

const LLM = { name: 'writer', model_type: 'llm', endpoint: AWAY, model_name: 'm' };
const EMBEDDER = { name: 'vectors', model_type: 'embedder', endpoint: AWAY, model_name: 'e' };
/** Answers at once, and needs no server. */
const HASH = { name: 'old', model_type: 'embedder', endpoint: 'http://unused', model_name: 'x' };

function DOMAIN(code: string) {
  return expect.objectContaining({ detail: expect.stringMatching(new RegExp(String.raw`^\[${code}\]: `)) });
}

const FORBIDDEN = [403, { detail: 'Admin privileges required' }];

/** A partition whose files have vectors of the embedder `old`, which the built-in model makes. */
async function indexOld(): Promise<void> {
  await create(HASH);
  const { endpoints } = gateway.adapters;
  const builtin = await endpoints.get('embedder', 'builtin-hash');
  const registered = await endpoints.get('embedder', 'old');
  await endpoints.save({
    ...registered!,
    endpoint: 'builtin:',
    model_name: builtin!.model_name,
    dimension: builtin!.dimension,
    // To be edited like any other one.
    provider: 'openai',
  });
  await gateway.adapters.chunks.ensureSchema([
    { vectorField: registered!.vector_field!, dimension: builtin!.dimension! },
  ]);
  await gateway.call('POST', '/partition/one', { token: ada });
  await ask('PATCH', '/partition/one', { embedder: 'old' }, ada);
  await indexText(gateway, { partition: 'one', fileId: 'a', token: ada }, ['zanzibar']);
}

describe('an endpoint that an administrator registers or edits', () => {
  it('is marked no more as put there by a start', async () => {
    const { endpoints } = gateway.adapters;
    await create(LLM);
    const own = await endpoints.get('llm', LLM.name);
    expect(own).not.toHaveProperty('seeded');
    for (const [name, patch] of [
      ['found', { timeout: 7 }],
      ['other', { name: 'renamed' }],
    ] as const) {
      await endpoints.seed({ ...own!, name, seeded: true });
      expect(await ask('PUT', `/model-endpoints/llm/${name}`, patch)).toEqual([200, expect.anything()]);
    }
    expect(await endpoints.get('llm', 'found')).not.toHaveProperty('seeded');
    expect(await endpoints.get('llm', 'renamed')).not.toHaveProperty('seeded');
  });
});

describe('GET /model-endpoints/', () => {
  it('is for administrators, in both slash forms', async () => {
    expect(await ask('GET', '/model-endpoints/', undefined, ada)).toEqual(FORBIDDEN);
    for (const path of ['/model-endpoints', '/model-endpoints/']) {
      const [status, body] = await ask('GET', path);
      expect([status, body.map(({ name }: { name: string }) => name)]).toEqual([
        200,
        ['builtin-hash', 'builtin-extractive'],
      ]);
    }
  });

  it('lists one type, and tells what is known of language models', async () => {
    expect((await ask('GET', '/model-endpoints/?model_type=llm'))[1]).toEqual([
      {
        name: 'builtin-extractive',
        model_type: 'llm',
        endpoint: 'builtin:',
        batch_size: 1,
        model_name: 'builtin/extractive',
        timeout: 120,
        extra: {},
        has_api_key: false,
        is_default: true,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        detected_max_llm_context_size: null,
        context_size_detection_pending: false,
        default_max_llm_context_size: 8192,
        default_max_output_tokens: 1024,
      },
    ]);
    expect((await ask('GET', '/model-endpoints/?model_type=rerankers'))[0]).toBe(422);
  });
});

describe('POST /model-endpoints/', () => {
  it('is for administrators', async () => {
    expect(await ask('POST', '/model-endpoints/', LLM, ada)).toEqual(FORBIDDEN);
  });

  it('registers an endpoint, its key sealed and masked', async () => {
    const extra = { api_key: KEY, max_llm_context_size: 4096, nested: { 'a.b': [1] } };
    const [status, body] = await create({ ...LLM, extra });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        ...LLM,
        batch_size: 32,
        timeout: 30,
        has_api_key: true,
        is_default: false,
        extra: { ...extra, api_key: 'sk-********' },
        detected_max_llm_context_size: null,
        context_size_detection_pending: true,
      }),
    ]);
    expect((await ask('GET', '/model-endpoints/llm/writer'))[1]).toEqual(body);
    const stored = await gateway.adapters.endpoints.get('llm', 'writer');
    expect(JSON.stringify(stored)).not.toContain(KEY);
    expect(await create(LLM)).toEqual([409, DOMAIN('MODEL_ENDPOINT_EXISTS')]);
    expect((await create({ ...LLM, model_type: 'vlm' }))[0]).toBe(201);
  });

  it('asks the server by itself what only it knows', async () => {
    await create({ ...LLM, endpoint: server.url, model_name: 'scripted-llm' });
    await create({ ...EMBEDDER, endpoint: server.url, model_name: 'scripted-embedder' });
    await until('the window is known', async () => {
      const [, body] = await ask('GET', '/model-endpoints/llm/writer');
      return body.context_size_detection_pending === false && body.detected_max_llm_context_size === 512;
    });
    await until('the dimension is known', async () =>
      gateway.adapters.endpoints.get('embedder', 'vectors').then((found) => found?.dimension === 48),
    );
  });

  it('holds rerankers with the dialect they speak', async () => {
    for (const provider of ['infinity', 'tei', 'openai'])
      expect(
        (await create({ ...LLM, name: provider, model_type: 'reranker', extra: { provider } }))[1],
      ).toMatchObject({ model_type: 'reranker', extra: { provider } });
    expect((await gateway.adapters.endpoints.get('reranker', 'tei'))?.provider).toBe('tei');
    expect(
      (await create({ ...LLM, name: 'x', model_type: 'reranker', extra: { provider: 'ollama' } }))[0],
    ).toBe(422);
    expect((await create({ ...LLM, extra: { provider: 'tei' } }))[0]).toBe(422);
    expect((await create({ ...LLM, extra: { provider: 'openai' } }))[0]).toBe(201);
  });

  it.each([
    { name: '' },
    { name: '-x' },
    { name: 'x'.repeat(129) },
    { name: '../x' },
    { model_type: 'other' },
    { endpoint: 'file:///etc/passwd' },
    { endpoint: 'builtin:' },
    { endpoint: 'http://user:password@host/' },
    { endpoint: 'http://host/?x=1' },
    { batch_size: 0 },
    { timeout: 0 },
    { extra: [] },
    { extra: { api_key: 'abc********' } },
    { extra: { api_key: '<redacted>' } },
    { extra: { nested: { token: '<redacted>' } } },
  ])('refuses %j', async (fault) => {
    expect((await create({ ...LLM, ...fault }))[0]).toBe(422);
  });

  it('can make it the default at once', async () => {
    expect((await create({ ...LLM, is_default: true }))[1].is_default).toBe(true);
    expect((await ask('GET', '/model-endpoints/llm/builtin-extractive'))[1].is_default).toBe(false);
  });

  it('says what is missing where no key can be kept', async () => {
    const keyless = await startGateway();
    const sent = { body: { ...LLM, extra: { api_key: KEY } }, token: ADMIN_TOKEN };
    const [status, body] = await askJson(keyless, 'POST', '/model-endpoints/', sent);
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('SECRETS_KEY')]);
    await keyless.close();
  });
});

describe('PUT /model-endpoints/{type}/{name}', () => {
  beforeEach(() => create({ ...LLM, extra: { api_key: KEY, note: 1 } }));
  const put = (body: object, name = 'writer') => ask('PUT', `/model-endpoints/llm/${name}`, body);
  const revealed = async (name = 'writer') =>
    (await ask('POST', `/model-endpoints/llm/${name}/reveal-api-key`))[1].api_key as unknown;

  it('is for administrators, and knows what is not there', async () => {
    expect(await ask('PUT', '/model-endpoints/llm/writer', {}, ada)).toEqual(FORBIDDEN);
    expect((await put({}, 'nobody'))[0]).toBe(404);
    expect((await put({ model_type: 'vlm' }))[0]).toBe(422);
    expect((await put({ is_default: true, batch_size: 0 }))[0]).toBe(422);
  });

  it('changes what is given, and keeps the key when its mask comes back', async () => {
    const [, loaded] = await ask('GET', '/model-endpoints/llm/writer');
    const [status, saved] = await put({ ...loaded, batch_size: 7, timeout: 2.5 });
    expect([status, saved]).toEqual([
      200,
      { ...loaded, batch_size: 7, timeout: 2.5, updated_at: expect.any(String) },
    ]);
    expect(await revealed()).toBe(KEY);
    // At another address it is sealed anew.
    expect((await put({ endpoint: 'http://127.0.0.1:10' }))[1]).toMatchObject({ has_api_key: true });
    expect(await revealed()).toBe(KEY);
    expect((await put({ extra: { api_key: 'other-key' } }))[1].extra).toEqual({ api_key: 'oth********' });
    expect(await revealed()).toBe('other-key');
    expect((await put({ extra: { api_key: 'sk-********' } }))[0]).toBe(422);
  });

  it.each([
    ['the mark of the 2.3 page', { note: 1, api_key: '<redacted>' }],
    ['its mask', { api_key: 'sk-********' }],
    ['no word of it', { note: 2 }],
    ['nothing at all', undefined],
  ])('keeps the stored key that %s stands for', async (_what, extra) => {
    const [status, body] = await put({ batch_size: 7, ...(extra === undefined ? {} : { extra }) });
    expect([status, body]).toEqual([200, expect.objectContaining({ has_api_key: true, batch_size: 7 })]);
    expect(body.extra.api_key).toBe('sk-********');
    expect(await revealed()).toBe(KEY);
    // Nor does a new address or name lose it.
    expect((await put({ extra, endpoint: 'http://127.0.0.1:10', name: 'author' }))[0]).toBe(200);
    expect(await revealed('author')).toBe(KEY);
  });

  it.each([[''], [null]])('removes the stored key for %j', async (api_key) => {
    expect((await put({ extra: { api_key } }))[1]).toMatchObject({ extra: {}, has_api_key: false });
    expect(await revealed()).toBeNull();
    expect((await put({ extra: { api_key: '<redacted>' } }))[1]).toMatchObject({ has_api_key: false });
  });

  it('puts back what else a page hid', async () => {
    const hidden = { client_secret: 'c', servers: [{ token: 't' }, { url: 'u' }] };
    await put({ extra: hidden });
    const returned = {
      client_secret: '<redacted>',
      servers: [{ token: '<redacted>' }, { url: 'v' }],
      note: 3,
    };
    expect((await put({ extra: returned }))[1].extra).toEqual({
      client_secret: 'c',
      servers: [{ token: 't' }, { url: 'v' }],
      note: 3,
      api_key: 'sk-********',
    });
    for (const extra of [{ hf_token: '<redacted>' }, { servers: { token: '<redacted>' } }])
      expect((await put({ extra }))[0]).toBe(422);
  });

  it('takes a new name, and what names it follows', async () => {
    await gateway.call('POST', '/partition/one', { token: ada });
    await ask('PATCH', '/partition/one', { chat_llm: 'writer' }, ada);
    await ask('POST', '/model-endpoints/llm/writer/set-default');
    const hyde = await gateway.adapters.presets.get('retrieval', 'hyde');
    await gateway.adapters.presets.replace(hyde!, {
      ...hyde!,
      config: { ...hyde!.config, llm: 'writer' },
    });
    const [status, body] = await put({ name: 'author' });
    expect([status, body]).toEqual([200, expect.objectContaining({ name: 'author', is_default: true })]);
    expect((await put({}))[0]).toBe(404);
    expect(await revealed('author')).toBe(KEY);
    expect((await ask('GET', '/partition/one/config', undefined, ada))[1].chat_llm).toBe('author');
    expect((await gateway.adapters.presets.get('retrieval', 'hyde'))?.config.llm).toBe('author');
    await create({ ...LLM, name: 'third' });
    expect(await put({ name: 'third' }, 'author')).toEqual([409, DOMAIN('MODEL_ENDPOINT_EXISTS')]);
  });

  it('changes nothing of a built-in model but whether it is the default', async () => {
    await ask('POST', '/model-endpoints/llm/writer/set-default');
    const [, loaded] = await ask('GET', '/model-endpoints/llm/builtin-extractive');
    expect((await put({ ...loaded, is_default: true }, 'builtin-extractive'))[1].is_default).toBe(true);
    for (const fault of [{ name: 'x' }, { endpoint: AWAY }, { batch_size: 9 }, { extra: { api_key: 'k' } }])
      expect((await put(fault, 'builtin-extractive'))[0]).toBe(422);
    expect((await put({ endpoint: 'builtin:' }))[0]).toBe(422);
    expect((await put({ is_default: false }, 'builtin-extractive'))[0]).toBe(422);
  });

  it.each([{}, { model_name: '' }, { model_name: null }])('has no model name with %j', async (none) => {
    const tei = { name: 'tei', model_type: 'reranker', endpoint: AWAY };
    const [status, created] = await create({ ...tei, ...none });
    expect([status, created.model_name]).toEqual([201, '']);
    const path = '/model-endpoints/reranker/tei';
    const [, shown] = await ask('GET', path);
    const [, saved] = await ask('PUT', path, { ...shown, timeout: 7, acknowledge_indexed_data: false });
    expect(saved).toEqual({ ...shown, timeout: 7, updated_at: expect.any(String) });
    await ask('PUT', path, { model_name: 'named' });
    const kept = none.model_name === undefined ? 'named' : '';
    expect((await ask('PUT', path, none))[1].model_name).toBe(kept);
    expect((await ask('POST', '/model-endpoints/validate', { ...tei, ...none }))[0]).toBe(200);
  });

  it('reaches what runs without a restart', async () => {
    const { models } = gateway.adapters;
    await put({ endpoint: server.url, model_name: 'scripted-llm', extra: { max_llm_context_size: 300 } });
    const first = await models.languageModel('writer');
    expect(first).toMatchObject({ modelName: 'scripted-llm', contextTokens: 300 });
    await put({ extra: {} });
    expect(await models.languageModel('writer')).toMatchObject({ contextTokens: 512 });
    await put({ model_name: 'another' });
    expect((await gateway.adapters.endpoints.get('llm', 'writer'))?.probed_at).toBeNull();
  });
});

describe('an embedder with indexed files', () => {
  beforeEach(indexOld);
  const put = (body: object) => ask('PUT', '/model-endpoints/embedder/old', body);

  it('is edited only when that is meant', async () => {
    const { endpoints } = gateway.adapters;
    const [status, body] = await put({ endpoint: AWAY, model_name: 'new' });
    expect(status).toBe(409);
    expect(body.detail).toMatch(
      /^\[EMBEDDER_EDIT_AFFECTS_INDEXED_DATA\]: Changing endpoint and model_name .* 1 indexed file.* one/,
    );
    const field = (await endpoints.get('embedder', 'old'))?.vector_field;
    expect((await put({ batch_size: 3 }))[0]).toBe(200);
    // Another server of the same model keeps the vectors, another model does not.
    expect((await put({ endpoint: AWAY, acknowledge_indexed_data: true }))[0]).toBe(200);
    expect(await endpoints.get('embedder', 'old')).toMatchObject({ vector_field: field, dimension: 1024 });
    expect((await put({ model_name: 'new', acknowledge_indexed_data: true }))[0]).toBe(200);
    const changed = await endpoints.get('embedder', 'old');
    expect(changed).toMatchObject({ dimension: null, probed_at: null });
    expect(changed?.vector_field).not.toBe(field);
  });

  it('is told of, and not deleted', async () => {
    expect((await ask('GET', '/model-endpoints/embedder/old/indexed-usage'))[1]).toEqual({
      name: 'old',
      model_type: 'embedder',
      file_count: 1,
      partitions: [{ partition: 'one', file_count: 1 }],
    });
    expect((await ask('GET', '/model-endpoints/llm/old/indexed-usage'))[0]).toBe(404);
    expect(await ask('DELETE', '/model-endpoints/embedder/old')).toEqual([
      409,
      DOMAIN('MODEL_ENDPOINT_IN_USE'),
    ]);
    await gateway.call('DELETE', '/indexer/partition/one/file/a', { token: ada });
    expect((await ask('DELETE', '/model-endpoints/embedder/old'))[1].detail).toContain("partition 'one'");
    await gateway.call('DELETE', '/partition/one', { token: ada });
    expect(await ask('DELETE', '/model-endpoints/embedder/old')).toEqual([204, '']);
    expect((await ask('GET', '/model-endpoints/embedder/old'))[0]).toBe(404);
  });

  it('is renamed with its vectors, once nothing is on its way', async () => {
    const upload = await gateway.call('POST', '/indexer/partition/one/file/b', {
      body: uploadForm('other text'),
      token: ada,
    });
    expect(await put({ name: 'new' })).toEqual([409, DOMAIN('INDEXING_IN_PROGRESS')]);
    const { task_status_url: url } = (await upload.json()) as { task_status_url: string };
    await gateway.call('DELETE', new URL(url).pathname, { token: ada });
    expect((await put({ name: 'new' }))[0]).toBe(200);
    expect((await ask('GET', '/partition/one/config', undefined, ada))[1]).toMatchObject({
      embedder: 'new',
      dimension: 1024,
      indexed_embedders: [expect.objectContaining({ embedder: 'new', file_count: 1 })],
    });
    const [, found] = await ask('GET', '/search/partition/one?text=zanzibar', undefined, ada);
    expect(found.documents).toHaveLength(1);
  });
});

describe('an embedder that a partition is being moved away from', () => {
  beforeEach(indexOld);

  it('is not renamed, also once the partition has its new one', async () => {
    const { partitions, embedderSwaps } = gateway.adapters;
    const { partition_key } = (await partitions.get('one'))!;
    await embedderSwaps.insert({
      swap_id: 'away',
      partition: 'one',
      partition_key,
      source_embedder: 'old',
      target_embedder: 'builtin-hash',
      min_overlap: null,
      min_known_item: null,
      question_set: null,
      min_ndcg: null,
      started_by: '1',
    });
    const rename = () => ask('PUT', '/model-endpoints/embedder/old', { name: 'new' });
    expect(await rename()).toEqual([409, DOMAIN('EMBEDDER_SWAP_IN_PROGRESS')]);
    await embedderSwaps.finish('away', { status: 'cancelled', error: null });
    expect((await rename())[0]).toBe(200);
  });
});

describe('DELETE /model-endpoints/{type}/{name}', () => {
  const remove = (path: string, token?: string) =>
    ask('DELETE', `/model-endpoints/${path}`, undefined, token);

  it('is for administrators, and spares what is built in or the default', async () => {
    await create({ ...LLM, is_default: true });
    expect(await remove('llm/writer', ada)).toEqual(FORBIDDEN);
    expect((await remove('llm/nobody'))[0]).toBe(404);
    expect((await remove('other/writer'))[0]).toBe(422);
    expect((await remove('llm/builtin-extractive'))[0]).toBe(409);
    expect(await remove('llm/writer')).toEqual([409, DOMAIN('MODEL_ENDPOINT_IN_USE')]);
    await ask('POST', '/model-endpoints/llm/builtin-extractive/set-default');
    expect((await remove('llm/writer'))[0]).toBe(204);
  });

  it('takes the default along with the last of a type', async () => {
    await create({ ...LLM, model_type: 'reranker', is_default: true });
    expect((await remove('reranker/writer'))[0]).toBe(204);
    expect((await gateway.adapters.endpoints.defaults()).reranker).toBeUndefined();
  });
});

describe('POST /model-endpoints/{type}/{name}/set-default', () => {
  it('demotes the former one; an unknown name changes nothing', async () => {
    await create(LLM);
    const path = '/model-endpoints/llm';
    expect(await ask('POST', `${path}/writer/set-default`, undefined, ada)).toEqual(FORBIDDEN);
    expect((await ask('POST', `${path}/nobody/set-default`))[0]).toBe(404);
    expect((await ask('GET', `${path}/builtin-extractive`))[1].is_default).toBe(true);
    expect((await ask('POST', `${path}/writer/set-default`))[1].is_default).toBe(true);
    const [, all] = await ask('GET', '/model-endpoints?model_type=llm');
    const defaults = all.filter(({ is_default: chosen }: { is_default: boolean }) => chosen);
    expect(defaults.map(({ name }: { name: string }) => name)).toEqual(['writer']);
  });
});

describe('POST /model-endpoints/…/validate', () => {
  const validate = (body: object, token?: string) => ask('POST', '/model-endpoints/validate', body, token);

  it('asks a server of either dialect, and tells what it serves', async () => {
    const draft = { model_type: 'llm', endpoint: server.url, model_name: 'scripted-llm' };
    expect(await validate(draft, ada)).toEqual(FORBIDDEN);
    expect(await validate(draft)).toEqual([
      200,
      {
        reachable: true,
        model_found: true,
        transcription_supported: null,
        detail: null,
        models_served: expect.arrayContaining([expect.stringContaining('scripted-llm')]),
      },
    ]);
    expect((await validate({ ...draft, provider: 'openai', model_name: 'none' }))[1]).toMatchObject({
      reachable: true,
      model_found: false,
      detail: expect.stringContaining('none'),
    });
    expect((await validate({ ...draft, endpoint: AWAY }))[1]).toMatchObject({
      reachable: false,
      model_found: null,
      models_served: [],
      detail: expect.any(String),
    });
    expect((await validate({ ...draft, model_type: 'stt', model_name: 'scripted-llm' }))[1]).toMatchObject({
      transcription_supported: false,
    });
    expect((await validate({ ...draft, endpoint: 'ftp://x' }))[0]).toBe(422);
    const { model_type: _, ...untyped } = draft;
    expect((await validate(untyped))[1]).toMatchObject({ reachable: true, model_found: true });
    // A mask is no key, and goes to no server.
    for (const mask of [{ api_key: '<redacted>' }, { extra: { api_key: 'sk-********' } }])
      expect((await validate({ ...draft, ...mask }))[0]).toBe(422);
  });

  it('lends a stored key to its own address alone', async () => {
    await create({ ...LLM, endpoint: server.url, extra: { api_key: KEY } });
    server.reset();
    const stored = { stored_api_key_model_type: 'llm', stored_api_key_name: 'writer' };
    const draft = { model_type: 'llm', endpoint: `${server.url}/`, model_name: 'm', provider: 'openai' };
    expect((await validate({ ...draft, ...stored }))[0]).toBe(200);
    expect(server.asked('models').at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect((await validate({ ...draft, ...stored, endpoint: AWAY }))[0]).toBe(400);
    expect((await validate({ ...draft, stored_api_key_model_type: 'llm' }))[0]).toBe(422);
    expect(await validate({ ...draft, ...stored, stored_api_key_name: 'nobody' })).toEqual([
      422,
      DOMAIN('MODEL_ENDPOINT_NOT_FOUND'),
    ]);
    const [status, body] = await ask('POST', '/model-endpoints/llm/writer/validate');
    expect([status, body]).toEqual([200, expect.objectContaining({ reachable: true, model_found: false })]);
    expect((await ask('POST', '/model-endpoints/llm/nobody/validate'))[0]).toBe(404);
    expect((await ask('POST', '/model-endpoints/llm/builtin-extractive/validate'))[1]).toMatchObject({
      reachable: true,
      model_found: true,
    });
  });

  it('says what a server refused, without quoting the key', async () => {
    server.always('models', { kind: 'status', status: 401, body: `{"error": "bad key ${KEY}"}` });
    const draft = { model_type: 'llm', endpoint: server.url, model_name: 'm', api_key: KEY };
    const [, body] = await validate({ ...draft, provider: 'openai' });
    expect(body).toMatchObject({
      reachable: true,
      model_found: null,
      detail: expect.stringContaining('401'),
    });
    expect(JSON.stringify(body)).not.toContain(KEY);
  });
});

describe('a key that was sealed with another SECRETS_KEY', () => {
  it('shows as asterisks, costs the list nothing, and can be given anew', async () => {
    await create({ ...LLM, model_name: undefined, extra: { api_key: KEY } });
    const { endpoints } = gateway.adapters;
    const stored = await endpoints.get('llm', 'writer');
    await endpoints.save({ ...stored!, sealed_api_key: 'v1.AAAA' });
    const [, shown] = await ask('GET', '/model-endpoints/llm/writer');
    expect(shown).toMatchObject({ model_name: '', has_api_key: true, extra: { api_key: '********' } });
    expect((await ask('GET', '/model-endpoints'))[0]).toBe(200);
    expect(await ask('POST', '/model-endpoints/llm/writer/reveal-api-key')).toEqual([
      500,
      DOMAIN('CONFIG_ERROR'),
    ]);
    expect((await ask('PUT', '/model-endpoints/llm/writer', { ...shown, model_name: 'm' }))[0]).toBe(200);
    expect((await endpoints.get('llm', 'writer'))?.sealed_api_key).toBe('v1.AAAA');
    await ask('PUT', '/model-endpoints/llm/writer', { extra: { api_key: 'new-key' } });
    expect((await ask('GET', '/model-endpoints/llm/writer'))[1].extra.api_key).toBe('new********');
  });
});

describe('POST /model-endpoints/{type}/{name}/reveal-api-key', () => {
  it('is for administrators, and is cached by nobody', async () => {
    await create({ ...LLM, extra: { api_key: KEY } });
    const path = '/model-endpoints/llm/writer/reveal-api-key';
    expect(await ask('POST', path, undefined, ada)).toEqual(FORBIDDEN);
    const response = await gateway.call('POST', path);
    expect([await response.json(), response.headers.get('cache-control')]).toEqual([
      { api_key: KEY },
      'no-store',
    ]);
    expect(gateway.logLines.join('')).not.toContain(KEY);
    expect((await ask('POST', '/model-endpoints/llm/nobody/reveal-api-key'))[0]).toBe(404);
  });
});
