import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { samplePages } from '../support/documents/sample-pages.js';
import { writePdf } from '../support/documents/write-pdf.js';
import { generatedText } from '../support/generated-text.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { until } from '../support/until.js';
import { endServer, listenOnLoopback } from '../support/loopback-server.js';

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;
let receiver: Server;
let receiverUrl: string;
const told: { body: string; authorization: string | undefined }[] = [];
let refusals = 0;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      if ((refusals -= 1) >= 0) return void response.writeHead(503).end();
      told.push({ body, authorization: request.headers.authorization });
      response.end();
    });
  });
  ({ url: receiverUrl } = await listenOnLoopback(receiver));
  stack = await openStack({
    INDEXING_CALLBACK_ALLOW_PRIVATE_URLS: 'true',
    MAX_RUNNING_TASKS_PER_USER: '2',
    PARSE_MEMORY_MB: '8192',
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(async () => {
  await stack?.close();
  await endServer(receiver);
}, 60_000);

function form(fields: Record<string, string>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return body;
}

async function call(method: string, path: string, fields: Record<string, string> = {}) {
  return (await stack.request(path, { method, ...(method === 'DELETE' ? {} : { body: form(fields) }) }))
    .status;
}

async function index(partition: string, fileId: string, seed: number, paragraphs = 12) {
  const text = generatedText(seed, paragraphs);
  const url = await client.upload('POST', partition, fileId, text, `${fileId}.txt`, { of: seed });
  expect((await client.ended(url)).task_state).toBe('COMPLETED');
}

async function chunksOf(partition: string, fileId: string) {
  const file = await stack.adapters.files.get(partition, fileId);
  const { generation, embedder } = file!.live!;
  const { vectorField } = await stack.adapters.models.embedder(embedder);
  const options = { vectorField, from: 0, limit: 1000 };
  return stack.adapters.chunks.listWithVectors(file!.file_key, generation, options);
}

describe('PATCH', () => {
  it('reaches chunks and answers, and moves a file with its chunks', async () => {
    await index('words', 'doc', 1);
    await stack.request('/partition/elsewhere', { method: 'POST' });
    const patch = { metadata: '{"big":9223372036854775807,"of":2}' };
    expect(await call('PATCH', '/indexer/partition/words/file/doc', patch)).toBe(200);
    for (const { chunk } of await chunksOf('words', 'doc'))
      expect(chunk.metadata).toContainEqual(expect.objectContaining({ integer: '9223372036854775807' }));
    const filtered = async (filter: string) =>
      (await client.search('/search/partition/words', { text: 'Document', filter })).length > 0;
    expect(await filtered('big == 9223372036854775807 and of > 1 and filename like "doc%"')).toBe(true);
    expect(await filtered('of == 1 or big == 9223372036854775806')).toBe(false);
    const move = { metadata: '{"partition":"elsewhere"}' };
    expect(await call('PATCH', '/indexer/partition/words/file/doc', move)).toBe(200);
    const query = { text: 'Document 1, paragraph 1' };
    expect(await client.search('/search/partition/words', query)).toEqual([]);
    const hits = await client.search('/search/partition/elsewhere', query);
    expect(hits.length).toBeGreaterThan(0);
    expect(hits[0]!.metadata).toMatchObject({ partition: 'elsewhere', of: 2 });
    expect(await remainingDrift(stack)).toEqual([]);
  });

  it('under a running indexing is merged by its publication', async () => {
    const url = await client.upload('POST', 'words', 'long', generatedText(3, 1500), 'long.txt', { of: 3 });
    await until('it is being embedded', async () => (await client.task(url)).stage === 'embed', {
      everyMs: 20,
    });
    expect(await call('PATCH', '/indexer/partition/words/file/long', { metadata: '{"late":true}' })).toBe(
      200,
    );
    expect((await client.ended(url)).task_state).toBe('COMPLETED');
    expect((await stack.adapters.files.get('words', 'long'))?.live?.metadata).toEqual({ of: 3, late: true });
    const keys = (await chunksOf('words', 'long')).map(({ chunk }) => chunk.metadata.map(({ key }) => key));
    for (const each of keys) expect(each).toEqual(expect.arrayContaining(['of', 'late']));
    expect(await remainingDrift(stack)).toEqual([]);
  });
});

describe('copy', () => {
  it('has the same text and vectors, and stands on its own', async () => {
    await index('source', 'doc', 5);
    await stack.request('/partition/target', { method: 'POST' });
    const fields = { source_partition: 'source', source_file_id: 'doc' };
    expect(await call('POST', '/indexer/partition/target/file/twin/copy', fields)).toBe(201);
    const [from, to] = await Promise.all([chunksOf('source', 'doc'), chunksOf('target', 'twin')]);
    expect(to.map(({ chunk, vector }) => [chunk.position, chunk.text, vector])).toEqual(
      from.map(({ chunk, vector }) => [chunk.position, chunk.text, vector]),
    );
    expect(await call('DELETE', '/indexer/partition/source/file/doc')).toBe(204);
    const hits = await client.search('/search/partition/target', { text: 'Document 5, paragraph 1' });
    expect(hits[0]?.metadata).toMatchObject({ file_id: 'twin', partition: 'target' });
    expect(await remainingDrift(stack)).toEqual([]);
  });
});

describe('DELETE of a partition', () => {
  it('stops its tasks, removes everything, also through a killed worker, and leaves a free name', async () => {
    await index('doomed', 'done', 7);
    const running = await client.upload('POST', 'doomed', 'running', generatedText(8, 3000), 'r.txt');
    await until('it runs', async () => (await client.task(running)).stage === 'embed', { everyMs: 20 });
    expect(await call('DELETE', '/partition/doomed')).toBe(204);
    await stack.killWorker();
    expect((await client.task(running)).task_state).toBe('CANCELLED');
    expect((await stack.request('/partition/doomed')).status).toBe(404);
    expect((await stack.request('/partition/doomed', { method: 'POST' })).status).toBe(201);
    expect(await (await stack.request('/partition/doomed')).json()).toEqual({ files: [] });
    await stack.startWorker();
    await index('doomed', 'done', 7);
    expect(await remainingDrift(stack)).toEqual([]);
    const hits = await client.search('/search/partition/doomed', { text: 'Document', top_k: '50' });
    expect(new Set(hits.flatMap(({ content }) => content.match(/Document \d+/g) ?? []))).toEqual(
      new Set(['Document 7']),
    );
  }, 180_000);
});

describe('a cancel in the middle of parsing', () => {
  it('stops the parser within 5 s', async () => {
    // A form that draws itself: no reader comes to its end.
    const endless = new Uint8Array(writePdf(samplePages(1), { selfRecursiveForm: true }));
    const url = await client.upload('POST', 'parse', 'endless', endless, 'endless.pdf');
    const id = url.split('/').at(-1)!;
    await until('it is being parsed', async () => (await client.task(url)).stage === 'parse', {
      everyMs: 20,
    });
    const task = (await stack.adapters.tasks.get(id))!;
    expect(await call('DELETE', url)).toBe(200);
    const since = Date.now();
    expect((await client.task(url)).task_state).toBe('CANCELLED');
    const workflowId = `${stack.config.temporal.prefix}index-document/${task.file_key}/${task.generation}`;
    // The plan waits for the parser's end before it ends itself.
    await until('its plan has ended', async () => {
      const { status } = await stack.temporal.workflow.getHandle(workflowId).describe();
      return status.name === 'CANCELLED';
    });
    expect(Date.now() - since).toBeLessThan(5000);
    expect(await remainingDrift(stack)).toEqual([]);
  });
});

describe('turns, callbacks and pools', () => {
  it('every one of many uploads is done, two at a time, and each is told outside', async () => {
    refusals = 1;
    const urls = [];
    for (let number = 0; number < 8; number += 1) {
      const body = form({
        metadata: `{"doc_rev":"${number}-a"}`,
        callback_url: `${receiverUrl}/done`,
        callback_token: 's3cret',
      });
      body.set('file', new Blob([generatedText(20 + number, 4)]), `f${number}.txt`);
      const init = { method: 'POST', body };
      const response = await stack.request(`/indexer/partition/many/file/f${number}`, init);
      urls.push(((await response.json()) as { task_status_url: string }).task_status_url);
    }
    for (const url of urls) expect((await client.ended(url)).task_state).toBe('COMPLETED');
    await until('all are told', async () => told.length === 8, { withinMs: 60_000 });
    expect(new Set(told.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer s3cret']));
    const bodies = told.map(({ body }) => JSON.parse(body) as { file_id: string; metadata: object });
    expect(bodies.sort((a, b) => (a.file_id < b.file_id ? -1 : 1))[3]).toEqual({
      partition: 'many',
      file_id: 'f3',
      status: 'success',
      metadata: { doc_rev: '3-a' },
    });
    expect(await remainingDrift(stack)).toEqual([]);
  }, 120_000);

  it('pools are made anew while the service goes on', async () => {
    const states = async () => {
      const { actors } = (await (await stack.request('/actors/')).json()) as {
        actors: { name: string; state: string }[];
      };
      return actors.map(({ state }) => state);
    };
    await until('all alive', async () => (await states()).every((state) => state === 'ALIVE'));
    for (const name of ['TaskStateManager', 'MarkerPool', 'SerializerQueue', 'llmSemaphore'])
      expect((await stack.request(`/actors/${name}/restart`, { method: 'POST' })).status).toBe(200);
    expect((await stack.request('/queue/info')).status).toBe(200);
    await until('all alive again', async () => (await states()).every((state) => state === 'ALIVE'));
    await index('after', 'doc', 40);
    expect(stack.crashes()).toEqual([]);
  }, 90_000);
});
