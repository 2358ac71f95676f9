import { readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkStores } from '../../activities/documents/clean-up/check-stores.js';
import { documentClient } from '../support/document-client.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';

const SAMPLES = ['visitor-guide.md', 'keepers-handbook.pdf', 'harbour-notices.html', 'flour-catalogue.docx'];

function sample(name: string) {
  return readFile(new URL(`../../deploy/samples/${name}`, import.meta.url)).then(
    (bytes) => new Uint8Array(bytes),
  );
}

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;

beforeAll(async () => {
  stack = await openStack({ WORKER_NICENESS: '10' });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

async function ask(question: string, model = 'rag-mill') {
  const response = await stack.request('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: question }] }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as {
    choices: { message: { content: string } }[];
    extra: { sources: { chunk: Record<string, unknown> }[] };
  };
}

describe('the main job, on real services', () => {
  it('indexes every sample file', async () => {
    const urls = await Promise.all(
      SAMPLES.map(async (name) =>
        client.upload('POST', 'mill', name.split('.')[0]!, await sample(name), name),
      ),
    );
    const tasks = await Promise.all(urls.map((url) => client.ended(url)));
    expect(tasks.map((task) => task.task_state)).toEqual(SAMPLES.map(() => 'COMPLETED'));
    expect(tasks.every((task) => task.progress === 1 && task.stage === 'done')).toBe(true);
  });

  it('is done by a worker that stands back for the gateway', () => {
    expect(getPriority(stack.workerPid())).toBe(Math.max(10, getPriority(stack.gatewayPid())));
  });

  it('finds the passage, with file and page', async () => {
    const [first] = await client.search('/search/partition/mill', {
      text: 'How often are the millstones dressed?',
      top_k: '3',
    });
    expect(first?.metadata).toMatchObject({ file_id: 'keepers-handbook', page: 3 });
    expect(first?.content).toContain('300 hours');
    const extract = await stack.request(first!.link);
    expect(await extract.json()).toMatchObject({ page_content: first!.content });
  });

  it('answers a question with its source, and says when it finds nothing', async () => {
    const answer = await ask('How often are the millstones dressed?');
    expect(answer.choices[0]?.message.content).toMatch(/300 hours.*\[Source \d+\]/s);
    expect(answer.extra.sources[0]?.chunk).toMatchObject({ file_id: 'keepers-handbook' });
    const nothing = await ask('Which city is the capital of Mongolia?');
    expect(nothing.extra.sources).toEqual([]);
  });

  it('shows a replaced file whole: the new answer, never the old one', async () => {
    expect((await ask('How much does an adult ticket cost?')).choices[0]?.message.content).toContain(
      '7 euros',
    );
    const replaced = await stack.request('/indexer/partition/mill/file/visitor-guide', {
      method: 'PUT',
      body: await (async () => {
        const form = new FormData();
        form.append('file', new Blob([await sample('replacement/visitor-guide.md')]), 'visitor-guide.md');
        return form;
      })(),
    });
    expect(replaced.status).toBe(202);
    const { task_status_url } = (await replaced.json()) as { task_status_url: string };
    expect((await client.ended(task_status_url)).task_state).toBe('COMPLETED');
    const { content } = (await ask('How much does an adult ticket cost?')).choices[0]!.message;
    expect(content).toContain('9 euros');
    expect(content).not.toContain('7 euros');
  });

  it('deletes a file with everything that belongs to it', async () => {
    const deleted = await stack.request('/indexer/partition/mill/file/flour-catalogue', { method: 'DELETE' });
    expect(deleted.status).toBe(204);
    const hits = await client.search('/search/partition/mill', { text: 'buckwheat galettes', top_k: '10' });
    expect(hits.filter((hit) => hit.metadata['file_id'] === 'flour-catalogue')).toEqual([]);
    await until(
      'the stores agree',
      async () => (await checkStores(stack.adapters, { deduplicate: true })).length === 0,
    );
  });
});
