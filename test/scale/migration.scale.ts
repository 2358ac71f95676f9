import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { signalGroup } from '../../deploy/local/kill-group.js';
import type { ManagedProcess } from '../../deploy/local/managed-process.js';
import { openService } from '../../deploy/local/open-service.js';
import { pathsOf } from '../../deploy/local/paths.js';
import { RunRecord } from '../../deploy/local/run-record.js';
import { opensearch } from '../../deploy/local/services/opensearch.js';
import type { Workbench } from '../../deploy/local/workbench.js';
import { cranfield } from '../bench/collection.js';
import { openInstantModelServer } from '../bench/instant-model-server.js';
import { seedChunks } from '../bench/seed-chunks.js';
import { judgedCorpus } from '../support/campaign-corpus.js';
import { STRAYS_COUNTED, migrateSchemaTwo, migrateUnderLoad } from '../support/migration-campaign.js';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import { until } from '../support/until.js';
import { uploadTexts } from '../support/upload-texts.js';

const local = mkdtempSync(join(tmpdir(), 'tamis-test-migration-'));

function quiet() {
  return undefined;
}

const bench: Workbench = {
  paths: { ...pathsOf(process.env), local, logs: join(local, 'log') },
  settings: {},
  record: new RunRecord(local),
  report: { phase: quiet, detail: quiet, done: quiet, gone: quiet, say: quiet, close: quiet },
  signal: new AbortController().signal,
};

const CHUNKS = 100_000;
/** Fewer numbers than models give: what takes time here is the count of the chunks. */
const DIMENSION = 64;
const EMBEDDER = 'default';

let engine: ManagedProcess;
let stack: RunningStack;

beforeAll(async () => {
  // An engine of its own: it is killed.
  process.env['OPENSEARCH_URL'] = await openService(bench, opensearch, (started) => (engine = started));
}, 180_000);
afterAll(async () => {
  await engine?.stop();
  rmSync(local, { recursive: true, force: true });
}, 60_000);

async function killEngineHalfway(): Promise<void> {
  await until(
    'a third is copied',
    async () => {
      const response = await stack.request('/admin/migrations/vector-store/runs').catch(() => null);
      const body = (await response?.json().catch(() => null)) as {
        runs: { done: number; total: number }[];
      } | null;
      const run = body?.runs[0];
      return run !== undefined && run.done > run.total / 3;
    },
    { withinMs: 1_800_000, everyMs: 200 },
  );
  signalGroup(bench.record.read().processes['opensearch']!.pid, 'SIGKILL');
  await engine.start();
}

describe('100,000 chunks of schema 2', () => {
  it('are migrated by a worker that is killed five times, on an engine that is killed once', async () => {
    const models = await openInstantModelServer({ dimension: DIMENSION });
    stack = await openStack({
      EMBEDDER_PROVIDER: 'openai',
      EMBEDDER_BASE_URL: models.url,
      EMBEDDER_MODEL_NAME: 'embed',
      OLLAMA_HOST: '',
    });
    const report = await migrateSchemaTwo(stack, {
      fill: async (_stack, partition) => {
        await stack.adapters.partitions.create({ partition, embedder: EMBEDDER, ownerId: 1 });
        const { embed } = models;
        await seedChunks(stack, { partition, embedderName: EMBEDDER, chunks: CHUNKS, embed });
      },
      questions: cranfield()
        .queries.slice(0, 20)
        .map(({ text }) => text),
      embedder: EMBEDDER,
      kills: 5,
      pagesPerSecond: null,
      disturb: killEngineHalfway,
    });
    console.log(JSON.stringify(report, null, 2));
    await stack.close();
    await models.close();
    expect(report.faults).toEqual([]);
    expect(report.kills).toHaveLength(5);
    expect(report.chunks).toBeGreaterThanOrEqual(CHUNKS);
    expect(report.run.figures).toMatchObject({ ...STRAYS_COUNTED, chunks_verified: report.chunks });
  }, 5_400_000);
});

describe('a step of the present schema under searches, chats, uploads and deletions, with three kills', () => {
  it('goes by unnoticed', async () => {
    stack = await openStack();
    const judged = judgedCorpus(cranfield());
    const report = await migrateUnderLoad(stack, {
      corpus: {
        ...judged,
        async fill(...args) {
          await judged.fill(...args);
          // So many chunks more that there are pages to be killed in.
          await uploadTexts(stack, 'ballast', { files: 20, paragraphs: 2_150 });
        },
      },
      kills: ['worker', 'gateway', 'worker'],
      pagesPerSecond: 1,
    });
    console.log(JSON.stringify(report, null, 2));
    await stack.close();
    expect(report.faults).toEqual([]);
    expect(report.kills).toHaveLength(3);
    expect(report.run.state).toBe('completed');
    expect(report.ndcg.after).toBe(report.ndcg.before);
  }, 1_800_000);
});
