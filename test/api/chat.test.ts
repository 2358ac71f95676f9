import { afterEach, describe, expect, it } from '@jest/globals';
import { AppError } from '../../schemas/app-error.js';
import { createScriptedChat, delta, end, source } from './support/scripted-chat.js';
import { startGateway } from './support/start-gateway.js';
import type { Gateway, GatewayOptions } from './support/start-gateway.js';
import { indexText } from './support/uploads.js';

const QUESTION = [{ role: 'user', content: 'How fast is the turbine?' }];
let gateway: Gateway;
afterEach(() => gateway.close());

const start = async (options: GatewayOptions & { steps?: Parameters<typeof createScriptedChat>[0] } = {}) => {
  const { steps = [delta('Fast'), delta('.'), end()], ...rest } = options;
  const scripted = createScriptedChat(steps);
  gateway = await startGateway({ chat: scripted.service, ...rest });
  return scripted;
};

const chat = async (body: object, token?: string): Promise<[number, Record<string, unknown>]> => {
  const response = await gateway.call('POST', '/v1/chat/completions', {
    body: JSON.stringify({ messages: QUESTION, ...body }),
    headers: { 'Content-Type': 'application/json' },
    ...(token === undefined ? {} : { token }),
  });
  return [response.status, (await response.json()) as Record<string, unknown>];
};

describe('GET /v1/models', () => {
  const ids = async (token?: string) => {
    const response = await gateway.call('GET', '/v1/models', token === undefined ? {} : { token });
    return (await response.json()) as { object: string; data: { id: string }[] };
  };

  it("lists the caller's partitions and the whole, and nothing foreign", async () => {
    await start();
    const ada = gateway.addUser('ada');
    await gateway.call('POST', '/partition/adas', { token: ada.token });
    await gateway.call('POST', '/partition/admins');
    expect(await ids(ada.token)).toEqual({
      object: 'list',
      data: [
        { id: 'rag-adas', object: 'model', created: expect.any(Number), owned_by: 'OpenRAG' },
        { id: 'partition-all', object: 'model', created: 0, owned_by: 'OpenRAG' },
      ],
    });
  });

  it('lists them under the prefix that the operator chose', async () => {
    await start({ env: { MODEL_ID_PREFIX: 'openrag-' } });
    await gateway.call('POST', '/partition/one');
    expect((await ids()).data.map(({ id }) => id)).toEqual(['openrag-one', 'openrag-all']);
  });

  it('is not there without the chat API', async () => {
    await start({ env: { WITH_OPENAI_API: 'false' } });
    expect((await gateway.call('GET', '/v1/models')).status).toBe(404);
  });
});

describe('POST /v1/chat/completions: the model', () => {
  it.each([
    [undefined, { kind: 'direct' }],
    [null, { kind: 'direct' }],
    ['', { kind: 'direct' }],
    ['builtin-extractive', { kind: 'direct' }],
    ['builtin/extractive', { kind: 'direct' }],
    ['rag-one', { kind: 'retrieval', partitions: ['one'] }],
    ['openrag-one', { kind: 'retrieval', partitions: ['one'] }],
    ['ragondin-one', { kind: 'retrieval', partitions: ['one'] }],
    ['x-one', { kind: 'retrieval', partitions: ['one'] }],
    ['partition-all', { kind: 'retrieval', partitions: 'all' }],
    ['rag-all', { kind: 'retrieval', partitions: 'all' }],
    ['openrag-all', { kind: 'retrieval', partitions: 'all' }],
    ['ragondin-all', { kind: 'retrieval', partitions: 'all' }],
  ])('%s', async (model, target) => {
    const { requests } = await start({ env: { MODEL_ID_PREFIX: 'x-' } });
    await gateway.call('POST', '/partition/one');
    expect((await chat({ model }))[0]).toBe(200);
    expect(requests[0]?.target).toEqual(target);
    expect(requests[0]?.scope).toEqual({ kind: 'partitions', userId: 1, roles: { one: 'owner' } });
  });

  it('is 404 when it means nothing or its partition is not there, 403 when it is foreign', async () => {
    const { requests } = await start();
    await gateway.call('POST', '/partition/one');
    const { token } = gateway.addUser('stranger');
    expect(await chat({ model: 'gpt-4' })).toEqual([404, { detail: "Model 'gpt-4' not found" }]);
    expect((await chat({ model: 'rag-' }))[0]).toBe(404);
    expect(await chat({ model: 'rag-none' })).toEqual([404, { detail: "Partition 'none' not found" }]);
    expect(await chat({ model: 'rag-one' }, token)).toEqual([
      403,
      { detail: "Access to partition 'one' forbidden" },
    ]);
    expect(requests).toEqual([]);
  });
});

