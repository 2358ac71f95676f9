import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { ChatService } from '../../../../activities/retrieval/chat/chat-service.js';
import { AppError } from '../../../../schemas/app-error.js';
import { createScriptedChat, delta, end, source } from '../../support/scripted-chat.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { until } from '../../support/uploads.js';

let gateway: Gateway;
afterEach(() => gateway.close());

type Steps = Parameters<typeof createScriptedChat>[0];

async function open(steps: Steps, body: object = {}, signal?: AbortSignal) {
  const scripted = createScriptedChat(steps);
  gateway = await startGateway({ chat: scripted.service });
  await gateway.call('POST', '/partition/one');
  const response = await gateway.call('POST', '/v1/chat/completions', {
    body: JSON.stringify({
      model: 'rag-one',
      messages: [{ role: 'user', content: 'Q?' }],
      stream: true,
      ...body,
    }),
    headers: { 'Content-Type': 'application/json' },
    ...(signal === undefined ? {} : { signal }),
  });
  return { response, ...scripted };
}

/** A model that thinks until it is told to go on. */
async function openHesitant(steps: Steps, env: Record<string, string>) {
  const scripted = createScriptedChat(steps);
  let go = (): void => undefined;
  const thought = new Promise<void>((resolve) => (go = resolve));
  const service: ChatService = {
    async *respond(request) {
      await thought;
      yield* scripted.service.respond(request);
    },
  };
  gateway = await startGateway({ chat: service, env });
  const response = await gateway.call('POST', '/v1/chat/completions', {
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Q?' }], stream: true }),
    headers: { 'Content-Type': 'application/json' },
  });
  return { response, go };
}

/** The events of a whole stream; each must be one `data:` line and a blank one. */
async function eventsOf(response: Response): Promise<(Record<string, unknown> | '[DONE]')[]> {
  const text = await response.text();
  expect(text).toMatch(/^(data: [^\n]+\n\n)+$/);
  return text
    .trimEnd()
    .split('\n\n')
    .map((event) => event.slice('data: '.length))
    .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as Record<string, unknown>)));
}

function chunk(inner: object, finish: string | null, extra: unknown, sources: unknown) {
  return {
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion.chunk',
    created: expect.any(Number),
    model: 'rag-one',
    choices: [{ index: 0, delta: inner, logprobs: null, finish_reason: finish }],
    extra,
    delta: inner,
    sources,
  };
}

const COMPLETE = {
  sources: [expect.any(Object)],
  presented_sources: [expect.any(Object)],
  cited_sources: [],
  citations_reported: false,
  refused: false,
};

