import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Behaviour } from '../../../support/model-server/behaviour.js';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import { ask, readEvents, startModelGateway } from '../../support/model-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, until } from '../../support/uploads.js';
import { openAiError } from '../../support/openai-error.js';

/** Longer than what is held back for the citation line. */
const ANSWER = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');

let server: ScriptedModelServer;
let gateway: Gateway;
beforeAll(async () => {
  server = await startScriptedModelServer({ answer: () => ANSWER });
});
afterEach(async () => {
  server.reset();
  Object.assign(server.models, { promptWords: 100_000, contextTokens: 4096, msPerWord: 0 });
  await gateway.close();
});
afterAll(() => server.close());

/** The question goes to the model as it is, so that the first thing asked of it is the answer. */
async function open(env: Record<string, string> = {}): Promise<void> {
  server.models.contextTokens = 4096;
  gateway = await startModelGateway(server, { env: { RAG_MODE: 'SimpleRag', ...env } });
  await indexText(gateway, { partition: 'one', fileId: 'a' }, [
    'The mill opens at nine.',
    'It closes at five.',
  ]);
}

function codeOf(text: string): string {
  return /^\[(\w+)\]/.exec((JSON.parse(text) as { detail: string }).detail)?.[1] ?? '';
}

describe('a model server that fails before the first word', () => {
  it.each<[string, Behaviour, number, string]>([
    ['401', { kind: 'status', status: 401 }, 502, 'INFERENCE_REFUSED'],
    ['403', { kind: 'status', status: 403 }, 502, 'INFERENCE_REFUSED'],
    ['404', { kind: 'status', status: 404 }, 503, 'INFERENCE_ERROR'],
    ['429', { kind: 'status', status: 429, headers: { 'retry-after': '30' } }, 503, 'INFERENCE_ERROR'],
    ['500', { kind: 'status', status: 500 }, 503, 'INFERENCE_ERROR'],
    ['a page of HTML', { kind: 'html' }, 502, 'LLM_PARSING_ERROR'],
    ['a cut connection', { kind: 'cut' }, 503, 'INFERENCE_CONNECTION_ERROR'],
    ['broken JSON', { kind: 'broken-json', afterWords: 0 }, 502, 'LLM_PARSING_ERROR'],
    ['silence', { kind: 'silence' }, 504, 'INFERENCE_TIMEOUT'],
  ])('%s is answered with its own status, streamed or not', async (_name, behaviour, status, code) => {
    await open({ LLM_TIMEOUT: '1' });
    server.always('chat', behaviour);
    for (const stream of [false, true]) {
      const answer = await ask(gateway, { model: 'rag-one', stream });
      expect([answer.status, codeOf(answer.text)]).toEqual([status, code]);
      if (_name === '429') expect(answer.headers.get('retry-after')).toBe('30');
    }
  });

  it('names neither a key nor an address', async () => {
    await open({
      API_KEY: 'a-key-of-the-service',
      SECRETS_KEY: Buffer.from('a key of 32 bytes for the tests!').toString('base64'),
    });
    server.always('chat', {
      kind: 'status',
      status: 401,
      body: '{"error":"Incorrect API key: a-key-of-the-service"}',
    });
    expect((await ask(gateway, { model: 'rag-one' })).text).not.toMatch(/a-key-of-the-service|127\.0\.0\.1/);
  });
});

