import { describe, expect, test } from '@jest/globals';
import { BUILTIN_ENDPOINTS } from '../../../activities/models/builtin/builtin-endpoints.js';
import { createModelRegistry } from '../../../activities/models/model-registry.js';
import type { ModelEndpoint, ModelType } from '../../../schemas/models/model-endpoints.js';

const foreign: ModelEndpoint = {
  ...BUILTIN_ENDPOINTS[0]!,
  name: 'ollama-embed',
  endpoint: 'http://user:secret@10.0.0.9:11434',
  model_name: 'all-minilm',
};

function registry(
  defaults: Partial<Record<ModelType, string>> = { embedder: 'builtin-hash', llm: 'builtin-extractive' },
) {
  const all = [...BUILTIN_ENDPOINTS, foreign];
  return createModelRegistry({
    endpoints: {
      list: async (type) => all.filter(({ model_type }) => type === undefined || model_type === type),
      get: async (type, name) => all.find((one) => one.model_type === type && one.name === name) ?? null,
      defaults: async () => defaults,
    },
  });
}

describe('createModelRegistry', () => {
  test('builds the built-in models', async () => {
    const embedder = await registry().embedder('builtin-hash');
    expect(embedder).toMatchObject({
      endpointName: 'builtin-hash',
      modelName: 'builtin/hash-1024',
      dimension: 1024,
      vectorField: 'vector_builtin_hash',
    });
    expect(await registry().languageModel()).toMatchObject({
      modelName: 'builtin/extractive',
      contextTokens: 8192,
    });
    expect(await registry().languageModel('builtin-extractive')).toMatchObject({
      endpointName: 'builtin-extractive',
    });
  });

  test('tells defaults', async () => {
    expect(await registry().defaultName('embedder')).toBe('builtin-hash');
    expect(await registry().defaultName('reranker')).toBeNull();
    expect(await registry().reranker('default')).toBeNull();
    const listed = (await registry().list('embedder')).map(({ name, is_default }) => ({ name, is_default }));
    expect(listed).toEqual([
      { name: 'builtin-hash', is_default: true },
      { name: 'ollama-embed', is_default: false },
    ]);
  });

  test('refuses what is not registered', async () => {
    await expect(registry().embedder('nothing')).rejects.toMatchObject({ code: 'MODEL_ENDPOINT_NOT_FOUND' });
    await expect(registry().languageModel('builtin-hash')).rejects.toMatchObject({
      code: 'MODEL_ENDPOINT_NOT_FOUND',
    });
    await expect(registry({}).languageModel()).rejects.toMatchObject({ code: 'MODEL_ENDPOINT_NOT_FOUND' });
  });

  test('refuses a kind of endpoint that it does not know, without telling its address', async () => {
    const refusal = registry().embedder('ollama-embed');
    await expect(refusal).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
    await expect(refusal).rejects.not.toThrow(/secret/);
  });
});
