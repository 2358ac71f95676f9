import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openCutLine } from '../support/cut-line.js';
import type { CutLine } from '../support/cut-line.js';
import { documentClient } from '../support/document-client.js';
import type { TaskStatus } from '../support/document-client.js';
import { generatedText } from '../support/generated-text.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { until } from '../support/until.js';

let temporal: CutLine;
let opensearch: CutLine;
let stack: RunningStack;
let client: ReturnType<typeof documentClient>;

beforeAll(async () => {
  [temporal, opensearch] = await Promise.all([
    openCutLine(process.env['TEMPORAL_ADDRESS'] ?? ''),
    openCutLine(process.env['OPENSEARCH_URL'] ?? ''),
  ]);
  stack = await openStack({
    TEMPORAL_ADDRESS: temporal.address,
    OPENSEARCH_URL: `http://${opensearch.address}`,
  });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(async () => {
  await Promise.all([temporal?.restore(), opensearch?.restore()]);
  await stack?.close();
  await Promise.all([temporal?.close(), opensearch?.close()]);
}, 60_000);

async function status(path: string): Promise<number> {
  return (await stack.request(path)).status;
}

async function readiness() {
  const response = await stack.request('/ready');
  const body = (await response.json()) as { status: string; checks: Record<string, string> };
  return { code: response.status, status: body.status, ...body.checks };
}

function recordOf(url: string) {
  return stack.adapters.tasks.get(url.split('/').at(-1)!);
}

function beingEmbedded(url: string): Promise<unknown> {
  return until('the task is being embedded', async () => {
    const task = await recordOf(url);
    if (task?.finished_at != null) throw new Error(`ended ${task.state} before the line could be cut`);
    return task?.stage === 'embed' && task.progress > 0.3 && task.progress < 0.7;
  });
}

/** The files that the partition has, each with exactly one generation of chunks in the index. */
async function expectOnce(partition: string, fileIds: readonly string[]): Promise<void> {
  const { files } = (await (await stack.request(`/partition/${partition}`)).json()) as {
    files: { file_id: string }[];
  };
  expect(files.map(({ file_id }) => file_id).sort()).toEqual([...fileIds].sort());
  const generations = new Map<string, number>();
  for await (const { fileKey } of stack.adapters.chunks.scanGenerations())
    generations.set(fileKey, (generations.get(fileKey) ?? 0) + 1);
  for (const fileId of fileIds) {
    const record = await stack.adapters.files.get(partition, fileId);
    expect([fileId, generations.get(record!.file_key)]).toEqual([fileId, 1]);
  }
}

/** Runs of the indexing workflow per file and generation: each exactly one, whoever started it. */
async function workflowRuns(urls: readonly string[]): Promise<number[]> {
  const runs: number[] = [];
  for (const url of urls) {
    const task = (await recordOf(url))!;
    const workflowId = `${stack.config.temporal.prefix}index-document/${task.file_key}/${task.generation}`;
    // The list of runs lags behind a little, so the first of them is waited for.
    const count = await until('the run is listed', async () => {
      let listed = 0;
      for await (const _run of stack.temporal.workflow.list({ query: `WorkflowId = "${workflowId}"` }))
        listed += 1;
      return listed > 0 && listed;
    });
    runs.push(count);
  }
  return runs;
}

function states(tasks: readonly TaskStatus[]): unknown[] {
  return tasks.map(({ task_state, error }) => error ?? task_state);
}

describe('Temporal away', () => {
  const ids = ['one', 'two', 'three', 'four', 'five'];

  it('while uploads arrive: each is answered 201, and indexed once when it is back', async () => {
    await temporal.cut();
    const urls = await Promise.all(
      ids.map(async (id, index) => {
        const response = await client.send('POST', 'away', id, generatedText(index, 10), `${id}.txt`);
        expect(response.status).toBe(201);
        return ((await response.json()) as { task_status_url: string }).task_status_url;
      }),
    );
    await until('/ready tells of it', async () => (await readiness()).code === 503);
    expect(await readiness()).toMatchObject({ status: 'not_ready', mongodb: 'ok', opensearch: 'ok' });
    expect(await status('/health_check')).toBe(200);
    for (const url of urls) {
      expect((await client.task(url)).task_state).toBe('QUEUED');
      expect((await recordOf(url))!.handed_over_at).toBeNull();
    }
    // What was taken is there to be refused a second time, and a cancel holds without Temporal.
    expect((await client.send('POST', 'away', 'one', 'other', 'one.txt')).status).toBe(409);
    const doomed = await client.upload('POST', 'away', 'doomed', generatedText(9, 10), 'doomed.txt');
    expect((await stack.request(doomed, { method: 'DELETE' })).status).toBe(200);
    expect((await client.task(doomed)).task_state).toBe('CANCELLED');

    await temporal.restore();
    const tasks = await Promise.all(urls.map((url) => client.ended(url)));
    expect(states(tasks)).toEqual(ids.map(() => 'COMPLETED'));
    await until('/ready is well again', async () => (await readiness()).code === 200);
    expect((await client.task(doomed)).task_state).toBe('CANCELLED');
    expect(await remainingDrift(stack)).toEqual([]);
    await expectOnce('away', ids);
    expect(await workflowRuns(urls)).toEqual(ids.map(() => 1));
  }, 180_000);

  it('for seconds in the middle of an indexing: it goes on and completes, the old version visible until then', async () => {
    const old = await client.upload('POST', 'middle', 'doc', 'The old version of it.', 'doc.txt');
    expect((await client.ended(old)).task_state).toBe('COMPLETED');
    const url = await client.upload('PUT', 'middle', 'doc', generatedText(50, 9_000), 'doc.txt');
    await beingEmbedded(url);
    await temporal.cut();
    await until('/ready tells of it', async () => (await readiness()).code === 503);
    // Reading does not pass through Temporal.
    const hits = await client.search('/search/partition/middle', { text: 'old version' });
    expect(hits[0]?.content).toContain('The old version of it.');
    // Longer than the heartbeat's time limit is what the server would have to notice; shorter must not matter either.
    const cutAt = Date.now();
    await until('some seconds have passed', async () => Date.now() - cutAt > 4000);
    await temporal.restore();
    expect(states([await client.ended(url, 240_000)])).toEqual(['COMPLETED']);
    expect(await remainingDrift(stack)).toEqual([]);
    await expectOnce('middle', ['doc']);
    expect(await workflowRuns([url])).toEqual([1]);
  }, 300_000);
});

describe('OpenSearch away', () => {
  it('in the middle of an indexing: searches answer 503, uploads are taken, and all completes when it is back', async () => {
    const running = await client.upload('POST', 'dark', 'big', generatedText(60, 9_000), 'big.txt');
    await beingEmbedded(running);
    await opensearch.cut();
    const search = await stack.request('/search/partition/dark?text=tide');
    expect([search.status, await search.json()]).toEqual([
      503,
      expect.objectContaining({ detail: expect.stringMatching(/^\[VDB_CONNECTION_ERROR\]: /) }),
    ]);
    const chat = await stack.request('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'rag-dark', messages: [{ role: 'user', content: 'Which tide?' }] }),
    });
    expect(chat.status).toBe(503);
    await until('/ready tells of it', async () => (await readiness()).code === 503);
    expect(await readiness()).toMatchObject({ milvus: 'unavailable', mongodb: 'ok', temporal: 'ok' });
    const meanwhile = await client.upload('POST', 'dark', 'small', generatedText(61, 10), 'small.txt');
    await until('an attempt has failed and waits', async () => {
      const task = await client.task(meanwhile);
      return task.task_state === 'SERIALIZING' && task.stage !== 'parse';
    });
    const deleted = await stack.request('/indexer/partition/dark/file/small', { method: 'DELETE' });
    expect(deleted.status).toBe(204);
    const again = await client.upload('POST', 'dark', 'small', generatedText(62, 10), 'small.txt');
    expect((await client.task(running)).task_state).toBe('SERIALIZING');

    await opensearch.restore();
    const tasks = await Promise.all([running, again].map((url) => client.ended(url, 240_000)));
    expect(states(tasks)).toEqual(['COMPLETED', 'COMPLETED']);
    expect((await client.task(meanwhile)).task_state).toBe('CANCELLED');
    expect(await remainingDrift(stack)).toEqual([]);
    await expectOnce('dark', ['big', 'small']);
    expect(await status('/search/partition/dark?text=tide')).toBe(200);
  }, 300_000);
});