describe('a model server that refuses what it was asked', () => {
  const TOOLS = { tools: [{ type: 'function', function: { name: 'bad name!' } }] };
  const refusing = (status: number): Behaviour => ({
    kind: 'status',
    status,
    body: '{"error":{"message":"no such form"}}',
  });

  it.each<[string, number, object]>([
    ['400 to tools', 400, TOOLS],
    ['422 to a field that we do not know', 422, { guided_grammar: 'x' }],
    ['400 to a share of 0', 400, { top_p: 0 }],
    ['400 to a field of a message', 400, { messages: [{ role: 'user', content: 'Hi?', name: 'a b' }] }],
  ])('is the client’s matter where it set fields of its own: %s', async (_name, status, fields) => {
    await open();
    server.always('chat', refusing(status));
    for (const [index, stream] of [false, true].entries()) {
      const answer = await ask(gateway, { model: 'rag-one', stream, ...fields });
      expect([answer.status, JSON.parse(answer.text)]).toEqual([
        400,
        openAiError('BAD_REQUEST', "Model endpoint 'default': no such form"),
      ]);
      expect(server.asked('chat')).toHaveLength(index + 1);
    }
  });

  it('goes on answering others, however often it refuses', async () => {
    await open();
    server.always('chat', refusing(400));
    for (let asked = 0; asked < 6; asked += 1)
      expect((await ask(gateway, { model: '', ...TOOLS })).status).toBe(400);
    server.reset();
    expect((await ask(gateway, { model: '' })).status).toBe(200);
  });

  it.each<[string, number, object]>([
    ['400 to what every request has', 400, { temperature: 0.2 }],
    ['402, which no field is the reason of', 402, TOOLS],
    ['404, for which the model is not there', 404, TOOLS],
  ])('is the operator’s matter otherwise: %s', async (_name, status, fields) => {
    await open();
    server.always('chat', refusing(status));
    const answer = await ask(gateway, { model: 'rag-one', ...fields });
    expect([answer.status, codeOf(answer.text)]).toEqual([503, 'INFERENCE_ERROR']);
  });
});

describe('a model server that fails in the middle', () => {
  it.each<[string, Behaviour, number, string]>([
    ['broken JSON', { kind: 'broken-json', afterWords: 40 }, 502, 'LLM_PARSING_ERROR'],
    ['a cut connection', { kind: 'cut', afterWords: 40 }, 503, 'INFERENCE_CONNECTION_ERROR'],
    ['an error of its own', { kind: 'error', afterWords: 40 }, 503, 'INFERENCE_ERROR'],
    ['no finish', { kind: 'no-finish', afterWords: 40 }, 503, 'INFERENCE_ERROR'],
    ['an error as its finish', { kind: 'finish', afterWords: 40, reason: 'error' }, 503, 'INFERENCE_ERROR'],
    ['an abort as its finish', { kind: 'finish', afterWords: 40, reason: 'abort' }, 503, 'INFERENCE_ERROR'],
    ['an empty finish', { kind: 'no-finish', afterWords: 40, finish: '' }, 503, 'INFERENCE_ERROR'],
    ['silence', { kind: 'pause', afterWords: 40 }, 504, 'INFERENCE_TIMEOUT'],
  ])(
    '%s: the words came, the stream says that it is cut and ends well',
    async (_name, behaviour, status, code) => {
      await open({ LLM_TIMEOUT: '1' });
      server.always('chat', behaviour);
      const { chunks, content, error } = readEvents(
        (await ask(gateway, { model: 'rag-one', stream: true, stream_options: { include_usage: true } }))
          .text,
      );
      expect(content).toBe(ANSWER.split(' ').slice(0, 40).join(' '));
      expect(error).toBe(code);
      expect(chunks.slice(0, -2).every(({ extra }) => Object.keys(extra).length === 0)).toBe(true);
      for (const { extra } of chunks.slice(-2))
        expect(extra).toMatchObject({ truncated: true, presented_sources: [{}, {}] });
      // as a whole there is still time for a status.
      const whole = await ask(gateway, { model: 'rag-one' });
      expect([whole.status, codeOf(whole.text)]).toEqual([status, code]);
    },
  );
});

it.each(['model_length', 'max_tokens'])('a finish for %s is one for the length', async (reason) => {
  await open();
  server.always('chat', { kind: 'finish', afterWords: 40, reason });
  const { text } = await ask(gateway, { model: 'rag-one' });
  expect(JSON.parse(text)).toMatchObject({ choices: [{ finish_reason: 'length' }] });
});

