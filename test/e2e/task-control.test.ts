import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import { documentClient } from '../support/document-client.js';
import type { TaskStatus } from '../support/document-client.js';
import { generatedText } from '../support/generated-text.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { until } from '../support/until.js';

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;

beforeAll(async () => {
  stack = await openStack();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

/** Long enough that it is still being embedded when a test acts on it: some 2,000 chunks. */
function bigText(seed: number): string {
  return generatedText(seed, 9_000);
}

function smallText(seed: number): string {
  return generatedText(seed, 8);
}

function taskIdOf(url: string): string {
  return url.split('/').at(-1)!;
}

/** Chunks in the index per generation, published or not, of one file. */
async function generations(fileKey: string): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for await (const group of stack.adapters.chunks.scanGenerations())
    if (group.fileKey === fileKey) found.set(group.generation, group.chunks);
  return found;
}

/** Waits until chunks of the task are in the index while there are more to come, and answers its record. */
function beingEmbedded(url: string): Promise<TaskRecord> {
  return until('the task is being embedded', async () => {
    const task = await stack.adapters.tasks.get(taskIdOf(url));
    if (task?.finished_at != null) throw new Error(`ended ${task.state} before the test could act on it`);
    return task?.stage === 'embed' && task.progress > 0.3 && task.progress < 0.7 && task;
  });
}

/** Waits for the last stage, in which a task stays for up to a second; or for its end. */
function publishing(url: string): Promise<boolean> {
  return until(
    'the task publishes',
    async () => {
      const task = await stack.adapters.tasks.get(taskIdOf(url));
      return task!.stage === 'publish' || task!.finished_at !== null;
    },
    { withinMs: 60_000, everyMs: 5 },
  );
}

function del(path: string): Promise<Response> {
  return stack.request(path, { method: 'DELETE' });
}

/** Whose text the partition's search answers with. */
async function seedsFound(partition: string): Promise<Set<string>> {
  const hits = await client.search(`/search/partition/${partition}`, { text: 'tide mill', top_k: '50' });
  return new Set(hits.flatMap(({ content }) => content.match(/Document \d+/g) ?? []));
}

/** The work itself stops within this time of the cancel. */
const STOPS_WITHIN_MS = 5000;

describe('cancelling a task', () => {
  let cancelled: TaskRecord;

  it('reads CANCELLED at once, and the work stops within 5 s', async () => {
    const url = await client.upload('POST', 'cancel', 'big', bigText(1), 'big.txt');
    cancelled = await beingEmbedded(url);
    const answered = await del(url);
    expect([answered.status, await answered.json()]).toEqual([
      200,
      { message: `Cancellation signal sent for task ${cancelled.task_id}` },
    ]);
    const since = Date.now();
    expect((await client.task(url)).task_state).toBe('CANCELLED');
    // What is in the index grows no more after 5 s; then the clean-up, which waits for the writer, empties it.
    let most = 0;
    let lastGrowth = since;
    await until('its chunks are gone', async () => {
      const count = (await generations(cancelled.file_key)).get(cancelled.generation) ?? 0;
      if (count > most) {
        most = count;
        lastGrowth = Date.now();
      }
      return count === 0;
    });
    expect(lastGrowth - since).toBeLessThan(STOPS_WITHIN_MS);
    await until('its workflow has ended', async () => {
      const id = `${stack.config.temporal.prefix}index-document/${cancelled.file_key}/${cancelled.generation}`;
      return (await stack.temporal.workflow.getHandle(id).describe()).status.name === 'CANCELLED';
    });
    // A writer that still wrote would show up here: the sweep and the clean-up are through.
    expect(await remainingDrift(stack)).toEqual([]);
    expect((await generations(cancelled.file_key)).size).toBe(0);
    expect((await client.task(url)).task_state).toBe('CANCELLED');
  });

  it('leaves neither file nor bytes, and the id is free for the same bytes', async () => {
    expect((await stack.request('/partition/cancel/file/big')).status).toBe(404);
    expect(await stack.adapters.blobs.listByFile(cancelled.file_key)).toEqual([]);
    const again = await client.send('POST', 'cancel', 'big', bigText(1), 'big.txt');
    expect(again.status).toBe(201);
    const { task_status_url } = (await again.json()) as { task_status_url: string };
    await beingEmbedded(task_status_url);
    expect((await del(task_status_url)).status).toBe(200);
    const small = await client.upload('POST', 'cancel', 'big', smallText(2), 'small.txt');
    expect((await client.ended(small)).task_state).toBe('COMPLETED');
    expect(await seedsFound('cancel')).toEqual(new Set(['Document 2']));
    expect(await remainingDrift(stack)).toEqual([]);
  });

  it('at the moment of its publication: the worker lives, and the next task is done', async () => {
    for (let round = 0, met = false; !met && round < 8; round += 1) {
      const url = await client.upload('POST', 'moment', `doc-${round}`, smallText(40 + round), 'doc.txt');
      await publishing(url);
      const { status } = await del(url);
      met = status === 200;
      expect((await client.ended(url)).task_state).toBe(met ? 'CANCELLED' : 'COMPLETED');
      if (met) expect((await stack.request(`/partition/moment/file/doc-${round}`)).status).toBe(404);
    }
    const next = await client.upload('POST', 'moment', 'next', smallText(60), 'next.txt');
    expect((await client.ended(next)).task_state).toBe('COMPLETED');
    expect(stack.crashes()).toEqual([]);
    expect(await remainingDrift(stack)).toEqual([]);
  }, 180_000);

  it('is refused with 409 once a task has ended, however it did', async () => {
    const completed = await client.upload('POST', 'ended', 'a', smallText(3), 'a.txt');
    const failed = await client.upload('POST', 'ended', 'b', ' ', 'b.txt');
    const stopped = await client.upload('POST', 'ended', 'c', bigText(4), 'c.txt');
    await beingEmbedded(stopped);
    expect((await del(stopped)).status).toBe(200);
    for (const [url, state] of [
      [completed, 'COMPLETED'],
      [failed, 'FAILED'],
      [stopped, 'CANCELLED'],
    ] as const) {
      expect((await client.ended(url)).task_state).toBe(state);
      const refused = await del(url);
      expect([refused.status, await refused.json()]).toEqual([
        409,
        { detail: expect.stringContaining(`already ${state.toLowerCase()}`) },
      ]);
      expect((await client.task(url)).task_state).toBe(state);
    }
    expect(await remainingDrift(stack)).toEqual([]);
  });
});

function errorCode(status: TaskStatus): [string, string | undefined] {
  return [status.task_state, status.error?.code];
}

describe('a replacement', () => {
  it('of a file whose first indexing runs: that one is SUPERSEDED at once, one version remains', async () => {
    const first = await client.upload('POST', 'replace', 'doc', bigText(10), 'doc.txt');
    const { file_key } = await beingEmbedded(first);
    const second = await client.upload('PUT', 'replace', 'doc', smallText(11), 'doc.txt');
    expect(errorCode(await client.task(first))).toEqual(['CANCELLED', 'SUPERSEDED']);
    expect(errorCode(await client.ended(second))).toEqual(['COMPLETED', undefined]);
    expect(await remainingDrift(stack)).toEqual([]);
    expect(errorCode(await client.task(first))).toEqual(['CANCELLED', 'SUPERSEDED']);
    expect((await generations(file_key)).size).toBe(1);
    expect(await seedsFound('replace')).toEqual(new Set(['Document 11']));
  });

  it('of a replacement that runs: the live version stays visible until the last one is', async () => {
    const running = await client.upload('PUT', 'replace', 'doc', bigText(12), 'doc.txt');
    const { file_key } = await beingEmbedded(running);
    expect(await seedsFound('replace')).toEqual(new Set(['Document 11']));
    const last = await client.upload('PUT', 'replace', 'doc', smallText(13), 'doc.txt');
    expect(errorCode(await client.task(running))).toEqual(['CANCELLED', 'SUPERSEDED']);
    let looked = 0;
    await until('the last one is done', async () => {
      const { task_state } = await client.task(last);
      const seeds = await seedsFound('replace');
      // Old, then new: never both, never neither, never the one in between.
      expect([...seeds]).toHaveLength(1);
      expect(['Document 11', 'Document 13']).toContain([...seeds][0]);
      looked += 1;
      return task_state === 'COMPLETED';
    });
    expect(looked).toBeGreaterThan(0);
    expect(await seedsFound('replace')).toEqual(new Set(['Document 13']));
    expect(await remainingDrift(stack)).toEqual([]);
    expect((await generations(file_key)).size).toBe(1);
  });

  it('of a replacement at the moment of its publication: once it reads SUPERSEDED it never shows', async () => {
    let shown = 'Document 13';
    // Whether the PUT comes in time is luck, a second's worth of it; whoever is late has simply replaced.
    for (let round = 0, met = false; !met && round < 8; round += 1) {
      const overtaken = await client.upload('PUT', 'replace', 'doc', smallText(200 + round), 'doc.txt');
      await publishing(overtaken);
      // Soon sent, and then long enough in work for the overtaken one to show itself, should it be published.
      const text = generatedText(300 + round, 600);
      const last = await client.upload('PUT', 'replace', 'doc', text, 'doc.txt');
      met = (await client.task(overtaken)).task_state === 'CANCELLED';
      if (!met) shown = `Document ${200 + round}`;
      const allowed = [[shown], [`Document ${300 + round}`]];
      await until('the last one is done', async () => {
        const { task_state } = await client.task(last);
        const seeds = await seedsFound('replace');
        expect(allowed).toContainEqual([...seeds]);
        return task_state === 'COMPLETED';
      });
      shown = `Document ${300 + round}`;
    }
    const url = await client.upload('PUT', 'replace', 'doc', smallText(13), 'doc.txt');
    expect((await client.ended(url)).task_state).toBe('COMPLETED');
    expect(await remainingDrift(stack)).toEqual([]);
  }, 180_000);

  it('of a version by a cancelled task: the live version stays', async () => {
    const running = await client.upload('PUT', 'replace', 'doc', bigText(14), 'doc.txt');
    await beingEmbedded(running);
    expect((await del(running)).status).toBe(200);
    expect(await remainingDrift(stack)).toEqual([]);
    expect(await seedsFound('replace')).toEqual(new Set(['Document 13']));
  });

  it('five at once: the last admitted wins, each other one is SUPERSEDED', async () => {
    const seeds = [21, 22, 23, 24, 25];
    const urls = await Promise.all(
      seeds.map((seed) => client.upload('PUT', 'replace', 'doc', smallText(seed), 'doc.txt')),
    );
    const tasks = await Promise.all(urls.map((url) => client.ended(url)));
    const records = await Promise.all(urls.map((url) => stack.adapters.tasks.get(taskIdOf(url))));
    const lastAt = records.reduce(
      (best, record, at) => (record!.generation > records[best]!.generation ? at : best),
      0,
    );
    expect(tasks[lastAt]!.task_state).toBe('COMPLETED');
    for (const status of tasks)
      expect([
        ['COMPLETED', undefined],
        ['CANCELLED', 'SUPERSEDED'],
      ]).toContainEqual(errorCode(status));
    expect(await seedsFound('replace')).toEqual(new Set([`Document ${seeds[lastAt]}`]));
    expect(await remainingDrift(stack)).toEqual([]);
  });
});

describe('a file that is deleted while it is being indexed', () => {
  it('is gone at once with everything, and comes back as another file', async () => {
    const url = await client.upload('POST', 'delete', 'doc', bigText(30), 'doc.txt');
    const task = await beingEmbedded(url);
    expect((await del('/indexer/partition/delete/file/doc')).status).toBe(204);
    expect((await client.task(url)).task_state).toBe('CANCELLED');
    expect((await stack.request('/partition/delete/file/doc')).status).toBe(404);
    expect((await del('/indexer/partition/delete/file/doc')).status).toBe(404);

    const back = await client.upload('POST', 'delete', 'doc', smallText(31), 'doc.txt');
    expect((await client.ended(back)).task_state).toBe('COMPLETED');
    expect(await remainingDrift(stack)).toEqual([]);
    expect((await generations(task.file_key)).size).toBe(0);
    const now = await stack.adapters.files.get('delete', 'doc');
    expect(now!.file_key).not.toBe(task.file_key);
    expect(await seedsFound('delete')).toEqual(new Set(['Document 31']));
  });
});
