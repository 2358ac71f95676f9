import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ChatMessage, LanguageModel } from '../../../activities/ports/models.js';
import { modelEnvironment, openModels } from '../../support/model-server/open-models.js';
import type { OpenedModels } from '../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import { until } from '../../support/until.js';

const QUESTION: ChatMessage[] = [{ role: 'user', content: 'When does the mill open?' }];

/** The words that came, and what ended them. */
async function listen(model: LanguageModel, signal?: AbortSignal) {
  let content = '';
  try {
    for await (const delta of model.stream(QUESTION, signal === undefined ? {} : { signal }))
      content += delta.content;
    return { content, error: null };
  } catch (error) {
    return { content, error };
  }
}

describe.each(['ollama', 'openai'] as const)('a language model behind the %s dialect', (provider) => {
  let server: ScriptedModelServer;
  let opened: OpenedModels;
  let model: LanguageModel;

  const open = async (environment: Record<string, string> = {}): Promise<void> => {
    server.reset();
    await opened?.close();
    opened = await openModels({ ...modelEnvironment(server, provider), ...environment });
    model = await opened.registry.languageModel();
    server.reset();
  };

  beforeAll(async () => {
    server = await startScriptedModelServer();
  });
  afterEach(() => {
    server.reset();
    Object.assign(server.models, { promptWords: 100_000, msPerWord: 0 });
  });
  afterAll(async () => {
    await opened.close();
    await server.close();
  });

  test('streams, and answers as a whole, with what was asked of it', async () => {
    await open();
    expect(await listen(model)).toEqual({ content: 'The mill opens at nine.', error: null });
    const options = { temperature: 0.3, topP: 0.9, maxTokens: 50, stop: ['\n\n'] };
    expect(await model.complete(QUESTION, options)).toEqual({
      content: 'The mill opens at nine.',
      finishReason: 'stop',
      usage: { promptTokens: 11, completionTokens: 5 },
    });
    const body = server.asked('chat').at(-1)?.body;
    expect(body).toMatchObject({ model: 'scripted-llm', messages: QUESTION });
    expect(body).toMatchObject(
      provider === 'ollama'
        ? {
            truncate: false,
            options: { num_ctx: 512, temperature: 0.3, top_p: 0.9, num_predict: 50, stop: ['\n\n'] },
          }
        : { temperature: 0.3, top_p: 0.9, max_tokens: 50, stop: ['\n\n'] },
    );
  });

  test.each([
    ['401', { kind: 'status', status: 401 }, 'INFERENCE_REFUSED', 502],
    ['403', { kind: 'status', status: 403 }, 'INFERENCE_REFUSED', 502],
    ['404', { kind: 'status', status: 404 }, 'INFERENCE_ERROR', 503],
    ['429', { kind: 'status', status: 429, headers: { 'retry-after': '30' } }, 'INFERENCE_ERROR', 503],
    ['500', { kind: 'status', status: 500 }, 'INFERENCE_ERROR', 503],
    ['a page of HTML', { kind: 'html' }, 'LLM_PARSING_ERROR', 502],
    ['broken JSON', { kind: 'broken-json' }, 'LLM_PARSING_ERROR', 502],
    ['a cut connection', { kind: 'cut' }, 'INFERENCE_CONNECTION_ERROR', 503],
  ] as const)('%s has its row of the error table', async (_name, behaviour, code, status) => {
    await open();
    server.always('chat', behaviour);
    const refused = { code, status };
    await expect(model.complete(QUESTION, {})).rejects.toMatchObject(refused);
    expect(await listen(model)).toMatchObject({ content: '', error: refused });
  });

  test.each([
    ['broken JSON', { kind: 'broken-json', afterWords: 2 }, 'LLM_PARSING_ERROR'],
    ['a cut connection', { kind: 'cut', afterWords: 2 }, 'INFERENCE_CONNECTION_ERROR'],
    ['an error of the server', { kind: 'error', afterWords: 2 }, 'INFERENCE_ERROR'],
    ['no finish', { kind: 'no-finish', afterWords: 2 }, 'INFERENCE_ERROR'],
    ['silence', { kind: 'pause', afterWords: 2 }, 'INFERENCE_TIMEOUT'],
  ] as const)('after two words %s: the words came, then the error', async (_name, behaviour, code) => {
    await open({ LLM_TIMEOUT: '1' });
    server.next('chat', behaviour);
    expect(await listen(model)).toMatchObject({ content: 'The mill', error: { code } });
    // Words that went out are never said twice.
    expect(server.asked('chat')).toHaveLength(1);
  });

  test('silence before the first word is a time-out', async () => {
    await open({ LLM_TIMEOUT: '1' });
    server.next('chat', { kind: 'silence' });
    expect((await listen(model)).error).toMatchObject({ code: 'INFERENCE_TIMEOUT', status: 504 });
  });

  test('what fails before the first word is tried again', async () => {
    await open();
    server.next('chat', { kind: 'status', status: 500 }, { kind: 'cut' });
    expect(await listen(model)).toEqual({ content: 'The mill opens at nine.', error: null });
    expect(server.asked('chat')).toHaveLength(3);
  });

  test.each([
    ['a status', { kind: 'status', status: 500, body: '{"error":"invalid JSON schema in format"}' }],
    ['a status of a template', { kind: 'status', status: 500, body: '{"error":"Jinja Exception: no"}' }],
    ['a stream', { kind: 'error', afterWords: 0, message: 'failed to parse grammar' }],
    [
      'a stream, of a template',
      { kind: 'error', afterWords: 0, message: 'System message must be at the beginning.' },
    ],
  ] as const)('what one request is refused for in %s touches no other', async (_name, behaviour) => {
    await open();
    server.always('chat', behaviour);
    for (let turn = 0; turn < 6; turn += 1)
      expect((await listen(model)).error).toMatchObject({ code: 'INFERENCE_ERROR' });
    // No request was tried again, and the circuit is closed.
    expect(server.asked('chat')).toHaveLength(6);
    server.always('chat', null);
    expect(await listen(model)).toEqual({ content: 'The mill opens at nine.', error: null });
  });

  test('a prompt that is too long is answered as the contract says', async () => {
    await open();
    server.models.promptWords = 3;
    expect((await listen(model)).error).toMatchObject({
      code: 'CONTEXT_TOO_LONG',
      status: 413,
      message: expect.stringMatching(/^Request exceeds maximum token limit\./),
    });
    expect(server.asked('chat')).toHaveLength(1);
  });

  test('an abort, and leaving the stream, stop the generation', async () => {
    await open();
    server.always('chat', { kind: 'pause', afterWords: 1 });
    const controller = new AbortController();
    const listening = listen(model, controller.signal);
    await until('a word came', async () => server.asked('chat').some(({ said }) => said === 1));
    controller.abort(new Error('enough'));
    expect((await listening).error).toMatchObject({ message: 'enough' });
    for await (const _delta of model.stream(QUESTION, {})) break;
    await until(
      'the server sees both clients gone',
      async () => server.asked('chat').length === 2 && server.asked('chat').every(({ aborted }) => aborted),
    );
  });

  test('a long prompt arrives whole, and with its length', async () => {
    await open();
    const content = `${'Le moulin ouvre à neuf heures. '.repeat(2000)}When does it open?`;
    let words = '';
    for await (const delta of model.stream([{ role: 'user', content }], {})) words += delta.content;
    expect(words).toBe('The mill opens at nine.');
    const asked = server.asked('chat').at(-1)!;
    expect(asked.body['messages']).toEqual([{ role: 'user', content }]);
    expect(Number(asked.headers['content-length'])).toBeGreaterThan(content.length);
    expect(asked.headers['transfer-encoding']).toBeUndefined();
  });

  test('so many answers at once, the others wait, and one that is left makes room', async () => {
    await open({ LLM_SEMAPHORE: '2' });
    server.always('chat', { kind: 'pause', afterWords: 1 });
    const controllers = Array.from({ length: 3 }, () => new AbortController());
    const listening = controllers.map(({ signal }) => listen(model, signal));
    await until('two are talking', async () => server.asked('chat').length === 2);
    controllers[0]?.abort(new Error('enough'));
    await until('the third is let in', async () => server.asked('chat').length === 3);
    for (const controller of controllers) controller.abort(new Error('enough'));
    await Promise.all(listening);
  });

  test('characters cut in two at the edge of a packet arrive whole', async () => {
    await open();
    server.models.answer = () => 'Le café d’à côté – 東京 🗼 est ouvert.';
    expect((await listen(model)).content).toBe('Le café d’à côté – 東京 🗼 est ouvert.');
    server.models.answer = () => 'The mill opens at nine.';
  });
});