describe('a model server that is slow', () => {
  it('keeps the stream alive with comments until its first word', async () => {
    await open({ CHAT_HEARTBEAT_SECONDS: '1' });
    server.next('chat', { kind: 'delay', ms: 2600 });
    const { text } = await ask(gateway, { model: 'rag-one', stream: true });
    expect(text).toMatch(/^: /m);
    expect(readEvents(text)).toMatchObject({ content: ANSWER, error: null });
  });

  it('is stopped when the client leaves, whatever it is busy with', async () => {
    await open();
    server.always('chat', { kind: 'pause', afterWords: 30 });
    for (const stream of [true, false]) {
      server.requests.length = 0;
      const client = new AbortController();
      const left = ask(gateway, { model: 'rag-one', stream }, client.signal).catch(() => 'left');
      await until(() => server.asked('chat')[0]?.said === 30);
      client.abort();
      await until(() => server.asked('chat')[0]?.aborted === true, 1000);
      expect(await left).toBe('left');
    }
  });

  it('is left alone with rewriting after three seconds, and the client hears nothing of it', async () => {
    await open({ RAG_MODE: 'ChatBotRag' });
    server.next('chat', { kind: 'silence' });
    const { status, text } = await ask(gateway, { model: 'rag-one' });
    expect(status).toBe(200);
    expect(text).toContain('word59');
    expect(server.asked('chat').map(({ body }) => [body['stream'] ?? false, body['max_tokens']])).toEqual([
      [false, 512],
      [true, 1024],
    ]);
  });
});

describe('a prompt that is too long', () => {
  const refusal = openAiError(
    'CONTEXT_TOO_LONG',
    expect.stringMatching(/^Request exceeds maximum token limit\./),
  );

  it('is refused by our own count before the model is asked', async () => {
    await open();
    for (const model of ['rag-one', '']) {
      const messages = [{ role: 'user', content: 'word '.repeat(5000) }];
      const { status, text } = await ask(gateway, { model, messages });
      expect([status, JSON.parse(text)]).toEqual([413, refusal]);
      const long = await ask(gateway, { model, max_tokens: 4096 });
      expect(long.status).toBe(413);
    }
    expect(server.asked('chat')).toEqual([]);
  });

  it('is refused by the server’s count once no source is left to leave out', async () => {
    await open();
    server.models.promptWords = 3;
    for (const stream of [false, true]) {
      const { status, text } = await ask(gateway, { model: 'rag-one', stream });
      expect([status, JSON.parse(text)]).toEqual([413, refusal]);
    }
  });

  it.each([
    ['of a longer answer than the model gives is not one', 'supports at most 16 completion tokens', 1, false],
    [
      'for the answer behind it is',
      'has a maximum context length of 4096 tokens and your request has 4000 input tokens',
      2,
      true,
    ],
  ])('%s, by what the server says', async (_name, why, times, isTooLong) => {
    await open();
    const message = `max_tokens is too large: 1000. This model ${why}, whereas you provided 1000.`;
    server.always('chat', { kind: 'status', status: 400, body: JSON.stringify({ error: { message } }) });
    const { status, text } = await ask(gateway, { model: 'rag-one', max_tokens: 1000 });
    expect(text).toContain('max_tokens is too large: 1000');
    expect(status === 413).toBe(isTooLong);
    expect(server.asked('chat')).toHaveLength(times);
  });

  it.each<[string, object, number, number]>([
    ["'stop': array too long. Expected an array with maximum length 4.", { stop: ['a', 'b'] }, 400, 1],
    ["'tools[0].function.name': string too long.", { tools: [{ type: 'function' }] }, 400, 1],
    ["'messages[1].name': string too long.", { tools: [{ type: 'function' }] }, 400, 1],
    ["'messages[0].content': string too long.", { stop: ['a', 'b'] }, 413, 2],
    ["'messages': array too long.", { stop: ['a', 'b'] }, 413, 2],
  ])('is not what OpenAI says of another field: %s', async (why, fields, status, times) => {
    await open();
    const message = `Invalid ${why}`;
    server.always('chat', { kind: 'status', status: 400, body: JSON.stringify({ error: { message } }) });
    const answer = await ask(gateway, { model: 'rag-one', ...fields });
    expect(answer.text).toContain('too long.');
    expect([answer.status, server.asked('chat').length]).toEqual([status, times]);
  });
});
