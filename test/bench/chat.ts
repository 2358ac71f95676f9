/**
 * `npm run bench:chat`: the time to the first token of an answer with sources among 50,000 chunks, with a model that
 * answers at once; then the gateway's memory over 1,000 streams of which half are given up, and with 1,000 open at
 * once; then the time to the first token beside that of a model behind Ollama, where there is one.
 */
import { Agent } from 'undici';
import { freePort } from '../support/free-port.js';
import { inspectable } from '../support/inspector.js';
import { liveHeapMb } from '../support/live-heap.js';
import { residentBytes } from '../support/peak-memory.js';
import { until } from '../support/until.js';
import { percentile } from '../../activities/retrieval/evaluation/measures.js';
import { askStream } from './ask-stream.js';
import { reportBench } from './bench-report.js';
import { cranfield } from './collection.js';
import { timeBesideModel } from './first-token.js';
import { openInstantModelServer } from './instant-model-server.js';
import { openInstantStack } from './open-bench-stack.js';
import { seedChunks } from './seed-chunks.js';
import { holdStreams } from './streams-at-once.js';

const CHUNKS = Number(process.env['BENCH_CHUNKS'] ?? 50_000);
const STREAMS = Number(process.env['BENCH_STREAMS'] ?? 1000);
const ASKED = 200;
const PARTITION = 'bench';

const agent = new Agent({ connections: 64 });
const models = await openInstantModelServer({ dimension: 384 });
const inspectorPort = await freePort();
const stack = await openInstantStack(models, {
  LLM_PROVIDER: 'openai',
  BASE_URL: models.url,
  MODEL: 'chat',
  ...inspectable(inspectorPort),
});
const rows: Record<string, string | number>[] = [];
const texts = cranfield().queries.map(({ text }) => text);

/** Asks, and answers when the first word has come if the client leaves, and at the end if it does not. */
function ask(text: string, leave: boolean): Promise<number> {
  return askStream(stack, PARTITION, text, { dispatcher: agent, onFirst: () => (leave ? 'leave' : 'stay') });
}

async function memoryMb(): Promise<number> {
  return (await residentBytes(stack.gatewayPid())) / 2 ** 20;
}

async function timeAndLeave(): Promise<void> {
  await stack.startGateway();
  await stack.adapters.partitions.create({ partition: PARTITION, embedder: 'default', ownerId: 1 });
  await seedChunks(stack, {
    partition: PARTITION,
    embedderName: 'default',
    chunks: CHUNKS,
    embed: models.embed,
  });
  // The engine is slow for its first hundreds of questions.
  for (const text of texts) await ask(text, false);

  const timeFirstTokens = async (model: string): Promise<void> => {
    const times: number[] = [];
    for (let index = 0; index < ASKED; index += 1) times.push(await ask(texts[index % texts.length]!, false));
    times.sort((one, other) => one - other);
    rows.push({
      measured: `time to the first token, one client, a model that ${model}`,
      p50: `${percentile(times, 0.5).toFixed(0)} ms`,
      p95: `${percentile(times, 0.95).toFixed(0)} ms`,
    });
  };
  await timeFirstTokens('answers at once');
  models.pauseBetweenWords(1);
  await timeFirstTokens('writes a word each millisecond');

  let started = 0;
  const live = [await liveHeapMb(stack.gatewayPid(), inspectorPort)];
  const marks: number[] = [await memoryMb()];
  const client = async (): Promise<void> => {
    while (started < STREAMS) {
      const number = started++;
      await ask(texts[number % texts.length]!, number % 2 === 1).catch((error: unknown) => {
        if (number % 2 === 0) throw error;
      });
      if (number % Math.ceil(STREAMS / 4) === 0 && number > 0) marks.push(await memoryMb());
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  await until('no model stream is left', async () => models.streaming() === 0, { withinMs: 10_000 });
  marks.push(await memoryMb());
  live.push(await liveHeapMb(stack.gatewayPid(), inspectorPort));
  rows.push({
    measured: `gateway's memory over ${STREAMS} streams of 8 clients, half given up (MB, from start to end)`,
    p50: marks.map((mark) => mark.toFixed(0)).join(' → '),
    p95: '',
  });
  rows.push({
    measured: 'of it in use after a full collection (MB, at the start and at the end)',
    p50: live.map((mark) => mark.toFixed(0)).join(' → '),
    p95: '',
  });
}

try {
  await timeAndLeave().finally(() => stack.close());
  models.pauseBetweenWords(0);
  rows.push(...(await holdStreams(models, STREAMS, texts)));
  const { OLLAMA_HOST: ollama = '' } = process.env;
  if (ollama !== '') rows.push(...(await timeBesideModel(ollama)));
} finally {
  await agent.close();
  await models.close();
}
reportBench('chat', `Chat among ${CHUNKS} chunks`, rows, [
  'Clients, gateway, engines and model server share the machine.',
]);
