import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentClient } from '../support/document-client.js';
import { generatedParagraphs } from '../support/generated-files.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { remainingDrift } from '../support/remaining-drift.js';
import { uploadStreamed } from '../support/upload-streamed.js';

const MEGABYTES = 200;
const NEEDLE = 'The quetzal nests in the last line of all.';

let stack: RunningStack;
let client: ReturnType<typeof documentClient>;

beforeAll(async () => {
  stack = await openStack();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  client = documentClient(stack);
}, 180_000);
afterAll(() => stack?.close(), 120_000);

function* text(): Generator<string> {
  yield* generatedParagraphs(MEGABYTES);
  yield NEEDLE;
}

describe('a text file of 200 MB', () => {
  it(
    'is indexed, and its end is found',
    async () => {
      const began = Date.now();
      const path = '/indexer/partition/scale/file/large';
      const { status, body } = await uploadStreamed(stack, path, 'large.txt', text());
      expect(status).toBe(201);
      const task = await client.ended(body.task_status_url, 80 * 60_000);
      const seconds = Math.round((Date.now() - began) / 1000);
      expect([task.task_state, task.error ?? null]).toEqual(['COMPLETED', null]);
      const record = await stack.adapters.files.get('scale', 'large');
      console.log(`200 MB of text: ${record!.live!.chunk_count} chunks in ${seconds} s`);
      expect(record!.live!.upload_id).toBe(task.task_id);
      const hits = await client.search('/search/partition/scale/file/large', { text: 'quetzal', top_k: '3' });
      expect(hits[0]?.content).toContain(NEEDLE);
      expect(await remainingDrift(stack)).toEqual([]);
    },
    85 * 60_000,
  );
});
