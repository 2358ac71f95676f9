/**
 * `npm run bench:index`: how fast small files become searchable, where the time goes, and how near that comes to the
 * embedder by itself on the same chunks.
 */
import { mean } from '../../activities/retrieval/evaluation/measures.js';
import { indexWorkflowId } from '../../schemas/ids.js';
import { openEngineTaps } from '../support/engine-taps.js';
import type { Calls } from '../support/engine-taps.js';
import type { RunningStack } from '../support/running-stack.js';
import { openBenchStack } from './open-bench-stack.js';
import { workflowTimes } from './activity-times.js';
import { reportBench } from './bench-report.js';
import { cranfield } from './collection.js';
import { indexFiles } from './index-files.js';
import { processorTime, timeOfEach } from './processor-time.js';

const FILES = Number(process.env['BENCH_FILES'] ?? 300);
const WARM_FILES = 200;
const CLIENTS = Number(process.env['BENCH_CLIENTS'] ?? 4);
const PARTITION = 'bench';
const COUNTED_FILES = 48;

type Row = Record<string, string | number>;

/**
 * How often the engines are called for a file, the client's own requests included. In a run of its own, since what
 * counts stands between the processes and the engines.
 */
async function countCalls(
  stack: RunningStack,
  files: ReturnType<typeof cranfield>['documents'],
): Promise<Row> {
  const { mongodb, opensearch } = stack.config;
  const taps = await openEngineTaps({ MONGODB_URL: mongodb.url, OPENSEARCH_URL: opensearch.url });
  try {
    await Promise.all([stack.killGateway(), stack.killWorker()]);
    await Promise.all([stack.startGateway(taps.environment), stack.startWorker(taps.environment)]);
    await indexFiles(stack, 'warm-counted', files.slice(0, 8), { clients: CLIENTS });
    taps.reset();
    await indexFiles(stack, 'counted', files.slice(8), { clients: CLIENTS });
    const each = (calls: Calls): string =>
      ([...calls.values()].reduce((sum, count) => sum + count, 0) / (files.length - 8)).toFixed(1);
    return {
      'MongoDB commands a file': each(taps.mongodb()),
      'OpenSearch requests a file': each(taps.opensearch()),
    };
  } finally {
    await taps.close();
  }
}

async function measure(embedderName: string, overrides: Record<string, string>): Promise<Row> {
  const stack = await openBenchStack(overrides);
  try {
    await Promise.all([stack.startGateway(), stack.startWorker()]);
    const { documents } = cranfield();
    // The first ones pay for the start: parser processes, the model's loading, what the engines compile as they run.
    const warm = documents.slice(FILES, FILES + WARM_FILES);
    await indexFiles(stack, 'warm', warm, { clients: CLIENTS });
    const files = documents.slice(0, FILES);
    const before = processorTime(stack);
    const seconds = await indexFiles(stack, PARTITION, files, { clients: CLIENTS });
    const processor = [...timeOfEach(before, processorTime(stack), files.length)];

    const embedder = await stack.adapters.models.embedder(embedderName);
    const texts: string[] = [];
    const times: Awaited<ReturnType<typeof workflowTimes>>[] = [];
    for (const file of files) {
      const record = await stack.adapters.files.get(PARTITION, file.id);
      if (record?.live == null) throw new Error(`${file.id} is not live`);
      const chunks = await stack.adapters.chunks.listByFile(record.file_key, record.live.generation);
      texts.push(...chunks.map((chunk) => chunk.text));
      const id = indexWorkflowId(stack.config.temporal.prefix, record.file_key, record.live.generation);
      times.push(await workflowTimes(stack, id));
    }

    // The embedder by itself, in batches of its own size, one after the other.
    const began = performance.now();
    for (let at = 0; at < texts.length; at += embedder.batchSize)
      await embedder.embed(texts.slice(at, at + embedder.batchSize), { kind: 'document' });
    const rawSeconds = (performance.now() - began) / 1000;

    const calls = await countCalls(stack, documents.slice(-COUNTED_FILES));
    const activity = (name: string): number =>
      Math.round(mean(times.map(({ activities }) => activities[name] ?? 0)));
    return {
      embedder: embedder.modelName,
      files: files.length,
      chunks: texts.length,
      clients: CLIENTS,
      'files a second': (files.length / seconds).toFixed(1),
      'chunks a second': (texts.length / seconds).toFixed(1),
      'embedder alone, chunks a second': (texts.length / rawSeconds).toFixed(1),
      'share of it': `${Math.round((100 * rawSeconds) / seconds)} %`,
      'first step ms': activity('parseDocument'),
      'further steps ms': activity('embedDocument') + activity('publishDocument'),
      'waiting and Temporal ms': Math.round(mean(times.map(({ rest }) => rest))),
      ...calls,
      'processor ms a file': Math.round(processor.reduce((sum, [, ms]) => sum + ms, 0)),
      ...Object.fromEntries(processor.map(([part, ms]) => [`${part} ms`, ms.toFixed(1)])),
    };
  } finally {
    await stack.close();
  }
}

const rows = [await measure('builtin-hash', { OLLAMA_HOST: '' })];
const ollama = process.env['OLLAMA_HOST'] ?? '';
if (ollama !== '')
  rows.push(
    await measure('default', {
      EMBEDDER_PROVIDER: 'ollama',
      EMBEDDER_BASE_URL: ollama,
      EMBEDDER_MODEL_NAME: 'all-minilm',
    }),
  );
reportBench('index', 'Indexing small files', rows, [
  'Milliseconds are means per file; several files are in work at once, so they add up to more than the wall time.',
  ...(ollama === '' ? ['No Ollama was found, so only the built-in embedder was measured.'] : []),
]);
