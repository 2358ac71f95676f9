import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { countInSlices } from '../../activities/text/count-in-slices.js';
import { countTokens } from '../../activities/text/token-count.js';
import { BUNDLED_PROMPTS } from '../../activities/models/seeds/bundled-prompts.js';
import { buildPrompt, cutToTokens } from '../../activities/retrieval/chat/prompt.js';
import { startGateway } from '../api/support/start-gateway.js';
import type { Gateway } from '../api/support/start-gateway.js';
import { watchHealth } from './support/health-watch.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function post(path: string, body: string): Promise<number> {
  const response = await gateway.call('POST', path, {
    body,
    headers: { 'Content-Type': 'application/json' },
  });
  await response.arrayBuffer();
  return response.status;
}

function noise(length: number): string {
  return Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 7919 + (i >> 3) * 31) % 90))).join(
    '',
  );
}

test.each([
  ['letters', (length: number) => noise(length)],
  ['words', (length: number) => 'some words '.repeat(length / 11)],
  ['blanks', (length: number) => `x${' '.repeat(length)}x`],
])('a question of 4 MB of %s is refused without keeping others waiting', async (_, write) => {
  const body = JSON.stringify({ messages: [{ role: 'user', content: write(4_000_000) }] });
  const before = process.cpuUsage().user;
  const status = await watchHealth(gateway, () => post('/v1/chat/completions', body));
  expect(status).toBe(413);
  expect((process.cpuUsage().user - before) / 1000).toBeLessThan(6_000);
});

test('embeddings of as many texts as are allowed keep nobody waiting', async () => {
  const send = (input: unknown): Promise<number> => post('/v1/embeddings', JSON.stringify({ input }));
  const body = JSON.stringify({ input: Array.from({ length: 9 }, () => noise(100_000)) });
  expect(await watchHealth(gateway, () => post('/v1/embeddings', body))).toBe(200);
  expect(await send('x'.repeat(140_000))).toBe(413);
});

test('counting in slices counts what counting at once does', async () => {
  const text = 'Le tamis sépare la farine du son, à 4 bars. '.repeat(2_000);
  const whole = countTokens(text);
  expect(Math.abs((await countInSlices(text)) - whole)).toBeLessThanOrEqual(whole / 1000);
  expect(await countInSlices(text, 100)).toBeLessThan(5_000);
  expect(await countInSlices('short', 100)).toBe(countTokens('short'));
});

/** The longest turn of the event loop, as a share of what this process worked in all, and what came of the work. */
async function longestTurn<T>(work: () => Promise<T>): Promise<{ share: number; result: T }> {
  let ended = false;
  const workedSince = (before: NodeJS.CpuUsage): number => {
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const began = process.cpuUsage();
  const watch = (async () => {
    let longest = 0;
    while (!ended) {
      const before = process.cpuUsage();
      await setImmediate();
      longest = Math.max(longest, workedSince(before));
    }
    return longest;
  })();
  const result = await work().finally(() => (ended = true));
  return { share: (await watch) / workedSince(began), result };
}

function source(text: string) {
  return {
    source: { title: 'a page', url: 'https://pages.example', snippet: '' },
    heading: 'a page',
    text,
  };
}

const frame = {
  template: BUNDLED_PROMPTS.sys_prompt,
  date: new Date(0),
  voice: { assistantName: null, defaultLanguage: null },
};

test.each([
  ['many long sources that fit', 60, 20_000, 1_000_000],
  ['many short ones', 1_500, 2_000, 2_000_000],
  ['one that has to be cut, and others that are passed over', 20, 400_000, 100_000],
])('a prompt over %s never holds the event loop for long', async (_, count, length, budget) => {
  const texts = Array.from({ length: count }, (__, index) => source(`${index} ${noise(length)}`));
  await buildPrompt(texts.slice(0, 1), { ...frame, budget: 1_000 });
  // The least of three, since a garbage collection may fall into any turn.
  const turns: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const { share, result } = await longestTurn(async () => buildPrompt(texts, { ...frame, budget }));
    expect(result.presented.length).toBeGreaterThan(0);
    turns.push(share);
  }
  expect(Math.min(...turns)).toBeLessThan(0.2);
});

test('a cut text has as many tokens as were asked for, counted at once or in slices', async () => {
  const text = 'Le tamis sépare la farine du son, à 4 bars. '.repeat(2_000);
  for (const tokens of [1, 100, 5_000, 12_345]) {
    const cut = await cutToTokens(text, tokens);
    expect(countTokens(cut)).toBeLessThanOrEqual(tokens + 2);
    expect(countTokens(cut)).toBeGreaterThan(tokens - 5 - tokens / 1000);
  }
  expect(await cutToTokens(text, 1_000_000)).toBe(text);
});
