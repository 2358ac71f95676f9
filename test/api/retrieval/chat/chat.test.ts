import { afterEach, describe, expect, it } from '@jest/globals';
import { AppError } from '../../../../schemas/app-error.js';
import { createScriptedChat, delta, end, source } from '../../support/scripted-chat.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway, GatewayOptions } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';
import { openAiError } from '../../support/openai-error.js';

const QUESTION = [{ role: 'user', content: 'How fast is the turbine?' }];
let gateway: Gateway;
afterEach(() => gateway.close());

async function start(options: GatewayOptions & { steps?: Parameters<typeof createScriptedChat>[0] } = {}) {
  const { steps = [delta('Fast'), delta('.'), end()], ...rest } = options;
  const scripted = createScriptedChat(steps);
  gateway = await startGateway({ chat: scripted.service, ...rest });
  return scripted;
}

async function chat(body: object, token?: string): Promise<[number, Record<string, unknown>]> {
  const response = await gateway.call('POST', '/v1/chat/completions', {
    body: JSON.stringify({ messages: QUESTION, ...body }),
    headers: { 'Content-Type': 'application/json' },
    ...(token === undefined ? {} : { token }),
  });
  return [response.status, (await response.json()) as Record<string, unknown>];
}

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
    for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/embeddings'])
      expect((await gateway.call('POST', path)).status).toBe(404);
  });
});

