import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent } from 'undici';
import { createRemoteLanguageModel } from '../../../activities/models/remote-language-model.js';
import { createResilientCalls } from '../../../activities/models/resilience.js';
import { createModelServer } from '../../../activities/models/servers/probe-endpoint.js';
import type { ChatDelta } from '../../../activities/ports/models.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

/** A server that sends one token in each event, as vLLM, llama.cpp and Ollama do. */
let server: Server;
let dispatcher: Agent;
let baseUrl: string;
let deltas: readonly object[] = [];
let finish = 'stop';
/** An answer that is not streamed. */
let whole: string | null = null;

function openAi(): string {
  return [
    ...deltas.map((delta) => ({ choices: [{ delta }] })),
    { choices: null },
    { choices: [{ delta: {}, finish_reason: finish }] },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .concat('data: [DONE]\n\n')
    .join('');
}

function ollama(): string {
  return [
    ...deltas.map((delta) => ({ message: { role: 'assistant', content: '', ...delta }, done: false })),
    { message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop' },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

beforeAll(async () => {
  dispatcher = new Agent();
  server = createServer((request, response) => {
    if (whole !== null) return void response.setHeader('content-type', 'application/json').end(whole);
    request.resume();
    const isOllama = request.url === '/api/chat';
    response.writeHead(200, { 'content-type': isOllama ? 'application/x-ndjson' : 'text/event-stream' });
    response.end(isOllama ? ollama() : openAi());
  });
  ({ url: baseUrl } = await listenOnLoopback(server));
});
afterAll(async () => {
  await dispatcher.destroy();
  await endServer(server);
});

function modelOf(provider: 'openai' | 'ollama') {
  return createRemoteLanguageModel({
    endpointName: 'own',
    modelName: 'thinking',
    contextTokens: 8192,
    answerTokens: null,
    server: createModelServer(dispatcher, provider, { baseUrl, apiKey: null, timeoutMs: 5_000 }),
    calls: createResilientCalls({ name: 'own', concurrency: 1 }),
  });
}

/** The answer of a model that was asked for 1,024 tokens. */
async function listen(provider: 'openai' | 'ollama', said: readonly object[]) {
  deltas = said;
  const model = modelOf(provider);
  const heard: ChatDelta[] = [];
  for await (const delta of model.stream([{ role: 'user', content: 'Hi' }], { maxTokens: 1024 }))
    heard.push(delta);
  return {
    content: heard.map(({ content }) => content).join(''),
    finish: heard.at(-1)?.finishReason,
    more: heard.flatMap(({ more }) => (more === undefined ? [] : [more])),
  };
}

const WORDS = [{ content: 'At' }, { content: ' nine.' }];
const details = { type: 'reasoning.text', text: ' the', format: 'unknown', index: 0 };
const signature = 'A1b2'.repeat(5_000);

describe('an answer within its tokens comes whole, however long the form of an event is', () => {
  test.each([
    ['openai', 'thoughts', { reasoning_content: ' the' }],
    ['openai', 'thoughts in two fields', { reasoning_content: ' the', reasoning: ' the' }],
    ['openai', 'thoughts in parts', { reasoning: ' the', reasoning_details: [details] }],
    ['ollama', 'thoughts', { thinking: ' the' }],
  ] as const)('%s: %s', async (provider, _, thought) => {
    const said = [...Array.from({ length: 600 }, () => thought), ...WORDS];
    expect(await listen(provider, said)).toMatchObject({ content: 'At nine.', finish: 'stop' });
  });

  test('arguments of a tool', async () => {
    const call = { tool_calls: [{ index: 0, function: { arguments: 'Par' } }] };
    const said = Array.from({ length: 300 }, () => call);
    const { more, finish } = await listen('openai', said);
    expect(more).toHaveLength(300);
    expect(finish).toBe('stop');
  });

  test('a signature, which is no word', async () => {
    const said = [{ reasoning_details: [{ type: 'reasoning.encrypted', data: signature }] }, ...WORDS];
    expect(await listen('openai', said)).toMatchObject({ content: 'At nine.', finish: 'stop' });
  });
});

test.each([
  ['thoughts', { reasoning_content: ' the' }],
  ['arguments of a tool', { tool_calls: [{ index: 0, function: { arguments: ' the' } }] }],
  ['parts of a form that is not known', { signs: [{ id: 1 }] }],
])('%s far beyond the tokens that were asked for end there', async (_, delta) => {
  const said = [...Array.from({ length: 3_000 }, () => delta), ...WORDS];
  expect(await listen('openai', said)).toMatchObject({ content: '', finish: 'length' });
});

describe('content in parts, as Mistral writes it', () => {
  const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
  const text = (said: string) => ({ type: 'text', text: said });

  test('a stream: text is the answer, thoughts are reasoning', async () => {
    const parts = [
      [thinking('The mill')],
      [thinking(' opens'), text('At')],
      [{ type: 'reference', reference_ids: [1] }],
    ];
    const said = [...parts.map((content) => ({ content })), { content: ' nine.' }];
    expect(await listen('openai', said)).toEqual({
      content: 'At nine.',
      finish: 'stop',
      more: [{ reasoning_content: 'The mill' }, { reasoning_content: ' opens' }],
    });
  });

  test('as a whole', async () => {
    const content = [thinking('The mill opens.'), text('At'), text(' nine.')];
    whole = JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] });
    const answer = await modelOf('openai').complete([{ role: 'user', content: 'Hi' }], {});
    whole = null;
    expect(answer).toEqual({ content: 'At nine.', finishReason: 'stop' });
  });
});

test('an answer that is done without a reason has come to its end', async () => {
  finish = '';
  expect(await listen('openai', WORDS)).toMatchObject({ content: 'At nine.', finish: 'stop' });
  finish = 'stop';
});
