import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Embedder, LanguageModel } from '../../activities/ports/models.js';
import { embedderContract } from '../contracts/models/embedder.contract.js';
import { languageModelContract } from '../contracts/models/language-model.contract.js';
import { openModels } from '../support/model-server/open-models.js';
import type { OpenedModels } from '../support/model-server/open-models.js';

const EMBEDDER = 'all-minilm';
const LLM = 'smollm2';

const host = process.env['OLLAMA_HOST'] ?? '';
if (host === '') throw new Error('OLLAMA_HOST is not set: run the suite through `npm run test:ollama`.');

/** Both dialects that Ollama speaks. A slow machine needs time for the first answer. */
function open(provider: 'ollama' | 'openai'): Promise<OpenedModels> {
  return openModels({
    OLLAMA_HOST: host,
    EMBEDDER_MODEL_NAME: EMBEDDER,
    MODEL: LLM,
    MAX_LLM_CONTEXT_SIZE: '2048',
    EMBEDDER_PROVIDER: provider,
    LLM_PROVIDER: provider,
    EMBEDDER_TIMEOUT: '600',
    LLM_TIMEOUT: '600',
  });
}

function subject<Model>(
  name: string,
  provider: 'ollama' | 'openai',
  pick: (models: OpenedModels) => Promise<Model>,
) {
  return {
    name,
    async open() {
      const models = await open(provider);
      return { store: await pick(models), close: () => models.close() };
    },
  };
}

function embedder({ registry }: OpenedModels): Promise<Embedder> {
  return registry.embedder('default');
}

function llm({ registry }: OpenedModels): Promise<LanguageModel> {
  return registry.languageModel();
}

for (const provider of ['ollama', 'openai'] as const) {
  // In the OpenAI format Ollama cuts what is too long without a word, so that promise holds in its own dialect only.
  if (provider === 'ollama') embedderContract(subject('real Ollama', provider, embedder));
  languageModelContract(subject(`real Ollama, ${provider} dialect`, provider, llm));
}

describe('what is peculiar to Ollama', () => {
  let models: OpenedModels;
  beforeAll(async () => {
    models = await open('ollama');
  });
  afterAll(() => models.close());

  const cosine = async (a: string, b: string): Promise<number> => {
    const [x = [], y = []] = await (
      await models.registry.embedder('default')
    ).embed([a, b], { kind: 'document' });
    return x.reduce((sum, value, index) => sum + value * (y[index] ?? Number.NaN), 0);
  };

  test('the probe tells the embedder’s dimension, window and tokeniser', async () => {
    await models.registry.embedder('default');
    expect(await models.endpoints.get('embedder', 'default')).toMatchObject({
      provider: 'ollama',
      dimension: 384,
      context_tokens: 512,
      text_form: 'wordpiece',
      probed_at: expect.any(Date),
    });
  });

  test('accents and typographic signs make no difference to a WordPiece model', async () => {
    expect(await cosine('Zürich café naïve', 'Zurich cafe naive')).toBeGreaterThan(0.999);
    expect(await cosine('“open” — closed', '"open" - closed')).toBeGreaterThan(0.999);
  });

  test('its models become endpoints of their own when nothing else is configured', async () => {
    const found = await openModels({ OLLAMA_HOST: host });
    try {
      expect(await found.registry.defaultName('embedder')).toMatch(/^ollama-/);
      expect(await found.registry.defaultName('llm')).toMatch(/^ollama-/);
      await found.registry.check('embedder', (await found.registry.defaultName('embedder')) ?? '');
    } finally {
      await found.close();
    }
  });

  test('a prompt that is too long is refused and not cut', async () => {
    const model = await models.registry.languageModel();
    const content = 'The mill grinds flour for the village. '.repeat(1500);
    await expect(model.complete([{ role: 'user', content }], { maxTokens: 4 })).rejects.toMatchObject({
      code: 'CONTEXT_TOO_LONG',
      status: 413,
    });
  });

  test('an unknown model is told apart from a server that is away', async () => {
    const unknown = await openModels({ OLLAMA_HOST: host, MODEL: 'no-such-model' });
    await expect(unknown.registry.languageModel()).rejects.toMatchObject({ code: 'INFERENCE_ERROR' });
    await unknown.close();
    const away = await openModels({ BASE_URL: 'http://127.0.0.1:9', MODEL: LLM });
    await expect(away.registry.languageModel()).rejects.toMatchObject({ code: 'INFERENCE_CONNECTION_ERROR' });
    await away.close();
  });
});
