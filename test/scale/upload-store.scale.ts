import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { footprint } from '../support/footprint.js';
import { peakRise } from '../support/peak-memory.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { uploadStreamed } from '../support/upload-streamed.js';

const MEGABYTES = 500;
const BYTES = MEGABYTES * 1024 * 1024;

// The gateway alone: without a worker nothing reads the file, and what is measured is the way of its bytes.
let stack: RunningStack;

beforeAll(async () => {
  stack = await openStack();
  await stack.startGateway();
}, 180_000);
afterAll(() => stack?.close(), 120_000);

/** So many megabytes of text that no store can compress. */
function* randomText(megabytes: number): Generator<string> {
  for (let index = 0; index < megabytes; index += 1) yield randomBytes(768 * 1024).toString('base64');
}

/** Memory of the store's processes on this machine, in MiB; 0 where it runs elsewhere. */
function storeMemory(): number {
  let kilobytes = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!/\b(postgres|ferretdb|mongod)\b/.test(command)) continue;
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      kilobytes += Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0);
    } catch {
      // It has ended, or is somebody else's.
    }
  return Math.round(kilobytes / 1024);
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const began = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - began) / 1000 };
}

describe(`an upload of ${MEGABYTES} MB in the store`, () => {
  it('is kept, read back and removed as a whole', async () => {
    const before = storeMemory();
    let highest = before;
    const watching = setInterval(() => (highest = Math.max(highest, storeMemory())), 1_000);
    try {
      const upload = () =>
        timed(() =>
          uploadStreamed(stack, '/indexer/partition/store/file/big', 'big.txt', randomText(MEGABYTES)),
        );
      const { result: written, risenBytes } = await peakRise(stack.gatewayPid(), upload);
      expect(written.result.status).toBe(201);
      const { blobs, tasks } = stack.adapters;
      const task = (await tasks.get(written.result.body.task_status_url.split('/').at(-1)!))!;
      const [blob] = await blobs.listByFile(task.file_key);
      expect(blob).toMatchObject({ kind: 'upload', size: BYTES });

      const read = await timed(async () => {
        let bytes = 0;
        for await (const piece of await blobs.read(blob!.blobId)) bytes += (piece as Buffer).length;
        return bytes;
      });
      expect(read.result).toBe(BYTES);

      const removed = await timed(() => blobs.remove(blob!.blobId));
      const left = await footprint(stack);
      expect([left['blobs.files'], left['blobs.chunks'], left['blobs.writes']]).toEqual(
        Array(3).fill(undefined),
      );
      const speed = (seconds: number): string => `${(MEGABYTES / seconds).toFixed(1)} MB/s`;
      console.log(
        `${MEGABYTES} MB: written at ${speed(written.seconds)}, read at ${speed(read.seconds)}, ` +
          `removed in ${removed.seconds.toFixed(1)} s; the gateway rose by ` +
          `${Math.round(risenBytes / 1024 / 1024)} MB, the store from ${before} to ${highest} MiB`,
      );
    } finally {
      clearInterval(watching);
    }
  }, 900_000);
});
