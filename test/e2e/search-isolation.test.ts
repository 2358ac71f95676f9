import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { generatedText } from '../support/generated-text.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { seededRandom } from '../support/seeded-random.js';

const FILES = 6;
const ROUNDS = 3;
/** Made-up words: how rare they are is what a neighbour could change. */
const WORDS = ['quibblewort', 'zandermoss', 'thrumblecask', 'velnorite'];
/** What differs between two answers to the same question: times and names of this very answer. */
const OF_THE_ANSWER = new Set(['id', 'created', 'times']);

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;

beforeAll(async () => {
  stack = await openStack({ WORKER_NICENESS: '10' });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

function textOf(seed: number, words: readonly string[]): string {
  return `${generatedText(seed, 3)}\n\nOf note here: ${words.join(', ')}.`;
}

async function index(partition: string, files: readonly (readonly [name: string, text: string])[]) {
  const urls = await Promise.all(
    files.map(([name, text]) => client.upload('POST', partition, name, text, `${name}.txt`)),
  );
  const states = await Promise.all(urls.map(async (url) => (await client.ended(url)).task_state));
  expect(states).toEqual(files.map(() => 'COMPLETED'));
}

function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      OF_THE_ANSWER.has(key) ? [] : [[key, comparable(inner)]],
    ),
  );
}

async function answer(path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await stack.request(path, init);
  expect(response.status).toBe(200);
  return comparable(await response.json());
}

/** Every way to ask, each with the whole of its answer. */
async function everyAnswer(): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const text of [WORDS.slice(0, 2).join(' '), WORDS.slice(2).join(' '), WORDS.join(' ')]) {
    const query = new URLSearchParams({ text, top_k: '8', include_retrieval_trace: 'true' });
    answers.push(await answer(`/search/partition/mine?${query.toString()}`));
    query.set('include_related', 'true');
    answers.push(await answer(`/search/?partitions=mine&partitions=also&${query.toString()}`));
    answers.push(await answer(`/search/partition/mine/file/mine-1?${query.toString()}`));
    answers.push(
      await answer('/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'rag-mine',
          messages: [{ role: 'user', content: `What of ${text}?` }],
        }),
      }),
    );
  }
  return answers;
}

async function merge(): Promise<void> {
  const { url, indexPrefix } = {
    url: process.env['OPENSEARCH_URL']!,
    indexPrefix: stack.config.opensearch.indexPrefix,
  };
  const response = await fetch(`${url}/${indexPrefix}*/_forcemerge?max_num_segments=1`, { method: 'POST' });
  expect(response.status).toBe(200);
}

describe('answers of a search', () => {
  it('are the same, digit by digit, whatever others upload, replace, delete and have merged', async () => {
    const random = seededRandom(20);
    const some = (): string[] => WORDS.filter(() => random() < 0.5);
    for (const partition of ['mine', 'also'])
      await index(
        partition,
        Array.from({ length: FILES }, (_, file) => [
          `${partition}-${file}`,
          textOf(
            file + (partition === 'mine' ? 0 : 50),
            file < 2 ? [WORDS[file]!, WORDS[file + 2]!] : some(),
          ),
        ]),
      );
    const before = await everyAnswer();
    expect(JSON.stringify(before)).toContain('mine-1');

    for (let round = 0; round < ROUNDS; round += 1) {
      const other = `other-${round}`;
      const told = WORDS[round % WORDS.length]!;
      await index(
        other,
        Array.from({ length: FILES }, (_, file) => [
          `${other}-${file}`,
          textOf(100 + file, [told, told, ...some()]),
        ]),
      );
      expect(await everyAnswer()).toEqual(before);
      if (round === 1) {
        expect((await stack.request('/partition/other-0', { method: 'DELETE' })).status).toBeLessThan(300);
        expect(await everyAnswer()).toEqual(before);
        await merge();
        expect(await everyAnswer()).toEqual(before);
      }
    }
  }, 240_000);
});