describe('POST /v1/chat/completions, streamed', () => {
  it('keeps to the format to the letter', async () => {
    const { response } = await open([
      delta('Fa'),
      delta('st'),
      delta('.'),
      end({ presented: [source('a')] }),
    ]);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const events = await eventsOf(response);
    expect(events).toEqual([
      chunk({ role: 'assistant', content: '' }, null, {}, []),
      chunk({ content: 'Fa' }, null, {}, []),
      chunk({ content: 'st' }, null, {}, []),
      chunk({ content: '.' }, null, COMPLETE, COMPLETE.sources),
      chunk({}, 'stop', COMPLETE, COMPLETE.sources),
      '[DONE]',
    ]);
    expect(new Set(events.slice(0, -1).map((event) => (event as { id: string }).id)).size).toBe(1);
  });

  it('makes text of each source once, however many lists and events hold it', async () => {
    const words = 'all metadata of its file';
    const given = source('a');
    given.version.metadata = { words };
    const write = jest.spyOn(JSON, 'stringify');
    const ended = end({ presented: [given, source('b')] }, { allRetrieved: [given] });
    const { response } = await open([delta('Fast.'), ended]);
    const events = (await eventsOf(response)).slice(-3, -1) as { extra: Record<string, unknown> }[];
    const times = write.mock.calls.filter(([value]) => value === words).length;
    write.mockRestore();
    for (const event of events) {
      const [a, b] = [{ chunk: { file_id: 'a', words } }, { chunk: { file_id: 'b' } }];
      const extra = { sources: [a, b], presented_sources: [a, b], all_retrieved_sources: [a] };
      expect(event).toMatchObject({ extra, sources: extra.sources });
    }
    expect(times).toBe(1);
  });

  it('adds the usage when it is asked for', async () => {
    const { response } = await open([delta('x'), end()], { stream_options: { include_usage: true } });
    const events = await eventsOf(response);
    expect(events.at(-2)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 7, total_tokens: 10 },
      extra: {},
    });
    expect(events.at(-1)).toBe('[DONE]');
  });

  it('passes on deltas of tool calls and log probabilities', async () => {
    const call = { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] };
    const logprobs = [{ token: 'Fa', logprob: -1 }];
    const { response } = await open([
      { ...delta('Fa'), logprobs } as never,
      { ...delta(''), more: call } as never,
      end({}, { finishReason: 'tool_calls' }),
    ]);
    const events = await eventsOf(response);
    expect(events[1]).toMatchObject({
      choices: [{ delta: { content: 'Fa' }, logprobs: { content: logprobs } }],
    });
    expect(events[2]).toMatchObject({
      choices: [{ delta: call, finish_reason: null }],
      extra: { sources: [] },
    });
    expect((events[2] as { choices: { delta: object }[] }).choices[0]?.delta).not.toHaveProperty('content');
    expect(events[3]).toMatchObject({ choices: [{ delta: {}, finish_reason: 'tool_calls' }] });
  });

  it('keeps the connection with comments while the model thinks', async () => {
    const env = { CHAT_HEARTBEAT_SECONDS: '1' };
    const { response, go } = await openHesitant([delta('Fa'), end()], env);
    expect(response.status).toBe(200);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!/^: .*\n\n$/m.test(text)) text += (await reader.read()).value ?? '';
    expect(text.replace(/^: [^\n]*\n\n/gm, '')).toMatch(/^data: \{[^\n]*"role":"assistant"[^\n]*\n\n$/);
    go();
    for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value;
    const events = text
      .replace(/^: [^\n]*\n\n/gm, '')
      .trimEnd()
      .split('\n\n');
    expect(events).toHaveLength(4);
    expect(events.at(-1)).toBe('data: [DONE]');
  });

  it('tells what fails after a long thought inside the stream', async () => {
    const env = { CHAT_HEARTBEAT_SECONDS: '1' };
    const { response, go } = await openHesitant([new AppError('INFERENCE_TIMEOUT')], env);
    expect(response.status).toBe(200);
    go();
    const text = (await response.text()).replace(/^: [^\n]*\n\n/gm, '');
    const events = text.trimEnd().split('\n\n');
    expect(JSON.parse(events[1]!.slice(6))).toMatchObject({ extra: { truncated: true } });
    expect(JSON.parse(events[2]!.slice(6))).toMatchObject({ error: { code: 'INFERENCE_TIMEOUT' } });
    expect(events[3]).toBe('data: [DONE]');
  });

  it('ends well when the model says nothing', async () => {
    const { response } = await open([end()]);
    const events = await eventsOf(response);
    expect(events).toHaveLength(3);
    expect(events[1]).toMatchObject({
      choices: [{ delta: {}, finish_reason: 'stop' }],
      extra: { sources: [] },
    });
  });

  it('answers a fault before the first word with its own status', async () => {
    const { response } = await open([new AppError('INFERENCE_CONNECTION_ERROR')]);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      detail: expect.stringMatching(/^\[INFERENCE_CONNECTION_ERROR\]: /),
    });
  });

  it('tells a throw in the middle inside the stream', async () => {
    const { response } = await open([delta('Fa'), delta('st'), new Error('secret of the inside')]);
    const events = await eventsOf(response);
    expect(events.slice(1)).toEqual([
      chunk({ content: 'Fa' }, null, {}, []),
      chunk({ content: 'st' }, null, { truncated: true }, []),
      {
        error: {
          message: 'An unexpected error occurred',
          type: 'error',
          param: null,
          code: 'UNEXPECTED_ERROR',
        },
      },
      '[DONE]',
    ]);
  });

  it('marks an answer whose model broke off', async () => {
    const error = new AppError('INFERENCE_ERROR');
    const { response } = await open([
      delta('Fa'),
      end({ presented: [source('a')] }, { truncated: true, error }),
    ]);
    const events = await eventsOf(response);
    expect(events[1]).toMatchObject({ extra: { truncated: true, sources: [expect.any(Object)] } });
    expect(events.at(-2)).toMatchObject({ error: { code: 'INFERENCE_ERROR', type: 'error', param: null } });
    expect(events.at(-1)).toBe('[DONE]');
  });

  it.each([
    ['in the middle of the answer', [delta('Fa'), delta('st'), 'silence'] as Steps],
    ['before its first word', ['silence'] as Steps],
  ])('stops the model within a second of a client that leaves %s', async (_when, steps) => {
    const client = new AbortController();
    const scripted = createScriptedChat(steps);
    gateway = await startGateway({ chat: scripted.service });
    const request = gateway.call('POST', '/v1/chat/completions', {
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Q?' }], stream: true }),
      headers: { 'Content-Type': 'application/json' },
      signal: client.signal,
    });
    const read = request.then((response) => response.text()).catch(() => 'left');
    await until(() => scripted.state.open === 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.abort();
    await until(() => scripted.state.open === 0 && scripted.state.aborted === 1, 1000);
    expect(await read).toBe('left');
    expect(gateway.logLines.join('')).not.toContain('"level":50');
  });
});
