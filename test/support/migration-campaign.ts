import { createHash } from 'node:crypto';
import type { OpenSearchClient } from '../../activities/stores/opensearch/connect-opensearch.js';
import type { MigrationRunBody } from '../../schemas/migrations/migrations-api.js';
import { askStack } from './ask-stack.js';
import type { Corpus } from './campaign-corpus.js';
import { changingFiles, chatFault } from './changing-files.js';
import { documentClient } from './document-client.js';
import { createFirstIndex, turnBackToSchemaTwo } from './earlier-index.js';
import { gatewayKills } from './gateway-kills.js';
import { sweptUp } from './kill-tools.js';
import { remainingDrift } from './remaining-drift.js';
import type { RunningStack } from './running-stack.js';
import { openEngine } from './schema-two-index.js';
import { seededRandom } from './seeded-random.js';
import { until } from './until.js';
import { liveChunks } from './swap-campaign.js';
import type { Killed } from './swap-campaign.js';
import { makePartition } from './upload-texts.js';

const PARTITION = 'mills';
/** Where files change, when the other partition's must not. */
const LOAD = 'load';
const FIELD = { vectorField: 'vector_builtin_hash', dimension: 1024 };

export interface MigrationReport {
  chunks: number;
  /** Who was killed, in order. */
  kills: readonly Killed[];
  seconds: number;
  run: MigrationRunBody;
  searches: number;
  faults: string[];
}

