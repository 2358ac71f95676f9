import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { until } from '../support/until.js';

const FILES = 1000;
const CLIENTS = 20;

let stack: RunningStack;
beforeAll(async () => {
  stack = await openStack({ RATE_LIMIT_ENABLED: 'false', MAX_QUEUED_TASKS_PER_USER: '300' });
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(() => stack?.close(), 60_000);

describe('1,000 small files from 20 clients', () => {
  it('are answered 201, or 429 and asked again; all are done, and counted exactly', async () => {
    const client = documentClient(stack);
    const answers = new Map<number, number>();
    const urls: string[] = [];
    let next = 0;
    const upload = async (number: number): Promise<void> => {
      await until(
        `file ${number} is taken`,
        async () => {
          const words = `Small file ${number}.`;
          const response = await client.send('POST', 'many', `f${number}`, words, `f${number}.txt`);
          answers.set(response.status, (answers.get(response.status) ?? 0) + 1);
          const body = (await response.json()) as { task_status_url?: string };
          if (body.task_status_url !== undefined) urls.push(body.task_status_url);
          return response.status !== 429;
        },
        { withinMs: 1_200_000, everyMs: 1000 },
      );
    };
    const one = async (): Promise<void> => {
      while (next < FILES) await upload(next++);
    };
    await Promise.all(Array.from({ length: CLIENTS }, one));
    for (const url of urls) expect((await client.ended(url, 1_200_000)).task_state).toBe('COMPLETED');
    console.log(JSON.stringify(Object.fromEntries(answers)));
    expect([...answers.keys()].filter((status) => status !== 201 && status !== 429)).toEqual([]);
    expect(answers.get(201)).toBe(FILES);
    const { partitions } = (await (await stack.request('/partition/')).json()) as {
      partitions: { partition: string; file_count: number }[];
    };
    expect(partitions.find(({ partition }) => partition === 'many')?.file_count).toBe(FILES);
    expect((await stack.adapters.files.countByUploader([1])).get(1)).toEqual({ files: FILES, pending: 0 });
    expect(await remainingDrift(stack, 300_000)).toEqual([]);
  });
});
