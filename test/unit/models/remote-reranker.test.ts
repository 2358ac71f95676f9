import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Reranker } from '../../../activities/ports/models.js';
import { openModels } from '../../support/model-server/open-models.js';
import type { OpenedModels } from '../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../support/model-server/scripted-model-server.js';

const KEY = Buffer.from('a key of 32 bytes for the tests!').toString('base64');

let server: ScriptedModelServer;
let models: OpenedModels | undefined;
beforeEach(async () => {
  // A text that is a number is worth that number.
  server = await startScriptedModelServer({ rank: (_query, text) => Number(text) });
});
afterEach(async () => {
  await models?.close();
  await server.close();
});

async function open(environment: Record<string, string> = {}): Promise<Reranker> {
  models = await openModels({
    RERANKER_BASE_URL: server.url,
    RERANKER_MODEL: server.models.reranker,
    ...environment,
  });
  const reranker = await models.registry.reranker();
  if (reranker === null) throw new Error('no reranker');
  return reranker;
}

function rank(reranker: Reranker, texts: string[], signal?: AbortSignal) {
  return reranker.rerank('query', texts, signal === undefined ? {} : { signal });
}

describe.each(['infinity', 'openai', 'tei'])('a reranker that speaks %s', (provider) => {
  test('scores each text in its place, in as many requests as it takes', async () => {
    const reranker = await open({ RERANKER_PROVIDER: provider });
    expect(reranker).toMatchObject({ endpointName: 'default', modelName: 'scripted-reranker' });
    expect(await rank(reranker, ['0.5', '-3', '0.75'])).toEqual([0.5, -3, 0.75]);
    const [asked] = server.asked('rerank');
    expect(asked?.path).toBe(provider === 'openai' ? '/v1/rerank' : '/rerank');
    expect(asked?.body).toEqual(
      provider === 'tei'
        ? { query: 'query', texts: ['0.5', '-3', '0.75'], raw_scores: false, truncate: true }
        : {
            model: 'scripted-reranker',
            query: 'query',
            documents: ['0.5', '-3', '0.75'],
            return_documents: false,
          },
    );
    const many = Array.from({ length: 70 }, (_, index) => String(index));
    expect(await rank(reranker, many)).toEqual(many.map(Number));
    expect(server.asked('rerank')).toHaveLength(1 + 3);
    expect(await rank(reranker, [])).toEqual([]);
  });

  test('is spared what cannot be written as UTF-8, and NUL', async () => {
    const reranker = await open({ RERANKER_PROVIDER: provider });
    expect(await reranker.rerank('a\0\ud83dquery', ['0.5\udd25\0'], {})).toEqual([0.5]);
    const { body } = server.asked('rerank')[0]!;
    const given = body as { query: string; texts?: string[]; documents?: string[] };
    expect(given.query).toBe('a  query');
    expect(given.texts ?? given.documents).toEqual(['0.5  ']);
  });

  test('refuses a ranking that is not one score for each text', async () => {
    const reranker = await open({ RERANKER_PROVIDER: provider });
    for (const fault of ['short', 'twice'] as const) {
      server.next('rerank', { kind: 'ranking', fault });
      await expect(rank(reranker, ['1', '2', '3'])).rejects.toMatchObject({
        code: 'LLM_PARSING_ERROR',
        status: 502,
      });
    }
    server.next('rerank', { kind: 'html' });
    await expect(rank(reranker, ['1'])).rejects.toMatchObject({ status: 502 });
    server.next('rerank', { kind: 'broken-json' });
    await expect(rank(reranker, ['1'])).rejects.toMatchObject({ status: 502 });
  });

  test('can be checked', async () => {
    await open({ RERANKER_PROVIDER: provider });
    await models!.registry.check('reranker', 'default');
    server.always('models', { kind: 'status', status: 500 });
    await expect(models!.registry.check('reranker', 'default')).rejects.toMatchObject({ status: 500 });
  });
});

