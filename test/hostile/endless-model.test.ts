import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Agent } from 'undici';
import { createRemoteLanguageModel } from '../../activities/models/remote-language-model.js';
import { createResilientCalls } from '../../activities/models/resilience.js';
import { FOREIGN_LIMITS } from '../../activities/models/servers/model-exchange.js';
import { createModelServer } from '../../activities/models/servers/probe-endpoint.js';
import type { LanguageModel } from '../../activities/ports/models.js';
import { endServer, listenOnLoopback } from '../support/loopback-server.js';

/** A server that a client named: it answers without an end, until the line breaks. */
let server: Server;
let baseUrl: string;
let dispatcher: Agent;
let sent = 0;
let type = 'text/event-stream';
let piece = '';

function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write(piece)) sent += piece.length;
  response.once('drain', () => pour(response));
}

beforeAll(async () => {
  dispatcher = new Agent();
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': type });
    pour(response);
  });
  ({ url: baseUrl } = await listenOnLoopback(server));
});
afterAll(async () => {
  await dispatcher.destroy();
  await endServer(server);
});

function modelOf(provider: 'openai' | 'ollama', totalMs: number | null = null): LanguageModel {
  return createRemoteLanguageModel({
    endpointName: 'llm_override',
    modelName: 'endless',
    contextTokens: 1000,
    answerTokens: null,
    server: createModelServer(dispatcher, provider, {
      baseUrl,
      apiKey: null,
      timeoutMs: 5_000,
      limits: { ...FOREIGN_LIMITS, totalMs },
    }),
    calls: createResilientCalls({ name: 'llm_override', concurrency: 1 }),
  });
}

async function listen(model: LanguageModel, maxTokens?: number) {
  sent = 0;
  let content = '';
  let finish: string | undefined;
  const options = maxTokens === undefined ? {} : { maxTokens };
  for await (const delta of model.stream([{ role: 'user', content: 'Hi' }], options)) {
    content += delta.content;
    finish = delta.finishReason ?? finish;
  }
  return { content, finish };
}

function event(delta: object): string {
  return `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`;
}

test.each([
  ['words', { content: 'word '.repeat(20) }],
  ['thoughts', { reasoning_content: 'hmm '.repeat(20) }],
  ['one long word', { content: 'x'.repeat(100_000) }],
])('an answer of endless %s ends at the tokens that were asked for', async (_, delta) => {
  type = 'text/event-stream';
  piece = event(delta);
  const { content, finish } = await listen(modelOf('openai'), 100);
  expect(finish).toBe('length');
  expect(content.length).toBeLessThan(2_000);
  expect(sent).toBeLessThan(16 * 1024 * 1024);
});

test.each([
  ['a line', 'text/event-stream', 'openai', 'x'.repeat(10_000)],
  ['an event', 'text/event-stream', 'openai', 'data: "x"\n'],
  ['comments', 'text/event-stream', 'openai', ': ping\n\n'],
  ['a line of NDJSON', 'application/x-ndjson', 'ollama', 'x'.repeat(10_000)],
  ['empty events', 'text/event-stream', 'openai', event({})],
] as const)('%s without an end breaks off', async (_, contentType, provider, text) => {
  type = contentType;
  piece = text;
  await expect(listen(modelOf(provider))).rejects.toMatchObject({ code: 'LLM_PARSING_ERROR' });
  expect(sent).toBeLessThan(40 * 1024 * 1024);
});

test('JSON without an end is not kept', async () => {
  type = 'application/json';
  piece = ' '.repeat(10_000);
  sent = 0;
  const answer = modelOf('openai').complete([{ role: 'user', content: 'Hi' }], {});
  await expect(answer).rejects.toMatchObject({ code: 'LLM_PARSING_ERROR' });
  expect(sent).toBeLessThan(16 * 1024 * 1024);
});

test('an answer that goes on and on ends at its time', async () => {
  type = 'text/event-stream';
  piece = '';
  const slow = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': type });
    const timer = setInterval(() => response.write(': still here\n\n'), 50);
    response.on('close', () => clearInterval(timer));
  });
  const { url } = await listenOnLoopback(slow);
  const model = createRemoteLanguageModel({
    endpointName: 'llm_override',
    modelName: 'endless',
    contextTokens: 1000,
    answerTokens: null,
    server: createModelServer(dispatcher, 'openai', {
      baseUrl: url,
      apiKey: null,
      timeoutMs: 5_000,
      limits: { ...FOREIGN_LIMITS, totalMs: 500 },
    }),
    calls: createResilientCalls({ name: 'llm_override', concurrency: 1 }),
  });
  await expect(listen(model)).rejects.toMatchObject({ code: 'INFERENCE_TIMEOUT' });
  await endServer(slow);
});
