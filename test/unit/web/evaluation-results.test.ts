import { expect, test } from '@jest/globals';
import { QueryClient } from '@tanstack/react-query';
import type { QueryExecuteOptions } from '@tanstack/react-query';
import { loadWeb } from '../../support/load-web.js';

interface Result {
  index: number;
}

/** How many questions of the run were asked. */
let done = 0;
/** Offsets of the pages that were read. */
let read: number[] = [];
function answer(request: Request): Promise<Response> {
  const offset = Number(new URL(request.url).searchParams.get('offset'));
  read.push(offset);
  const results = Array.from({ length: Math.min(1_000, Math.max(0, done - offset)) }, (_, place) => ({
    index: offset + place,
  }));
  return Promise.resolve(new Response(JSON.stringify({ total: 5_000, results })));
}

Object.assign(globalThis, { window: { location: { origin: 'http://console.test' } }, fetch: answer });
const { resultsQuery } = await loadWeb<{
  resultsQuery(
    partition: string,
    run: string,
    done: number,
  ): QueryExecuteOptions<Result[]> & { refetchInterval(query: object): number | false };
}>('pages/evaluation/queries');

test('the results of a run that goes on are kept once, and only the new ones are read', async () => {
  const client = new QueryClient();
  for (const [count, pages] of [
    [2, [0]],
    [1_500, [2, 1_002]],
    [1_500, [1_500]],
  ] as const) {
    done = count;
    read = [];
    const results = await client.query(resultsQuery('mill', 'run', count));
    expect(results.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(read).toEqual(pages);
  }
  expect(client.getQueryCache().getAll()).toHaveLength(1);
  client.clear();
});

test('what is missing is read every few seconds, and nothing once all is there', () => {
  const data = Array.from({ length: 3 }, (_, index) => ({ index }));
  expect(resultsQuery('mill', 'run', 4).refetchInterval({ state: { data } })).toBeGreaterThanOrEqual(5_000);
  expect(resultsQuery('mill', 'run', 3).refetchInterval({ state: { data } })).toBe(false);
});
