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

function openAi(): string {
  return [
    ...deltas.map((delta) => ({ choices: [{ delta }] })),
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
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

/** The answer of a model that was asked for 1,024 tokens. */
async function listen(provider: 'openai' | 'ollama', said: readonly object[]) {
  deltas = said;
  const model = createRemoteLanguageModel({
    endpointName: 'own',
    modelName: 'thinking',
    contextTokens: 8192,
    answerTokens: null,
    server: createModelServer(dispatcher, provider, { baseUrl, apiKey: null, timeoutMs: 5_000 }),
    calls: createResilientCalls({ name: 'own', concurrency: 1 }),
  });
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
