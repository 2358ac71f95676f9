import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openInstantStack } from '../bench/open-bench-stack.js';
import { openInstantModelServer } from '../bench/instant-model-server.js';
import { indexWorkflowId } from '../../schemas/ids.js';
import { documentClient } from '../support/document-client.js';
import { openEngineTaps } from '../support/engine-taps.js';
import type { Calls, EngineTaps } from '../support/engine-taps.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';

const FILES = 24;
const CLIENTS = 4;
/** What a worker process says of itself every few seconds. */
const OF_THE_PROCESS = /\bworkers$/;

let stack: RunningStack;
let taps: EngineTaps;

beforeAll(async () => {
  taps = await openEngineTaps({
    MONGODB_URL: process.env['MONGODB_URL']!,
    OPENSEARCH_URL: process.env['OPENSEARCH_URL']!,
  });
  // Nothing else is to call while these are counted.
  stack = await openStack({ SWEEP_INTERVAL_SECONDS: '3600' });
  await Promise.all([stack.startGateway(taps.environment), stack.startWorker(taps.environment)]);
}, 180_000);

afterAll(async () => {
  await stack.close();
  await taps.close();
}, 60_000);

async function indexTexts(partition: string, count: number): Promise<void> {
  const client = documentClient(stack);
  const queue = Array.from({ length: count }, (_, number) => number);
  const send = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      await client.upload(
        'POST',
        partition,
        `text-${next}`,
        `# Mill ${next}\n\nThe wheel turns ${next} times.\n`,
        `${next}.md`,
      );
  };
  await Promise.all(Array.from({ length: CLIENTS }, send));
  await until(
    `${count} files are live`,
    async () => (await stack.adapters.files.countLive([partition])).get(partition) === count,
    { withinMs: 90_000 },
  );
  await until('their tasks have ended', async () => (await stack.adapters.tasks.countActive(null, 1)) === 0);
}

/** @throws Error that names each call, where they are more than so many for each file or search */
function expectAtMost(ceiling: number, calls: Calls, times: number): void {
  const counted = [...calls].filter(([name]) => !OF_THE_PROCESS.test(name));
  const each = counted.reduce((sum, [, count]) => sum + count, 0) / times;
  if (each <= ceiling) return;
  const lines = counted.sort(([, a], [, b]) => b - a).map(([name, count]) => `${count / times} ${name}`);
  throw new Error(`${each} calls instead of at most ${ceiling}:\n${lines.join('\n')}`);
}

/** What a machine's speed does not change: ceilings on how often the engines are called. */
describe('the calls that a small text costs', () => {
  it('stay below their ceilings while it is indexed', async () => {
    // The first ones make the partition and its vector field.
    await indexTexts('warm', 4);
    taps.reset();
    await indexTexts('counted', FILES);
    // Partitions, presets and counts of tasks are kept for a second: a slow machine asks for them more often. 26 where
    // four files come in a second, 46 before they were kept.
    expectAtMost(34, taps.mongodb(), FILES);
    // Its chunks, and its share of a refresh that it has with others.
    expectAtMost(2, taps.opensearch(), FILES);
    const file = await stack.adapters.files.get('counted', 'text-0');
    const id = indexWorkflowId(stack.config.temporal.prefix, file!.file_key, file!.live!.generation);
    const { events } = await stack.temporal.workflow.getHandle(id).fetchHistory();
    expect(events!.length).toBeLessThanOrEqual(8);
  }, 180_000);

  it('stay below their ceilings in a search', async () => {
    const searches = 10;
    const ask = async (number: number): Promise<void> => {
      const query = new URLSearchParams({ text: `how often does wheel ${number} turn`, top_k: '5' });
      const response = await stack.request(`/search/partition/counted?${query.toString()}`);
      expect(response.status).toBe(200);
    };
    await ask(0);
    taps.reset();
    for (let number = 1; number <= searches; number += 1) await ask(number);
    expectAtMost(7, taps.mongodb(), searches);
    expectAtMost(5, taps.opensearch(), searches);
  }, 120_000);

  it('stay below their ceilings in a chat', async () => {
    const chats = 20;
    const ask = async (number: number): Promise<void> => {
      const response = await stack.request('/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'rag-counted',
          messages: [{ role: 'user', content: `How often does wheel ${number} turn?` }],
        }),
      });
      expect(response.status).toBe(200);
    };
    await ask(0);
    taps.reset();
    for (let number = 1; number <= chats; number += 1) await ask(number);
    expectAtMost(8, taps.mongodb(), chats);
    expectAtMost(5, taps.opensearch(), chats);
  }, 120_000);
});

/** Its vectors take part in feedback, which those of the built-in embedder do not. */
describe('the calls that a search by vectors of a model server costs', () => {
  const QUESTIONS = ['mill wheel', 'brook and barn', 'how often does it turn', 'grain and flour'];
  let models: Awaited<ReturnType<typeof openInstantModelServer>>;
  let remote: RunningStack;
  let remoteTaps: EngineTaps;

  beforeAll(async () => {
    models = await openInstantModelServer({ dimension: 16 });
    remoteTaps = await openEngineTaps({
      MONGODB_URL: process.env['MONGODB_URL']!,
      OPENSEARCH_URL: process.env['OPENSEARCH_URL']!,
    });
    remote = await openInstantStack(models, { SWEEP_INTERVAL_SECONDS: '3600' });
    await Promise.all([remote.startGateway(remoteTaps.environment), remote.startWorker()]);
    const client = documentClient(remote);
    const words = ['mill', 'wheel', 'brook', 'barn', 'grain', 'flour', 'turn', 'often'];
    for (let number = 0; number < 12; number += 1) {
      const text = words.map((word, place) => word.repeat(1 + ((number + place) % 2))).join(' ');
      await client.upload('POST', 'counted', `text-${number}`, `${text} ${number}`, `${number}.md`);
    }
    await until(
      'the files are live',
      async () => (await remote.adapters.files.countLive(['counted'])).get('counted') === 12,
      { withinMs: 60_000 },
    );
  }, 180_000);

  afterAll(async () => {
    await remote.close();
    await remoteTaps.close();
    await models.close();
  }, 60_000);

  it('stay below their ceilings: two for the words, one for the vectors, one for feedback and the texts', async () => {
    const ask = async (text: string): Promise<void> => {
      const query = new URLSearchParams({ text, top_k: '5' });
      const response = await remote.request(`/search/partition/counted?${query.toString()}`);
      expect(response.status).toBe(200);
      expect(((await response.json()) as { documents: unknown[] }).documents).toHaveLength(5);
    };
    // The first time, the words of a question are counted as well.
    for (const question of QUESTIONS) await ask(question);
    remoteTaps.reset();
    for (const question of QUESTIONS) await ask(question);
    // One more for the vector of the best hit: this model answers before the first by words are known.
    expectAtMost(5, remoteTaps.opensearch(), QUESTIONS.length);
  }, 60_000);
});