test.each(['/v1', '/v1/'])('a reranker at %s says beside it whether it is well', async (path) => {
  const reranker = await open({ RERANKER_BASE_URL: `${server.url}${path}`, RERANKER_PROVIDER: 'infinity' });
  expect(await rank(reranker, ['1'])).toEqual([1]);
  await models!.registry.check('reranker', 'default');
  expect(server.asked('models').map((asked) => asked.path)).toEqual(['/health']);
});

describe('a reranker that fails', () => {
  test.each([
    [400, 400, 'INFERENCE_ERROR'],
    [404, 404, 'INFERENCE_ERROR'],
    [413, 413, 'INFERENCE_ERROR'],
    [429, 429, 'INFERENCE_ERROR'],
    [500, 500, 'INFERENCE_ERROR'],
    [503, 503, 'INFERENCE_ERROR'],
    [504, 504, 'INFERENCE_TIMEOUT'],
    [401, 502, 'INFERENCE_REFUSED'],
    [403, 502, 'INFERENCE_REFUSED'],
  ])('with %d is answered %d', async (status, answered, code) => {
    const reranker = await open();
    server.always('rerank', { kind: 'status', status });
    await expect(rank(reranker, ['1'])).rejects.toMatchObject({ code, status: answered });
  });

  test('is asked again when it may be better, and left alone after many failures', async () => {
    const reranker = await open();
    server.next('rerank', { kind: 'status', status: 503 }, { kind: 'cut' });
    expect(await rank(reranker, ['1', '2'])).toEqual([1, 2]);
    server.always('rerank', { kind: 'status', status: 500 });
    for (let time = 0; time < 3; time += 1) await rank(reranker, ['1']).catch(() => undefined);
    const asked = server.asked('rerank').length;
    await expect(rank(reranker, ['1'])).rejects.toMatchObject({ code: 'CIRCUIT_BREAKER_OPEN', status: 503 });
    expect(server.asked('rerank')).toHaveLength(asked);
    // The breaker is the endpoint's, not this object's.
    await expect(rank((await models!.registry.reranker())!, ['1'])).rejects.toMatchObject({
      code: 'CIRCUIT_BREAKER_OPEN',
    });
  });

  test('is waited for no longer than RERANKER_TIMEOUT, however many requests it takes', async () => {
    const reranker = await open({ RERANKER_TIMEOUT: '1', RERANKER_SEMAPHORE: '1' });
    server.always('rerank', { kind: 'delay', ms: 600 });
    const many = Array.from({ length: 96 }, () => '1');
    await expect(rank(reranker, many)).rejects.toMatchObject({ code: 'INFERENCE_TIMEOUT', status: 504 });
    expect(server.asked('rerank').length).toBeLessThan(3);
    server.always('rerank', { kind: 'silence' });
    await expect(rank(reranker, ['1'])).rejects.toMatchObject({ code: 'INFERENCE_TIMEOUT' });
  });

  test('is left when the caller leaves', async () => {
    const reranker = await open();
    server.always('rerank', { kind: 'silence' });
    const leaving = new AbortController();
    const asked = rank(reranker, ['1'], leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
  });

  test('that cannot be reached is 503', async () => {
    const reranker = await open({ RERANKER_BASE_URL: 'http://127.0.0.1:9' });
    await expect(rank(reranker, ['1'])).rejects.toMatchObject({
      code: 'INFERENCE_CONNECTION_ERROR',
      status: 503,
    });
  });
});

describe('which reranker', () => {
  test('is the default one, one by name, or none', async () => {
    await open({ RERANKER_API_KEY: 'a-key-of-the-server', SECRETS_KEY: KEY });
    server.models.apiKey = 'a-key-of-the-server';
    const byName = await models!.registry.reranker('default');
    expect(await rank(byName!, ['1'])).toEqual([1]);
    await expect(models!.registry.reranker('other')).rejects.toMatchObject({
      code: 'MODEL_ENDPOINT_NOT_FOUND',
    });
    const without = await openModels({});
    expect(await without.registry.reranker()).toBeNull();
    await without.close();
  });
});
