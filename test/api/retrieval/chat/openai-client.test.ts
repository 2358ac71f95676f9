import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, {
  APIUserAbortError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from 'openai';
import { startScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../../support/model-server/scripted-model-server.js';
import { startModelGateway } from '../../support/model-gateway.js';
import { ADMIN_TOKEN } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, until } from '../../support/uploads.js';

const ANSWER = 'The mill opens at nine [Source 1].\n\n[Sources: 1]';
const QUESTION = [{ role: 'user' as const, content: 'When does the mill open?' }];

let server: ScriptedModelServer;
let gateway: Gateway;
beforeAll(async () => {
  server = await startScriptedModelServer({ answer: () => ANSWER, contextTokens: 4096 });
  gateway = await startModelGateway(server);
  await indexText(gateway, { partition: 'one', fileId: 'a' }, ['The mill opens at nine.']);
});
afterEach(() => {
  server.reset();
  server.models.toolCall = null;
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

function client(apiKey = ADMIN_TOKEN, at = gateway) {
  return new OpenAI({ baseURL: `${at.url}/v1`, apiKey, maxRetries: 0 });
}

describe('the official OpenAI client', () => {
  it('lists models, and retrieves one', async () => {
    const ids = [];
    for await (const { id } of client().models.list()) ids.push(id);
    expect(ids).toEqual(['rag-one', 'partition-all']);
    expect(await client().models.retrieve('rag-one')).toMatchObject({ id: 'rag-one', object: 'model' });
  });

  it('chats, and finds the sources beside the answer', async () => {
    const answer = await client().chat.completions.create({ model: 'rag-one', messages: QUESTION });
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'The mill opens at nine [Source 1].' },
    });
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
    expect((answer as unknown as { extra: unknown }).extra).toMatchObject({
      cited_sources: [{ quote: 'The mill opens at nine.', char_start: 0, char_end: 23, verified: true }],
    });
  });

  it('streams, with usage, and puts the answer together', async () => {
    const stream = client().chat.completions.stream({
      model: 'rag-one',
      messages: QUESTION,
      stream_options: { include_usage: true },
    });
    let usage = 0;
    for await (const chunk of stream) usage += chunk.usage?.total_tokens ?? 0;
    expect(usage).toBeGreaterThan(0);
    expect(await stream.finalContent()).toBe('The mill opens at nine [Source 1].');
  });

  it.each([true, false])('gets the calls of tools that the model wants, streamed: %s', async (streamed) => {
    server.models.toolCall = { name: 'open_mill', arguments: { at: 'nine', day: 'monday' } };
    const request = {
      model: 'rag-one',
      messages: QUESTION,
      tools: [{ type: 'function' as const, function: { name: 'open_mill', parameters: { type: 'object' } } }],
    };
    const answer = streamed
      ? await client().chat.completions.stream(request).finalChatCompletion()
      : await client().chat.completions.create(request);
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'open_mill' } }] },
    });
    const [call] = answer.choices[0]?.message.tool_calls ?? [];
    expect(JSON.parse(call?.type === 'function' ? call.function.arguments : '')).toEqual({
      at: 'nine',
      day: 'monday',
    });
    expect(server.asked('chat').at(-1)?.body).toMatchObject({ tools: request.tools });
  });

  it('completes a text', async () => {
    const { choices } = await client().completions.create({ model: 'rag-one', prompt: 'When does it open?' });
    expect(choices[0]).toMatchObject({ text: 'The mill opens at nine [Source 1].', finish_reason: 'stop' });
  });

  it('embeds, in base64 as it asks by itself', async () => {
    const { data, usage } = await client().embeddings.create({
      model: 'builtin-hash',
      input: ['one', 'two'],
    });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([1024, 1024]);
    expect(Math.hypot(...(data[0]?.embedding ?? []))).toBeCloseTo(1, 4);
    expect(usage.total_tokens).toBe(2);
  });

  it('leaves a stream, and the model stops', async () => {
    server.models.answer = () => 'word '.repeat(100);
    server.always('chat', { kind: 'pause', afterWords: 50 });
    const stream = await client().chat.completions.create({
      model: '',
      messages: QUESTION,
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content !== '') break;
    await until(() => server.asked('chat').at(-1)?.aborted === true, 1000);
    server.models.answer = () => ANSWER;
    const leaving = new AbortController();
    const request = { model: '', messages: QUESTION };
    const asked = client().chat.completions.create(request, { signal: leaving.signal });
    await until(() => server.asked('chat').length === 2);
    leaving.abort();
    await expect(asked).rejects.toBeInstanceOf(APIUserAbortError);
  });

  describe('gets errors of its own classes', () => {
    const chat = (model: string, apiKey?: string, more: object = {}) =>
      client(apiKey).chat.completions.create({ model, messages: QUESTION, ...more });

    it('for what it asked wrongly', async () => {
      await expect(chat('rag-one', undefined, { n: 2 })).rejects.toBeInstanceOf(BadRequestError);
      await expect(chat('rag-one', undefined, { temperature: 9 })).rejects.toBeInstanceOf(
        UnprocessableEntityError,
      );
      await expect(chat('gpt-4')).rejects.toBeInstanceOf(NotFoundError);
      await expect(chat('rag-one', 'or-wrong')).rejects.toBeInstanceOf(PermissionDeniedError);
      await expect(chat('rag-one', gateway.addUser('eve').token)).rejects.toMatchObject({ status: 403 });
      await expect(chat('rag-one', undefined, { max_tokens: 99_999 })).rejects.toMatchObject({ status: 413 });
    });

    it('with the code and the sentence of each', async () => {
      await expect(chat('gpt-4')).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: "404 Model 'gpt-4' not found",
      });
      await expect(chat('rag-one', undefined, { max_tokens: 99_999 })).rejects.toMatchObject({
        code: 'CONTEXT_TOO_LONG',
        message: expect.stringMatching(/^413 Request exceeds maximum token limit\./),
      });
      await expect(chat('rag-one', undefined, { temperature: 9 })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        message: expect.stringMatching(/^422 body\.temperature: Too big/),
      });
      await expect(chat('rag-one', 'or-wrong')).rejects.toMatchObject({
        code: 'AUTH_ERROR',
        message: '403 Invalid token',
      });
    });

    it('for a model that fails, before and in a stream', async () => {
      server.always('chat', { kind: 'status', status: 401 });
      await expect(chat('rag-one')).rejects.toMatchObject({ status: 502 });
      await expect(chat('rag-one')).rejects.toBeInstanceOf(InternalServerError);
      server.models.answer = () => 'word '.repeat(100);
      server.always('chat', { kind: 'error', afterWords: 50 });
      const stream = await client().chat.completions.create({
        model: '',
        messages: QUESTION,
        stream: true,
      });
      const read = async (): Promise<void> => {
        for await (const _chunk of stream);
      };
      await expect(read()).rejects.toMatchObject({ code: 'INFERENCE_ERROR' });
      server.models.answer = () => ANSWER;
    });

    it('for too many requests', async () => {
      const env = { RATE_LIMIT_ENABLED: 'true', RATE_LIMIT_CHAT: '1/minute' };
      const strict = await startModelGateway(server, { env });
      const { token } = strict.addUser('ada');
      const ask = () => client(token, strict).chat.completions.create({ model: '', messages: QUESTION });
      await ask();
      await expect(ask()).rejects.toBeInstanceOf(RateLimitError);
      await expect(ask()).rejects.toMatchObject({
        code: 'RATE_LIMITED',
        message: '429 Rate limit exceeded. Please retry later.',
      });
      await strict.close();
    });
  });
});
