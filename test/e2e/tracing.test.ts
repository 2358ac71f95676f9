import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { modelEnvironment } from '../support/model-server/open-models.js';
import { startScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../support/model-server/scripted-model-server.js';
import { spanPaths, spanTree, startOtlpReceiver } from '../support/otlp-receiver.js';
import type { OtlpReceiver, ReceivedSpan } from '../support/otlp-receiver.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';

let stack: RunningStack;
let server: ScriptedModelServer;
let collector: OtlpReceiver;
let client: ReturnType<typeof documentClient>;

/** A caller's own span, by which its trace is found again. */
function caller(digit: string) {
  return {
    traceId: digit.repeat(32),
    header: { traceparent: `00-${digit.repeat(32)}-${digit.repeat(16)}-01` },
  };
}

const CALLERS = {
  whole: caller('a'),
  first: caller('b'),
  second: caller('c'),
  chat: caller('d'),
  off: caller('e'),
};

async function upload(fileId: string, headers: Record<string, string>): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([`# ${fileId}\n\nThe lighthouse keeps ${fileId} oil lamps.`]), `${fileId}.md`);
  const answer = await stack.request(`/indexer/partition/lamps/file/${fileId}`, {
    method: 'POST',
    body: form,
    headers,
  });
  return ((await answer.json()) as { task_status_url: string }).task_status_url;
}

async function chat(headers: Record<string, string>): Promise<void> {
  const answer = await stack.request('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: 'rag-lamps',
      stream: true,
      messages: [{ role: 'user', content: 'How many lamps does the lighthouse keep?' }],
    }),
  });
  await answer.text();
}

function traceOf({ traceId }: { traceId: string }): ReceivedSpan[] {
  return collector.spans().filter((span) => span.traceId === traceId);
}

const UPLOAD = 'POST /indexer/partition/{partition}/file/{file_id}';
const ACTIVITIES = `${UPLOAD} > StartWorkflow:indexDocument > RunActivity:`;
const CHAT = 'POST /v1/chat/completions';
/** What each trace has to hold, as paths from the request on. */
const WHOLE = [
  UPLOAD,
  `${UPLOAD} > mongodb tasks.insert`,
  // A small text is embedded and stored by the step that reads it.
  `${ACTIVITIES}parseDocument > model embedding`,
  `${ACTIVITIES}parseDocument > opensearch bulk`,
];
const WHOLE_CHAT = [
  CHAT,
  `${CHAT} > model embedding`,
  `${CHAT} > opensearch msearch`,
  `${CHAT} > model chat`,
];

/** Processes hand their spans over every five seconds, a child before its parent when they end so. */
function untilTraced(name: keyof typeof CALLERS, paths: readonly string[]): Promise<true> {
  return until(`the trace of ${name} holds ${paths.join(', ')}`, async () => {
    const held = spanPaths(traceOf(CALLERS[name]));
    return paths.every((path) => held.some((one) => one.endsWith(path)));
  });
}

beforeAll(async () => {
  [server, collector] = await Promise.all([
    startScriptedModelServer({ dimension: 16, answer: () => 'It keeps them all.' }),
    startOtlpReceiver(),
  ]);
  stack = await openStack({
    ...modelEnvironment(server, 'openai'),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-ours',
    MAX_RUNNING_TASKS_PER_USER: '1',
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
  // The first text starts the parser, and one that takes seconds to be read is embedded by a step of its own.
  for (const [name, header] of [
    ['warm', {}],
    ['whole', CALLERS.whole.header],
  ] as const)
    expect((await client.ended(await upload(name, header))).task_state).toBe('COMPLETED');
  // The second one waits for its turn, and another workflow than the request starts it.
  const both = await Promise.all([
    upload('first', CALLERS.first.header),
    upload('second', CALLERS.second.header),
  ]);
  for (const url of both) expect((await client.ended(url)).task_state).toBe('COMPLETED');
  await chat(CALLERS.chat.header);
  await stack.request('/partition/', {
    headers: { traceparent: CALLERS.off.header.traceparent.replace(/1$/, '0') },
  });
  await Promise.all([untilTraced('whole', WHOLE), untilTraced('chat', WHOLE_CHAT)]);
}, 240_000);
afterAll(async () => {
  await stack?.close();
  await Promise.all([server?.close(), collector?.close()]);
}, 60_000);

describe('traces', () => {
  it('show an upload from the request through the workflow to stores and models', () => {
    const trace = traceOf(CALLERS.whole);
    expect(spanPaths(trace)).toEqual(expect.arrayContaining(WHOLE));
    const [root] = trace.filter(({ name }) => name === UPLOAD);
    expect(root).toMatchObject({
      service: 'tamis-gateway',
      parentId: 'a'.repeat(16),
      failed: false,
      attributes: { 'http.response.status_code': 201, 'http.route': expect.stringContaining('{file_id}') },
    });
    expect(trace.find(({ name }) => name === 'RunActivity:parseDocument')).toMatchObject({
      service: 'tamis-worker',
      attributes: { 'temporal.workflow.type': 'indexDocument', 'temporal.attempt': 1 },
    });
    print('upload', trace);
  });

  it.each(['first', 'second'] as const)(
    'show the upload %s, also where it waited for its turn',
    async (name) => {
      // Where both ran at once, their chunks may share a request, which one of the traces holds.
      await untilTraced(name, [UPLOAD, 'RunActivity:parseDocument']);
      await until(`all spans of ${name} hang together`, async () =>
        spanPaths(traceOf(CALLERS[name]))
          .filter((path) => !path.includes(' > '))
          .every((path) => path === UPLOAD),
      );
    },
  );

  it('show a chat with its searches and model calls', () => {
    const trace = traceOf(CALLERS.chat);
    expect(spanPaths(trace)).toEqual(expect.arrayContaining(WHOLE_CHAT));
    // The stream is part of its request.
    const [root] = trace.filter(({ name }) => name === CHAT);
    const last = trace.filter(({ name }) => name === 'model chat').at(-1)!;
    expect(last.startMs + last.ms).toBeLessThanOrEqual(root!.startMs + root!.ms + 5);
    print('chat', trace);
  });

  it('are not made of what a caller does not trace', () => {
    expect(traceOf(CALLERS.off)).toEqual([]);
  });

  it('come with the headers of the configuration', () => {
    expect(new Set(collector.headers().map(({ authorization }) => authorization))).toEqual(
      new Set(['Bearer of-ours']),
    );
  });
});

/** For `docs/tracing.md`. */
function print(name: string, trace: readonly ReceivedSpan[]): void {
  const folder = process.env['TRACES_TO'];
  if (folder !== undefined) writeFileSync(`${folder}/${name}.txt`, `${spanTree(trace)}\n`);
}
