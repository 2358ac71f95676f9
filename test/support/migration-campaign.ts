import type { MigrationRunBody } from '../../schemas/migrations/migrations-api.js';
import { askStack } from './ask-stack.js';
import { documentClient } from './document-client.js';
import { createFirstIndex, turnBackToSchemaTwo } from './earlier-index.js';
import { generatedText } from './generated-text.js';
import { remainingDrift } from './remaining-drift.js';
import type { RunningStack } from './running-stack.js';
import { openEngine } from './schema-two-index.js';
import { seededRandom } from './seeded-random.js';
import { until } from './until.js';
import { makePartition, uploadTexts } from './upload-texts.js';

const PARTITION = 'mills';
const QUESTIONS = [
  'the keeper of the tide mill',
  'lamp and harbour',
  'cog rope bell',
  'what does document 3 say',
];
const FIELD = { vectorField: 'vector_builtin_hash', dimension: 1024 };

export interface MigrationReport {
  chunks: number;
  kills: number;
  seconds: number;
  run: MigrationRunBody;
  searches: number;
  faults: string[];
}

function indexOf(stack: RunningStack): string {
  return `${stack.config.opensearch.indexPrefix}chunks-v3`;
}

function admin(stack: RunningStack) {
  return {
    start: async (body: object = {}): Promise<string> => {
      const path = '/admin/migrations/vector-store';
      const answer = await askStack<{ run_id: string }>(stack, 'POST', path, body);
      if (answer.status !== 202) throw new Error(`the migration was not started: ${JSON.stringify(answer)}`);
      return answer.body.run_id;
    },
    latest: async (): Promise<MigrationRunBody> => {
      const path = '/admin/migrations/vector-store/runs';
      const { body } = await askStack<{ runs: MigrationRunBody[] }>(stack, 'GET', path);
      return body.runs[0]!;
    },
  };
}

/** The whole answers to some questions, scores and all, of a partition in which nothing changes meanwhile. */
async function askAll(stack: RunningStack): Promise<string[]> {
  return Promise.all(
    QUESTIONS.map(async (text) => {
      const query = new URLSearchParams({ text, top_k: '5' }).toString();
      const response = await stack.request(`/search/partition/${PARTITION}?${query}`);
      return `${response.status} ${await response.text()}`;
    }),
  );
}

/** Kills the worker at random moments of a run; answers how often it did. */
async function killWhileRunning(
  stack: RunningStack,
  { kills, random }: { kills: number; random: () => number },
): Promise<number> {
  const { latest } = admin(stack);
  let done = 0;
  let seen = -1;
  while (done < kills) {
    const run = await until(
      'the migration goes on',
      async () => {
        const found = await latest().catch(() => undefined);
        return found !== undefined && (found.state !== 'running' || found.done > seen) && found;
      },
      { withinMs: 300_000, everyMs: 20 },
    );
    if (run.state !== 'running') return done;
    seen = run.done;
    await new Promise((resolve) => setTimeout(resolve, random() * 300));
    await stack.killWorker();
    await stack.startWorker();
    done += 1;
  }
  return done;
}

function waitForEnd(stack: RunningStack): Promise<MigrationRunBody> {
  return until(
    'the migration has ended',
    async () => {
      const run = await admin(stack)
        .latest()
        .catch(() => undefined);
      return run !== undefined && run.finished_at !== null && run;
    },
    { withinMs: 1_800_000, everyMs: 100 },
  );
}

/**
 * Documents that are indexed, their index turned back to schema 2, and migrated while the worker is killed: every
 * answer is afterwards what it was before, digit by digit.
 * @param options.disturb what else happens while the migration runs
 */
