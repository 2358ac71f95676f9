import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import { askJson } from '../../support/ask-json.js';
import { ADMIN_TOKEN, startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

let server: ScriptedModelServer;
let gateway: Gateway;
beforeAll(async () => {
  server = await startScriptedModelServer({ contextTokens: 4096 });
});
afterAll(() => server.close());
beforeEach(async () => {
  // Questions are not rewritten, so that whatever the model is asked is for an answer.
  gateway = await startGateway({ env: { RAG_MODE: 'SimpleRag' } });
  await indexText(gateway, { partition: 'one', fileId: 'a' }, ['The mill opens at nine.']);
});
afterEach(async () => {
  server.reset();
  await gateway.close();
});

function ask(method: string, path: string, body: unknown) {
  return askJson(gateway, method, path, { token: ADMIN_TOKEN, body });
}

/** Makes an endpoint the default one. */
async function register(name: string, extra: object): Promise<void> {
  const endpoint = { name, model_type: 'llm', endpoint: server.url, model_name: 'scripted-llm', extra };
  expect((await ask('POST', '/model-endpoints/', { ...endpoint, is_default: true }))[0]).toBe(201);
}

/** How long an answer the model was asked for, by chat with and without retrieval and by a text completion. */
async function askedFor(more: object = {}): Promise<unknown[]> {
  const question = 'When does the mill open?';
  const messages = [{ role: 'user', content: question }];
  for (const [path, body] of [
    ['chat/completions', { model: 'rag-one', messages }],
    ['chat/completions', { messages }],
    ['completions', { model: 'rag-one', prompt: question }],
  ] as const)
    expect((await ask('POST', `/v1/${path}`, { ...body, ...more }))[0]).toBe(200);
  const asked = server.asked('chat').map(({ body }) => {
    const { max_tokens: openai, options } = body as {
      max_tokens?: number;
      options?: { num_predict?: number };
    };
    return openai ?? options?.num_predict;
  });
  server.reset();
  return asked;
}

describe("a language model's own max_output_tokens", () => {
  it('is what an answer may take where the request names no number', async () => {
    await register('plain', {});
    expect(await askedFor()).toEqual([1024, 1024, 1024]);
    for (const provider of ['openai', 'ollama']) {
      await register(`brief-${provider}`, { max_output_tokens: 77, provider });
      expect(await askedFor()).toEqual([77, 77, 77]);
      expect(await askedFor({ max_tokens: 200 })).toEqual([200, 200, 200]);
    }
    await register('long', { max_output_tokens: 1500 });
    expect(await askedFor()).toEqual([1500, 1500, 1500]);
  });

  it('never takes more than half of what the model holds', async () => {
    await register('greedy', { max_output_tokens: 1_000_000 });
    expect(await askedFor()).toEqual([2048, 2048, 2048]);
    expect((await ask('PUT', '/model-endpoints/llm/greedy', { extra: { max_output_tokens: 0 } }))[0]).toBe(
      422,
    );
  });
});

describe("a language model's own max_llm_context_size", () => {
  const long = { messages: [{ role: 'user', content: 'mill '.repeat(9000) }] };

  it('is what a prompt may take, also beyond MAX_LLM_CONTEXT_SIZE', async () => {
    await register('plain', {});
    expect((await ask('POST', '/v1/chat/completions', long))[0]).toBe(413);
    await register('wide', { max_llm_context_size: 20_000 });
    expect((await ask('POST', '/v1/chat/completions', long))[0]).toBe(200);
    await register('narrow', { max_llm_context_size: 280 });
    const short = { messages: [{ role: 'user', content: 'mill '.repeat(300) }] };
    expect((await ask('POST', '/v1/chat/completions', short))[0]).toBe(413);
  });
});
