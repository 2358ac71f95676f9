import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../support/until.js';
import { scoreOf, writeCountingModel } from '../../support/onnx/counting-model.js';
import { askJson } from '../support/ask-json.js';
import { contentsOf } from '../support/search-stage.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { indexText } from '../support/uploads.js';

let folder: string;
let gateway: Gateway;
let ada: string;

async function start(env: Record<string, string> = { MODELS_DIR: join(folder, 'models') }): Promise<void> {
  gateway = await startGateway({ env: { RERANKER_ENABLED: 'true', ...env } });
  ada = gateway.addUser('ada').token;
}
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tamis-onnx-api-'));
  await writeCountingModel(join(folder, 'models/counting'));
  await writeCountingModel(join(folder, 'models/damaged'), {}, { 'onnx/model.onnx': 'not a graph' });
  await writeCountingModel(join(folder, 'models/incomplete'), {}, { 'tokenizer.json': null });
  await writeCountingModel(join(folder, 'secret'));
});
afterEach(async () => {
  await gateway.close();
  await rm(folder, { recursive: true, force: true });
});

function ask(method: string, path: string, body?: unknown, token = ADMIN_TOKEN) {
  return askJson(gateway, method, path, { body, token });
}

const RERANKER = { name: 'local', model_type: 'reranker', endpoint: 'onnx:', model_name: 'counting' };

function create(more: object = {}) {
  return ask('POST', '/model-endpoints/', { ...RERANKER, ...more });
}

function validate(model_name: string | undefined, more: object = {}) {
  return ask('POST', '/model-endpoints/validate', {
    model_type: 'reranker',
    endpoint: 'onnx:',
    model_name,
    ...more,
  });
}

describe('a reranker from MODELS_DIR', () => {
  it('is registered by its folder, and orders what a search finds', async () => {
    await start();
    const lines = [
      'oil',
      'oil, and oil, and oil again',
      'the pump of the engine takes oil',
      'an oil filter of the pump',
    ];
    await indexText(gateway, { partition: 'p', fileId: 'a', token: ada }, lines);
    const search = () => ask('GET', '/search/partition/p?text=oil%20pump%20engine&top_k=4', undefined, ada);
    expect((await search())[1].documents[0].metadata).not.toHaveProperty('rerank_score');
    const [status, body] = await create({ is_default: true });
    expect([status, body]).toEqual([201, expect.objectContaining({ ...RERANKER, is_default: true })]);
    expect((await gateway.adapters.endpoints.get('reranker', 'local'))?.provider).toBe('onnx');

    const [found, { documents }] = await search();
    expect(found).toBe(200);
    expect(contentsOf({ documents })).toEqual([lines[2], lines[3], ...contentsOf({ documents }).slice(2)]);
    expect(
      documents.map(({ metadata }: { metadata: { rerank_score: number } }) => metadata.rerank_score),
    ).toEqual([3, 2, 1, 1].map((common) => expect.closeTo(scoreOf(common), 5)));
  });

  it('fails a search with what is wrong with it, and is reported by GET /ready', async () => {
    await start();
    await indexText(gateway, { partition: 'p', fileId: 'a', token: ada }, ['oil']);
    await create({ name: 'broken', model_name: 'damaged', is_default: true });
    expect(await ask('GET', '/search?text=oil', undefined, ada)).toEqual([
      503,
      {
        detail: expect.stringMatching(
          /^\[INFERENCE_ERROR\]: Model endpoint 'broken': the model 'damaged' cannot be used: its ONNX file cannot be/,
        ),
        extra: expect.any(Object),
      },
    ]);
    expect((await ask('GET', '/ready'))[1].checks.reranker).toBe('unavailable');
    await create({ is_default: true });
    await until('the model is loaded', async () => (await ask('GET', '/ready'))[1].checks.reranker === 'ok');
  });

  it('is only where its address and its dialect agree, and its name is one folder', async () => {
    await start();
    for (const fault of [
      { model_name: '../secret' },
      { model_name: '..' },
      { model_name: 'a/b' },
      { model_name: '/etc' },
      { model_name: '' },
      { model_name: undefined },
      { model_type: 'llm' },
      { model_type: 'embedder' },
      { extra: { provider: 'tei' } },
      { endpoint: 'onnx:counting' },
      { endpoint: 'http://127.0.0.1:9', extra: { provider: 'onnx' } },
    ])
      expect([fault, (await create(fault))[0]]).toEqual([fault, 422]);
    expect((await create({ extra: { provider: 'onnx' } }))[0]).toBe(201);
    const put = (patch: object) => ask('PUT', '/model-endpoints/reranker/local', patch);
    expect((await put({ model_name: '../secret' }))[0]).toBe(422);
    expect((await put({ endpoint: 'http://127.0.0.1:9' }))[0]).toBe(422);
    expect((await put({ model_name: 'damaged' }))[0]).toBe(200);
    expect((await put({ endpoint: 'http://127.0.0.1:9', extra: { provider: 'tei' } }))[0]).toBe(200);
    expect((await gateway.adapters.endpoints.get('reranker', 'local'))?.provider).toBe('tei');
    expect((await put({ endpoint: 'onnx:', extra: {} }))[0]).toBe(200);
    expect((await gateway.adapters.endpoints.get('reranker', 'local'))?.provider).toBe('onnx');
  });

  it('is tried before it is registered', async () => {
    await start();
    const well = { reachable: true, transcription_supported: null, models_served: ['counting', 'damaged'] };
    expect(await validate('counting')).toEqual([200, { ...well, model_found: true, detail: null }]);
    for (const [name, reachable, found, detail] of [
      ['damaged', false, true, /^the model 'damaged' cannot be used: its ONNX file cannot be loaded/],
      ['incomplete', false, false, /^the model 'incomplete' has no file tokenizer.json$/],
      ['other', true, false, /^MODELS_DIR has no folder 'other'$/],
      ['../secret', false, false, /^'..\/secret' cannot be the name of a folder in MODELS_DIR$/],
      [undefined, false, false, /^'' cannot be the name/],
    ] as const)
      expect(await validate(name)).toEqual([
        200,
        { ...well, reachable, model_found: found, detail: expect.stringMatching(detail) },
      ]);
    expect((await validate('counting', { model_type: 'llm' }))[0]).toBe(422);
    await create();
    expect((await ask('POST', '/model-endpoints/reranker/local/validate'))[1]).toMatchObject({
      model_found: true,
    });
  });

  it('says that MODELS_DIR is not set', async () => {
    await start({});
    const detail = 'MODELS_DIR is not set, so that there is no model to load';
    expect(await validate('counting')).toEqual([
      200,
      { reachable: false, model_found: false, models_served: [], transcription_supported: null, detail },
    ]);
    await create();
    await expect(gateway.adapters.models.check('reranker', 'local')).rejects.toThrow(detail);
  });
});
