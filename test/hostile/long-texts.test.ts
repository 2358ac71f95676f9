import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { countInSlices } from '../../activities/text/count-in-slices.js';
import { countTokens } from '../../activities/text/token-count.js';
import { startGateway } from '../api/support/start-gateway.js';
import type { Gateway } from '../api/support/start-gateway.js';
import { watchHealth } from './support/health-watch.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const post = async (path: string, body: string): Promise<number> => {
  const response = await gateway.call('POST', path, {
    body,
    headers: { 'Content-Type': 'application/json' },
  });
  await response.arrayBuffer();
  return response.status;
};

const noise = (length: number): string =>
  Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 7919 + (i >> 3) * 31) % 90))).join('');

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