describe('GET /v1/models/{id}', () => {
  const get = async (id: string, token?: string) => {
    const response = await gateway.call('GET', `/v1/models/${id}`, token === undefined ? {} : { token });
    return [response.status, await response.json()];
  };

  it('tells of a model under each of its names', async () => {
    await start();
    await gateway.call('POST', '/partition/one');
    for (const id of ['rag-one', 'openrag-one', 'ragondin-one'])
      expect(await get(id)).toEqual([
        200,
        { id, object: 'model', created: expect.any(Number), owned_by: 'OpenRAG' },
      ]);
    expect(await get('partition-all')).toMatchObject([200, { id: 'partition-all', created: 0 }]);
    expect(await get('builtin%2Fextractive')).toMatchObject([200, { id: 'builtin/extractive' }]);
  });

  it('is 404 for what means nothing, and 403 for a foreign partition', async () => {
    await start();
    await gateway.call('POST', '/partition/one');
    const { token } = gateway.addUser('outsider');
    expect(await get('gpt-4')).toEqual([404, openAiError('NOT_FOUND', "Model 'gpt-4' not found")]);
    expect(await get('rag-none')).toMatchObject([404, {}]);
    expect(await get('rag-one', token)).toEqual([
      403,
      openAiError('AUTH_ERROR', "Access to partition 'one' forbidden"),
    ]);
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
    const { token } = gateway.addUser('outsider');
    expect(await chat({ model: 'gpt-4' })).toEqual([
      404,
      openAiError('NOT_FOUND', "Model 'gpt-4' not found"),
    ]);
    expect((await chat({ model: 'rag-' }))[0]).toBe(404);
    expect(await chat({ model: 'rag-none' })).toEqual([
      404,
      openAiError('PARTITION_NOT_FOUND', "Partition 'none' not found"),
    ]);
    expect(await chat({ model: 'rag-one' }, token)).toEqual([
      403,
      openAiError('AUTH_ERROR', "Access to partition 'one' forbidden"),
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
        openAiError('BAD_REQUEST', 'The last message must be a non-empty user message'),
      ]);
  });

  it('is validated, and must say that it is JSON', async () => {
    await start();
    expect(await chat({ messages: [{ role: 'wizard', content: 'x' }] })).toEqual([
      422,
      openAiError('VALIDATION_ERROR', expect.stringMatching(/^body\.messages\.0\.role: Invalid option/), [
        expect.objectContaining({ loc: ['body', 'messages', 0, 'role'], input: 'wizard' }),
      ]),
    ]);
    const plain = (type: string, body: string) =>
      gateway.call('POST', '/v1/chat/completions', { body, headers: { 'Content-Type': type } });
    expect((await plain('text/plain', JSON.stringify({ messages: QUESTION }))).status).toBe(422);
    const broken = await plain('application/json', '{"messages":');
    expect([broken.status, await broken.json()]).toEqual([
      422,
      openAiError('VALIDATION_ERROR', 'body: JSON decode error', [
        { type: 'json_invalid', loc: ['body'], msg: 'JSON decode error', input: null },
      ]),
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
      messages: [{ role: 'user', content: 'How\nfast?' }],
      temperature: 0.3,
      topP: 0.5,
      maxTokens: 9,
      stop: ['END'],
    });
  });

  describe('with a picture', () => {
    const PICTURE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const SEEN = [
      { role: 'user', content: [{ type: 'text', text: 'What is it?' }, PICTURE] },
      { role: 'assistant', content: 'A mill.' },
    ];

    it('in what was said before is taken without it', async () => {
      const { requests } = await start();
      expect((await chat({ messages: [...SEEN, ...QUESTION] }))[0]).toBe(200);
      expect(requests[0]?.messages).toEqual([{ role: 'user', content: 'What is it?' }, SEEN[1], ...QUESTION]);
    });

    it.each([
      ['the question', SEEN.slice(0, 1), 'messages.0.content.1'],
      ['a question of a picture alone', [{ role: 'user', content: [PICTURE] }], 'messages.0.content.0'],
      [
        'what a tool came to',
        [...QUESTION, { role: 'assistant', content: '' }, { role: 'tool', content: [PICTURE] }],
        'messages.2.content.0',
      ],
    ])('in %s is refused with a sentence', async (_what, messages, place) => {
      const { requests } = await start();
      const [status, body] = await chat({ messages });
      const message = `body.${place}.type: Parts of type 'text' are taken, not 'image_url'`;
      expect([status, body]).toEqual([
        422,
        openAiError('VALIDATION_ERROR', message, [expect.objectContaining({ input: 'image_url' })]),
      ]);
      expect(requests).toEqual([]);
    });

    it('is validated, as texts are', async () => {
      await start();
      for (const part of [{ type: 'text' }, { text: 'Hi?' }, 'Hi?', { type: 'x'.repeat(101) }])
        expect((await chat({ messages: [{ role: 'user', content: [part] }, ...QUESTION] }))[0]).toBe(422);
    });
  });

  it('hands on what is the model’s to understand, and keeps what is its own', async () => {
    const { requests } = await start();
    const more = {
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'required',
      seed: 7,
      response_format: { type: 'json_object' },
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      logit_bias: { '5': -100 },
      top_logprobs: 2,
      some_vendor_field: { deep: [1] },
    };
    const own = { n: 1, stream: false, logprobs: true, metadata: { anything: 1 } };
    expect((await chat({ ...more, ...own, max_completion_tokens: 12, user: null }))[0]).toBe(200);
    expect(requests[0]).toMatchObject({ maxTokens: 12 });
    expect(requests[0]?.more).toEqual({ ...more, logprobs: true });
  });

  it('takes the turns of tools and of developers', async () => {
    const { requests } = await start();
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      ...QUESTION,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: '42' },
    ];
    expect((await chat({ messages }))[0]).toBe(200);
    expect(requests[0]?.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      ...QUESTION,
      { role: 'assistant', content: '', more: { tool_calls: [call] } },
      { role: 'tool', content: '42', more: { tool_call_id: 'c1' } },
    ]);
  });

  it('takes the turns of functions, which are the older tools', async () => {
    const { requests } = await start();
    const call = { name: 'f', arguments: '{}' };
    const messages = [
      ...QUESTION,
      { role: 'assistant', content: null, function_call: call },
      { role: 'function', name: 'f', content: '42' },
    ];
    expect((await chat({ messages }))[0]).toBe(200);
    expect(requests[0]?.messages).toEqual([
      ...QUESTION,
      { role: 'assistant', content: '', more: { function_call: call } },
      { role: 'function', content: '42', more: { name: 'f' } },
    ]);
    expect((await chat({ messages: [{ role: 'function', name: 'f', content: '42' }] }))[0]).toBe(400);
  });

  it('refuses what it could only drop', async () => {
    const { requests } = await start();
    expect(await chat({ n: 2 })).toEqual([400, openAiError('BAD_REQUEST', "'n' must be 1")]);
    expect(await chat({ metadata: { attachments: [{ id: 'a' }] } })).toEqual([
      400,
      openAiError('BAD_REQUEST', "'metadata.attachments' needs a partition as the model"),
    ]);
    expect(requests).toEqual([]);
  });
});