describe('POST /v1/chat/completions: the request', () => {
  it('wants a question last', async () => {
    await start();
    for (const messages of [[], [{ role: 'assistant', content: 'x' }], [{ role: 'user', content: ' ' }]])
      expect(await chat({ messages })).toEqual([
        400,
        { detail: 'The last message must be a non-empty user message' },
      ]);
  });

  it('is validated, and must say that it is JSON', async () => {
    await start();
    expect(await chat({ messages: [{ role: 'wizard', content: 'x' }] })).toEqual([
      422,
      { detail: [expect.objectContaining({ loc: ['body', 'messages', 0, 'role'], input: 'wizard' })] },
    ]);
    const plain = (type: string, body: string) =>
      gateway.call('POST', '/v1/chat/completions', { body, headers: { 'Content-Type': type } });
    expect((await plain('text/plain', JSON.stringify({ messages: QUESTION }))).status).toBe(422);
    const broken = await plain('application/json', '{"messages":');
    expect([broken.status, await broken.json()]).toEqual([
      422,
      { detail: [{ type: 'json_invalid', loc: ['body'], msg: 'JSON decode error', input: null }] },
    ]);
    expect((await plain('application/json', '"text"')).status).toBe(422);
  });

  it('hands parameters on, and takes messages in parts', async () => {
    const { requests } = await start();
    const content = [
      { type: 'text', text: 'How' },
      { type: 'text', text: 'fast?' },
    ];
    await chat({ messages: [{ role: 'user', content }], top_p: 0.5, max_tokens: 9, stop: 'END', user: 'x' });
    expect(requests[0]).toMatchObject({
      ...{ messages: [{ role: 'user', content: 'How\nfast?' }], temperature: 0.3, topP: 0.5, maxTokens: 9 },
      stop: ['END'],
    });
  });

  it('refuses what it could only drop', async () => {
    await start();
    for (const extra of [
      { tools: [{ type: 'function' }] },
      { n: 2 },
      { logprobs: true },
      { response_format: { type: 'json_object' } },
      { metadata: { workspace: 'w' } },
      { metadata: { llm_override: { model: 'x' } } },
    ])
      expect(await chat(extra)).toEqual([400, { detail: expect.stringContaining('not supported yet') }]);
    expect((await chat({ tools: [], n: 1, response_format: { type: 'text' }, metadata: { a: 1 } }))[0]).toBe(
      200,
    );
  });
});

describe('POST /v1/chat/completions: the answer in one piece', () => {
  it('is a completion with its sources', async () => {
    await start({
      steps: [
        delta('Fast'),
        delta('.'),
        end({ presented: [source('a'), source('b')], cited: [source('b')], reported: true }),
      ],
    });
    await gateway.call('POST', '/partition/one');
    const entry = (id: string) => ({
      source_type: 'document',
      chunk: expect.objectContaining({ _id: id, file_id: id, partition: 'notes', filename: `${id}.txt` }),
      chunk_url: `${gateway.url}/extract/${id}`,
      file_url: `${gateway.url}/static/${id}`,
    });
    expect(await chat({ model: 'rag-one' })).toEqual([
      200,
      {
        ...{
          id: expect.stringMatching(/^chatcmpl-/),
          object: 'chat.completion',
          created: expect.any(Number),
        },
        model: 'rag-one',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Fast.' },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
        extra: {
          ...{
            sources: [entry('b')],
            presented_sources: [entry('a'), entry('b')],
            cited_sources: [entry('b')],
          },
          citations_reported: true,
        },
      },
    ]);
  });

  it('shows no sources after [Sources: none]', async () => {
    await start({ steps: [delta('No.'), end({ presented: [source('a')], reported: true, none: true })] });
    expect((await chat({}))[1]['extra']).toMatchObject({
      sources: [],
      presented_sources: [expect.any(Object)],
    });
  });

  it('has the status of what went wrong, before and in the middle', async () => {
    await start({ steps: [new AppError('INFERENCE_TIMEOUT')] });
    expect((await chat({}))[0]).toBe(504);
    await gateway.close();
    await start({
      steps: [new AppError('CONTEXT_TOO_LONG', 'Request exceeds maximum token limit. It is long.')],
    });
    expect(await chat({})).toEqual([413, { detail: 'Request exceeds maximum token limit. It is long.' }]);
    await gateway.close();
    const error = new AppError('INFERENCE_ERROR');
    await start({ steps: [delta('Fa'), end({}, { truncated: true, error })] });
    expect((await chat({}))[0]).toBe(503);
  });

  it('comes out of the whole pipeline with the built-in model', async () => {
    gateway = await startGateway();
    await indexText(gateway, { partition: 'one', fileId: 'a' }, ['The turbine spins at 3000 rpm.']);
    const messages = [{ role: 'user', content: 'At how many rpm does the turbine spin?' }];
    const [status, body] = await chat({ model: 'rag-one', messages });
    expect(status).toBe(200);
    expect(JSON.stringify(body['choices'])).toContain('3000 rpm');
    expect(body['extra']).toMatchObject({ sources: [{ chunk: { file_id: 'a', partition: 'one' } }] });
  });
});
