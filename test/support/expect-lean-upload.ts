import { expect } from '@jest/globals';
import { footprint } from './footprint.js';
import { peakRise } from './peak-memory.js';
import type { RunningStack } from './running-stack.js';
import { remainingDrift } from './remaining-drift.js';
import { until } from './until.js';
import { megabytesOfText, uploadStreamed } from './upload-streamed.js';

const MEGABYTE = 1024 * 1024;
const MAX_MEGABYTES = 100;

/**
 * Uploads a text of so many megabytes and measures the gateway meanwhile: its memory may rise by 100 MB at most.
 * The task is cancelled at once, and nothing of the file may stay.
 * @returns by how many megabytes it rose
 */
export async function expectLeanUpload(stack: RunningStack, megabytes: number): Promise<number> {
  const pid = stack.gatewayPid();
  // The first request of a kind loads and compiles what it needs; that is no cost of the file.
  const path = '/indexer/partition/memory/file';
  const warm = await uploadStreamed(stack, `${path}/warm`, 'warm.txt', megabytesOfText(1));
  expect(warm.status).toBe(201);
  expect((await stack.request(warm.body.task_status_url, { method: 'DELETE' })).status).toBe(200);
  expect(await remainingDrift(stack)).toEqual([]);

  const { result, risenBytes, samples } = await peakRise(pid, () =>
    uploadStreamed(stack, `${path}/big`, 'big.txt', megabytesOfText(megabytes)),
  );
  expect(result.status).toBe(201);
  const task = (await stack.adapters.tasks.get(result.body.task_status_url.split('/').at(-1)!))!;
  expect(task.upload.size_bytes).toBe(megabytes * MEGABYTE);
  expect(samples).toBeGreaterThan(5);
  expect(stack.gatewayPid()).toBe(pid);
  const risen = Math.round(risenBytes / MEGABYTE);
  expect(risen).toBeLessThanOrEqual(MAX_MEGABYTES);

  expect((await stack.request(result.body.task_status_url, { method: 'DELETE' })).status).toBe(200);
  expect(await remainingDrift(stack)).toEqual([]);
  // Hundreds of megabytes take a moment to remove, after the record has let go of them.
  await until('its bytes are gone', async () => {
    const left = await footprint(stack);
    return left['blobs.chunks'] === undefined && left['blobs.writes'] === undefined && left['chunks'] === 0;
  });
  return risen;
}