describe('POST /v1/chat/completions: metadata', () => {
  it('says what else is wanted', async () => {
    const { requests } = await start();
    await gateway.call('POST', '/partition/one');
    const metadata = {
      spoken_style_answer: true,
      use_map_reduce: true,
      websearch: true,
      require_retrieval: true,
      workspace: 'w',
      attachments: [{ id: 'f1', name: 'x' }],
      include_all_retrieved_sources: true,
      llm_override: { model: 'm', base_url: 'https://models.example/v1', api_key: 'k' },
    };
    expect((await chat({ model: 'rag-one', metadata }))[0]).toBe(200);
    expect(requests[0]).toMatchObject({
      spokenStyle: true,
      mapReduce: true,
      webSearch: true,
      requireRetrieval: true,
      allRetrieved: true,
      workspace: 'w',
      attachments: ['f1'],
      trace: false,
      override: { model: 'm', baseUrl: 'https://models.example/v1', apiKey: 'k' },
    });
    expect((await chat({ metadata: { llm_override: {}, websearch: null } }))[0]).toBe(200);
    expect(requests[1]).not.toHaveProperty('override');
    const empty = { workspace: '', file_id: '', preset: '', llm_override: { model: '', base_url: '' } };
    expect((await chat({ model: 'rag-one', metadata: empty }))[0]).toBe(200);
    for (const name of ['override', 'workspace', 'fileId', 'preset'])
      expect(requests[2]?.[name as keyof (typeof requests)[2]]).toBeUndefined();
  });

  it.each([
    ['include_retrieval_trace', true],
    ['compare_original_query', true],
    ['bypass_query_contextualization', true],
    ['retrieval_similarity_threshold', 0],
    ['retrieval_top_k', 5],
    ['retrieval_disable_reranker', true],
    ['retrieval_disable_expansion', true],
  ])('keeps %s to administrators', async (key, value) => {
    const { requests } = await start();
    const { token } = gateway.addUser('ada');
    const metadata = { [key]: value };
    expect(await chat({ metadata }, token)).toEqual([
      403,
      openAiError('AUTH_ERROR', 'Admin privileges required'),
    ]);
    expect(requests).toEqual([]);
    expect((await chat({ metadata }))[0]).toBe(200);
    expect((await chat({ metadata: { [key]: typeof value === 'boolean' ? false : null } }, token))[0]).toBe(
      200,
    );
  });

  it('is validated', async () => {
    await start();
    for (const metadata of [
      { websearch: 'yes' },
      { retrieval_top_k: 1001 },
      { retrieval_top_k: 0 },
      { llm_override: 'gpt' },
      { attachments: [{ name: 'x' }] },
    ])
      expect((await chat({ metadata }))[0]).toBe(422);
  });
});

