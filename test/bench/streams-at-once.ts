import { Agent } from 'undici';
import { freePort } from '../support/free-port.js';
import { inspectable } from '../support/inspector.js';
import { liveHeapMb } from '../support/live-heap.js';
import { residentBytes } from '../support/peak-memory.js';
import { until } from '../support/until.js';
import { askStream } from './ask-stream.js';
import type { InstantModelServer } from './instant-model-server.js';
import { openInstantStack } from './open-bench-stack.js';
import { seedChunks } from './seed-chunks.js';

const PARTITION = 'at-once';
const WARM = 200;
/** How many are opened at a time: all are open in the end. */
const OPENED_AT_ONCE = 16;

/** What a gateway holds for so many streams that are open at the same moment, with their sources. */
export async function holdStreams(
  models: InstantModelServer,
  streams: number,
  questions: readonly string[],
): Promise<Record<string, string | number>[]> {
  const inspectorPort = await freePort();
  const stack = await openInstantStack(models, {
    LLM_PROVIDER: 'openai',
    BASE_URL: models.url,
    MODEL: 'chat',
    LLM_SEMAPHORE: String(streams),
    LLM_TIMEOUT: '600',
    ...inspectable(inspectorPort),
  });
  const dispatcher = new Agent({ connections: streams });
  const ask = (number: number): Promise<number> =>
    askStream(stack, PARTITION, questions[number % questions.length]!, { dispatcher });
  const memory = async (): Promise<{ live: number; whole: number }> => ({
    live: await liveHeapMb(stack.gatewayPid(), inspectorPort),
    whole: (await residentBytes(stack.gatewayPid())) / 2 ** 20,
  });
  try {
    await stack.startGateway();
    await stack.adapters.partitions.create({ partition: PARTITION, embedder: 'default', ownerId: 1 });
    await seedChunks(stack, {
      partition: PARTITION,
      embedderName: 'default',
      chunks: 1000,
      embed: models.embed,
    });
    for (let number = 0; number < WARM; number += 1) await ask(number);
    const before = await memory();
    const release = models.holdAfter(20);
    const open: Promise<number>[] = [];
    while (open.length < streams) {
      const count = Math.min(OPENED_AT_ONCE, streams - open.length);
      open.push(...Array.from({ length: count }, (_, number) => ask(open.length + number)));
      await until('the streams are open', async () => models.streaming() === open.length, {
        withinMs: 60_000,
      });
    }
    const during = await memory();
    release();
    await Promise.all(open);
    const after = await memory();
    const cell = (of: 'live' | 'whole'): string =>
      `${before[of].toFixed(0)} → ${during[of].toFixed(0)} → ${after[of].toFixed(0)}`;
    return [
      {
        measured: `gateway before, with and after ${streams} streams open at once (MiB in use after a full collection)`,
        p50: cell('live'),
        p95: '',
      },
      { measured: 'the same, of the process (MiB)', p50: cell('whole'), p95: '' },
    ];
  } finally {
    await stack.close();
    await dispatcher.close();
  }
}