describe('a model that takes the newer fields of the OpenAI format alone', () => {
  const UNSUPPORTED = [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
    "Unsupported parameter: 'top_p' is not supported with this model.",
  ].map(
    (message) => ({ kind: 'status', status: 400, body: JSON.stringify({ error: { message } }) }) as const,
  );
  const OPTIONS = { maxTokens: 50, temperature: 0.3, topP: 0.9 };
  let server: ScriptedModelServer;
  let opened: OpenedModels;
  let model: LanguageModel;

  beforeAll(async () => {
    server = await startScriptedModelServer();
  });
  beforeEach(async () => {
    server.reset();
    opened = await openModels(modelEnvironment(server, 'openai'));
    model = await opened.registry.languageModel();
    server.reset();
  });
  afterEach(() => opened.close());
  afterAll(() => server.close());

  test('is asked again without what it refuses, and so from the first from then on', async () => {
    server.next('chat', ...UNSUPPORTED);
    expect(await model.complete(QUESTION, OPTIONS)).toMatchObject({ content: 'The mill opens at nine.' });
    expect(server.asked('chat')).toHaveLength(4);
    let content = '';
    for await (const delta of model.stream(QUESTION, OPTIONS)) content += delta.content;
    expect(content).toBe('The mill opens at nine.');
    expect(server.asked('chat')).toHaveLength(5);
    for (const { body } of server.asked('chat').slice(3)) {
      expect(body).toMatchObject({ max_completion_tokens: 50, messages: QUESTION });
      for (const field of ['max_tokens', 'temperature', 'top_p']) expect(body).not.toHaveProperty(field);
    }
  });

  test('is told of by a stream as well', async () => {
    server.next('chat', ...UNSUPPORTED.slice(0, 2));
    let content = '';
    for await (const delta of model.stream(QUESTION, OPTIONS)) content += delta.content;
    expect(content).toBe('The mill opens at nine.');
    expect(server.asked('chat').at(-1)?.body).toMatchObject({
      max_completion_tokens: 50,
      top_p: 0.9,
      stream: true,
    });
  });

  test('is not asked again for what was not sent', async () => {
    server.always('chat', UNSUPPORTED[0]!);
    await expect(model.complete(QUESTION, OPTIONS)).rejects.toMatchObject({ code: 'INFERENCE_ERROR' });
    expect(server.asked('chat')).toHaveLength(2);
  });
});