export async function migrateSchemaTwo(
  stack: RunningStack,
  options: {
    files: number;
    paragraphs: number;
    kills: number;
    pagesPerSecond: number | null;
    disturb?: () => Promise<void>;
  },
): Promise<MigrationReport> {
  const faults: string[] = [];
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  await uploadTexts(stack, PARTITION, options);
  const before = await askAll(stack);
  if (!before.every((answer) => answer.startsWith('200') && answer.includes('file-')))
    faults.push(`the questions found nothing before: ${before.join('\n').slice(0, 500)}`);
  await Promise.all([stack.killGateway(), stack.killWorker()]);

  const engine = openEngine();
  await turnBackToSchemaTwo(engine.client, indexOf(stack), FIELD);
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  for (const answer of await askAll(stack))
    if (!answer.startsWith('503') || !answer.includes('VDB_SCHEMA_MIGRATION_REQUIRED'))
      faults.push(`a search before the migration answered ${answer.slice(0, 200)}`);
  const refused = await documentClient(stack).send('POST', PARTITION, 'early', 'early', 'early.txt');
  if (refused.status !== 503) faults.push(`an upload before the migration answered ${refused.status}`);
  const ready = await stack.request('/ready');
  if (ready.status !== 200) faults.push(`/ready answered ${ready.status} before the migration`);

  const began = performance.now();
  await admin(stack).start({ pages_per_second: options.pagesPerSecond });
  const [kills] = await Promise.all([
    killWhileRunning(stack, { kills: options.kills, random: seededRandom(5) }),
    options.disturb?.(),
  ]);
  const run = await waitForEnd(stack);
  const seconds = (performance.now() - began) / 1000;
  const after = await askAll(stack);
  if (JSON.stringify(after) !== JSON.stringify(before))
    faults.push(`answers differ after the migration: ${before[0]} | ${after[0]}`);
  const { vectorField } = FIELD;
  const { count } = await engine.client.request<{ count: number }>(
    'POST',
    `/${stack.config.opensearch.indexPrefix}chunks/_count`,
    {
      body: { query: { exists: { field: vectorField } } },
    },
  );
  if (run.state !== 'completed' || count !== run.total)
    faults.push(`${count} of ${run.total} chunks have their vector: ${JSON.stringify(run)}`);
  await engine.close();
  // What the refused upload left, if anything, is swept up.
  for (const drift of await remainingDrift(stack)) faults.push(JSON.stringify(drift));
  return { chunks: run.total ?? 0, kills, seconds, run, searches: before.length + after.length, faults };
}

/**
 * A step of the present schema while files come, change and go, and questions are asked: no search fails, the answers
 * of a partition in which nothing changes stay the same, and the stores agree in the end.
 */
export async function migrateUnderLoad(
  stack: RunningStack,
  options: { files: number; paragraphs: number; kills: number; pagesPerSecond: number | null },
): Promise<MigrationReport> {
  const faults: string[] = [];
  const engine = openEngine();
  await engine.client.request('DELETE', `/${indexOf(stack)}`);
  await createFirstIndex(engine.client, indexOf(stack), [FIELD]);
  await engine.close();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  await uploadTexts(stack, PARTITION, options);
  await makePartition(stack, 'load');
  const expected = JSON.stringify(await askAll(stack));

  let loading = true;
  let searches = 0;
  const searching = async (): Promise<void> => {
    while (loading) {
      const answers = JSON.stringify(await askAll(stack));
      searches += QUESTIONS.length;
      if (answers !== expected) faults.push(`answers changed: ${answers.slice(0, 400)}`);
    }
  };
  const documents = documentClient(stack);
  const changing = async (): Promise<void> => {
    const random = seededRandom(11);
    for (let turn = 0; loading; turn += 1) {
      const fileId = `changing-${Math.floor(random() * 8)}`;
      const isThere = (await stack.request(`/partition/load/file/${fileId}`)).status === 200;
      if (isThere && random() < 0.4) {
        const path = `/indexer/partition/load/file/${fileId}`;
        const { status } = await stack.request(path, { method: 'DELETE' });
        if (status >= 400) faults.push(`DELETE answered ${status}`);
        continue;
      }
      const text = generatedText(10_000 + turn, 6);
      const response = await documents.send(isThere ? 'PUT' : 'POST', 'load', fileId, text, `${fileId}.txt`);
      const body = (await response.json()) as { task_status_url?: string };
      if (body.task_status_url === undefined) faults.push(`an upload answered ${response.status}`);
      else {
        const { task_state: state, error } = await documents.ended(body.task_status_url);
        if (state !== 'COMPLETED') faults.push(`a task ended ${state}: ${JSON.stringify(error)}`);
      }
    }
  };
  const load = Promise.all([searching(), changing()]).catch((error: unknown) => {
    faults.push(`the load ended: ${String(error)}`);
  });

  const began = performance.now();
  await admin(stack).start({ pages_per_second: options.pagesPerSecond });
  const kills = await killWhileRunning(stack, { kills: options.kills, random: seededRandom(7) });
  const run = await waitForEnd(stack);
  const seconds = (performance.now() - began) / 1000;
  const seen = searches;
  await until('searches went on after the switch', async () => searches > seen + QUESTIONS.length);
  loading = false;
  await load;
  if (run.state !== 'completed') faults.push(`the run ended so: ${JSON.stringify(run)}`);
  for (const drift of await remainingDrift(stack)) faults.push(JSON.stringify(drift));
  return { chunks: run.total ?? 0, kills, seconds, run, searches, faults };
}