interface LoadReport extends MigrationReport {
  chats: number;
  changes: number;
  /** Requests that were sent again, because a killed gateway had not answered them. */
  repeated: number;
  /** nDCG@10 of the search route before and after; null where nothing is judged. */
  ndcg: { before: number | null; after: number | null };
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
async function askAll(
  client: Pick<RunningStack, 'request'>,
  questions: readonly string[],
): Promise<string[]> {
  return Promise.all(
    questions.map(async (text) => {
      const query = new URLSearchParams({ text, top_k: '5' }).toString();
      const response = await client.request(`/search/partition/${PARTITION}?${query}`);
      return `${response.status} ${await response.text()}`;
    }),
  );
}

const SCORE = /"(?:vector_score|combined_score)":(-?[\d.e-]+)/g;
/** Of scores: vectors of a migrated field are compared by their cosine, those of one made today by their product. */
const ROUNDING = 2e-6;

function areAlike(one: string, other: string): boolean {
  const scores = (answer: string) => [...answer.matchAll(SCORE)].map(([, score]) => Number(score));
  const others = scores(other);
  return (
    one.replaceAll(SCORE, '') === other.replaceAll(SCORE, '') &&
    scores(one).every((score, index) => Math.abs(score - others[index]!) <= ROUNDING)
  );
}

/** Kills worker or gateway at random moments of a run; answers whom it did. */
async function killWhileRunning(
  stack: RunningStack,
  {
    kills,
    random,
    killGateway,
  }: { kills: readonly Killed[]; random: () => number; killGateway?: () => Promise<void> },
): Promise<Killed[]> {
  const { latest } = admin(stack);
  const done: Killed[] = [];
  let seen = -1;
  for (const killed of kills) {
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
    if (killed === 'gateway') await killGateway?.();
    else {
      await stack.killWorker();
      await stack.startWorker();
    }
    done.push(killed);
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

/** What is in the index of schema 2 besides: rows that no partition is known of, with numbers that no double holds. */
const STRAY = { rows: 12, section: '9007199254740993', integer: '92233720368547758070' };

/** What the migration says of them. */
export const STRAYS_COUNTED = {
  chunks_of_unknown_partitions: STRAY.rows,
  chunks_with_folded_section_ids: STRAY.rows,
  chunks_with_integers_beyond_64_bits: STRAY.rows,
};

async function plantStrays(client: OpenSearchClient, index: string, dimension: number): Promise<void> {
  const lines = Array.from({ length: STRAY.rows }, (_, row) => {
    const vector = Array.from({ length: dimension }, () => 1);
    const source = {
      partition: 'unknown',
      file_key: 'unknown',
      generation: 1,
      position: row,
      text: 'stray',
      vector,
    };
    // Written as text: a number of JavaScript would not be exact.
    const more = `"section_id":${STRAY.section},"metadata":[{"key":"big","integer":${STRAY.integer}}]`;
    return [{ index: { _id: `stray-${row}` } }, `${JSON.stringify(source).slice(0, -1)},${more}}`];
  }).flat();
  const query = { refresh: true };
  const { errors } = await client.request<{ errors: boolean }>('POST', `/${index}/_bulk`, { lines, query });
  if (errors) throw new Error('the rows of no partition could not be written');
}

/** The vectors of all live chunks in a field, as one digest, and how many have none. */
async function vectorsOf(stack: RunningStack, vectorField: string) {
  const digest = createHash('sha256');
  let missing = 0;
  const ids = (await liveChunks(stack, PARTITION)).flatMap((file) => file.ids).sort();
  for (let from = 0; from < ids.length; from += 1_000) {
    const page = ids.slice(from, from + 1_000);
    const vectors = await stack.adapters.chunks.getVectors(page, vectorField);
    missing += page.length - vectors.size;
    for (const id of page) digest.update(`${id} ${vectors.get(id)?.join() ?? ''}\n`);
  }
  return { chunks: ids.length, missing, digest: digest.digest('hex') };
}

/**
 * Documents that are indexed, their index turned back to schema 2, and migrated while the worker is killed: every
 * answer and every vector is afterwards what it was before, digit by digit.
 * @param options.fill makes the partition and what is in it
 * @param options.embedder of the partition
 * @param options.disturb what else happens while the migration runs
 */
export async function migrateSchemaTwo(
  stack: RunningStack,
  options: {
    fill: (stack: RunningStack, partition: string) => Promise<void>;
    questions: readonly string[];
    embedder: string;
    kills: number;
    pagesPerSecond: number | null;
    disturb?: () => Promise<void>;
  },
): Promise<MigrationReport> {
  const faults: string[] = [];
  const { questions } = options;
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  await options.fill(stack, PARTITION);
  const { vectorField, dimension } = await stack.adapters.models.embedder(options.embedder);
  const before = await askAll(stack, questions);
  if (!before.every((answer) => answer.startsWith('200') && answer.includes('file-')))
    faults.push(`the questions found nothing before: ${before.join('\n').slice(0, 500)}`);
  const vectors = await vectorsOf(stack, vectorField);
  if (vectors.missing > 0) faults.push(`${vectors.missing} chunks had no vector before`);
  // Seeded files have no bytes.
  const known = new Set((await remainingDrift(stack, 0)).map((drift) => JSON.stringify(drift)));
  // At a full hour it would remove the rows of no partition, which are counted to the end.
  const paused = await askStack(stack, 'POST', '/admin/schedules/reconcile/pause');
  if (paused.status !== 202) throw new Error(`the reconciler was not paused: ${JSON.stringify(paused)}`);
  await Promise.all([stack.killGateway(), stack.killWorker()]);

  const engine = openEngine(stack.config.opensearch);
  await turnBackToSchemaTwo(engine.client, indexOf(stack), { vectorField, dimension });
  await plantStrays(engine.client, indexOf(stack), dimension);
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  for (const answer of await askAll(stack, questions))
    if (!answer.startsWith('503') || !answer.includes('VDB_SCHEMA_MIGRATION_REQUIRED'))
      faults.push(`a search before the migration answered ${answer.slice(0, 200)}`);
  const refused = await documentClient(stack).send('POST', PARTITION, 'early', 'early', 'early.txt');
  if (refused.status !== 503) faults.push(`an upload before the migration answered ${refused.status}`);
  const ready = await stack.request('/ready');
  if (ready.status !== 200) faults.push(`/ready answered ${ready.status} before the migration`);

  const began = performance.now();
  await admin(stack).start({ pages_per_second: options.pagesPerSecond });
  const workers = Array.from({ length: options.kills }, () => 'worker' as const);
  const [kills] = await Promise.all([
    killWhileRunning(stack, { kills: workers, random: seededRandom(5) }),
    options.disturb?.(),
  ]);
  const run = await waitForEnd(stack);
  const seconds = (performance.now() - began) / 1000;
  const after = await askAll(stack, questions);
  const changed = after.findIndex((answer, index) => !areAlike(answer, before[index]!));
  if (changed !== -1)
    faults.push(`answers differ after the migration: ${before[changed]} | ${after[changed]}`);
  if (JSON.stringify(await vectorsOf(stack, vectorField)) !== JSON.stringify(vectors))
    faults.push('the vectors are not what they were');
  const alias = `/${stack.config.opensearch.indexPrefix}chunks`;
  const { count } = await engine.client.request<{ count: number }>('POST', `${alias}/_count`, {
    body: { query: { exists: { field: vectorField } } },
  });
  if (run.state !== 'completed' || count + STRAY.rows !== run.total)
    faults.push(`${count} of ${run.total} chunks have their vector: ${JSON.stringify(run)}`);
  await engine.client.request('POST', `${alias}/_delete_by_query`, {
    body: { query: { term: { partition: 'unknown' } } },
    query: { refresh: true },
  });
  await engine.close();
  // What the refused upload left, if anything, is swept up.
  for (const drift of await remainingDrift(stack, 60_000, known)) faults.push(JSON.stringify(drift));
  return { chunks: run.total ?? 0, kills, seconds, run, searches: before.length + after.length, faults };
}

/**
 * A step of the present schema while files come, change and go, questions are asked, and worker and gateway are killed:
 * no search fails, the answers of a partition in which nothing changes stay the same, and the stores agree in the end.
 * Clients send again only what a killed gateway has not answered.
 */
export async function migrateUnderLoad(
  stack: RunningStack,
  {
    corpus,
    kills: wanted,
    pagesPerSecond,
  }: { corpus: Corpus; kills: readonly Killed[]; pagesPerSecond: number | null },
): Promise<LoadReport> {
  const faults: string[] = [];
  const engine = openEngine(stack.config.opensearch);
  await engine.client.request('DELETE', `/${indexOf(stack)}`);
  await createFirstIndex(engine.client, indexOf(stack), [FIELD]);
  await engine.close();
  await Promise.all([stack.startGateway(), stack.startWorker()]);
  await corpus.fill(stack, PARTITION);
  await makePartition(stack, LOAD);
  const gateway = gatewayKills(stack);
  const asking = gateway.client();
  const expected = JSON.stringify(await askAll(asking, corpus.questions));
  const ndcgBefore = await corpus.ndcg(stack, PARTITION);

  let loading = true;
  let [searches, chats] = [0, 0];
  const searching = async (): Promise<void> => {
    while (loading) {
      const answers = JSON.stringify(await askAll(asking, corpus.questions));
      searches += corpus.questions.length;
      if (answers !== expected) faults.push(`answers changed: ${answers.slice(0, 400)}`);
    }
  };
  const chatting = async (): Promise<void> => {
    const own = gateway.client();
    for (; loading; chats += 1) {
      const fault = await chatFault(own, PARTITION, corpus.questions[chats % corpus.questions.length]!);
      if (fault !== null) faults.push(fault);
    }
  };
  const files = changingFiles(gateway.client(), { partition: LOAD, faults });
  const changing = async (): Promise<void> => {
    while (loading) await files.change();
  };
  const load = Promise.all([searching(), chatting(), changing()]).catch((error: unknown) => {
    faults.push(`the load ended: ${String(error)}`);
  });

  const began = performance.now();
  await admin(stack).start({ pages_per_second: pagesPerSecond });
  const killGateway = () => gateway.kill();
  const kills = await killWhileRunning(stack, { kills: wanted, random: seededRandom(7), killGateway });
  const run = await waitForEnd(stack);
  const seconds = (performance.now() - began) / 1000;
  const seen = searches;
  await until('searches went on after the switch', async () => searches > seen + corpus.questions.length, {
    withinMs: 120_000,
  });
  loading = false;
  await load;
  await files.verify();
  if (run.state !== 'completed') faults.push(`the run ended so: ${JSON.stringify(run)}`);
  for (const drift of await sweptUp(stack)) faults.push(JSON.stringify(drift));
  return {
    chunks: run.total ?? 0,
    kills,
    seconds,
    run,
    searches,
    chats,
    changes: files.count(),
    repeated: gateway.repeated(),
    ndcg: { before: ndcgBefore, after: await corpus.ndcg(stack, PARTITION) },
    faults,
  };
}