describe('POST /v1/chat/completions: the answer in one toolCall', () => {
  it('is a completion with its sources', async () => {
    const b = source('b');
    const support = { quote: 'It is fast.', charStart: 4, charEnd: 15, verified: true, claim: '' };
    await start({
      steps: [
        delta('Fast'),
        delta('.'),
        end({ presented: [source('a'), b], cited: [b], supports: new Map([[b, support]]), reported: true }),
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
        id: expect.stringMatching(/^chatcmpl-/),
        object: 'chat.completion',
        created: expect.any(Number),
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
          sources: [{ ...entry('b'), quote: 'It is fast.', char_start: 4, char_end: 15, verified: true }],
          presented_sources: [entry('a'), entry('b')],
          cited_sources: [
            { ...entry('b'), quote: 'It is fast.', char_start: 4, char_end: 15, verified: true },
          ],
          citations_reported: true,
          refused: false,
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

  it('carries rerank scores, web pages and what else was asked for', async () => {
    const page = { url: 'https://example.org/', title: 'T', snippet: 'S' };
    const ranked = { ...source('a'), rerankScore: 0.75 };
    await start({
      steps: [
        end(
          { presented: [ranked, page], cited: [ranked, page], reported: true },
          {
            allRetrieved: [ranked],
            attachments: [{ id: 'a', partition: 'one', filename: 'a.txt' }],
            degraded: ['reranker'],
          },
        ),
      ],
    });
    const extra = (await chat({}))[1]['extra'] as Record<string, unknown[]>;
    expect(extra['cited_sources']).toEqual([
      expect.objectContaining({ source_type: 'document', rerank_score: 0.75, verified: false }),
      { source_type: 'web', ...page },
    ]);
    expect(extra['all_retrieved_sources']).toHaveLength(1);
    expect(extra['attachments']).toEqual([{ id: 'a', partition: 'one', filename: 'a.txt' }]);
    expect(extra['degraded']).toEqual(['reranker']);
  });

  it('puts calls of tools, reasoning and log probabilities together', async () => {
    const toolCall = (index: number, rest: object) => ({ tool_calls: [{ index, ...rest }] });
    const token = (text: string) => ({ token: text, logprob: -0.5, bytes: null, top_logprobs: [] });
    await start({
      steps: [
        { ...delta(''), more: { reasoning_content: 'Let me' } } as never,
        { ...delta('So'), more: { reasoning_content: ' see.' }, logprobs: [token('So')] } as never,
        {
          ...delta(''),
          more: toolCall(0, { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a"' } }),
        } as never,
        // Some servers name the fields of a call again, without a value.
        { ...delta(''), more: toolCall(0, { id: '', type: null, function: { arguments: ':1}' } }) } as never,
        { ...delta(''), more: toolCall(1, { id: 'c2', function: { name: 'g', arguments: '{}' } }) } as never,
        end({}, { finishReason: 'tool_calls' }),
      ],
    });
    const { choices } = (await chat({}))[1] as { choices: object[] };
    expect(choices).toEqual([
      {
        index: 0,
        finish_reason: 'tool_calls',
        logprobs: { content: [token('So')] },
        message: {
          role: 'assistant',
          content: 'So',
          reasoning_content: 'Let me see.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'c2', function: { name: 'g', arguments: '{}' } },
          ],
        },
      },
    ]);
  });

  it('answers no gaps where calls of tools are not numbered from 0', async () => {
    const toolCall = (index: number, id: string) => ({
      ...delta(''),
      more: { tool_calls: [{ index, id, function: { name: id, arguments: '{}' } }] },
    });
    await start({
      steps: [toolCall(3, 'second'), toolCall(1, 'first'), end({}, { finishReason: 'tool_calls' })],
    });
    const { choices } = (await chat({}))[1] as { choices: { message: object }[] };
    expect(choices[0]?.message).toMatchObject({
      tool_calls: ['first', 'second'].map((id) => ({ id, function: { name: id, arguments: '{}' } })),
    });
  });

  it('puts the older call of a function, and lists of parts, together', async () => {
    const part = (index: number, fields: object) => ({
      reasoning_details: [{ type: 'reasoning.text', index, ...fields }],
    });
    const pieces = [
      part(0, { text: 'Let me', signature: null }),
      part(0, { text: ' see.', signature: 's' }),
      part(1, { text: 'So' }),
      { function_call: { name: 'weather', arguments: '' } },
      { function_call: { arguments: '{"ci' } },
      { function_call: { arguments: 'ty":"Paris"}' } },
    ];
    await start({
      steps: [
        ...pieces.map((more) => ({ ...delta(''), more }) as never),
        end({}, { finishReason: 'function_call' }),
      ],
    });
    const { choices } = (await chat({}))[1] as { choices: object[] };
    expect(choices).toMatchObject([
      {
        finish_reason: 'function_call',
        message: {
          content: null,
          function_call: { name: 'weather', arguments: '{"city":"Paris"}' },
          reasoning_details: [
            { type: 'reasoning.text', index: 0, text: 'Let me see.', signature: 's' },
            { type: 'reasoning.text', index: 1, text: 'So' },
          ],
        },
      },
    ]);
  });

  it('has the status of what went wrong, before and in the middle', async () => {
    await start({ steps: [new AppError('INFERENCE_TIMEOUT')] });
    expect((await chat({}))[0]).toBe(504);
    await gateway.close();
    await start({
      steps: [new AppError('CONTEXT_TOO_LONG', 'Request exceeds maximum token limit. It is long.')],
    });
    expect(await chat({})).toEqual([
      413,
      openAiError('CONTEXT_TOO_LONG', 'Request exceeds maximum token limit. It is long.'),
    ]);
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
