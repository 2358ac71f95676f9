import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import type { Db } from 'mongodb';
import { openStack } from '../support/running-stack.js';
import type { RunningStack } from '../support/running-stack.js';
import type { LooseBody } from '../api/support/loose-body.js';
import { until } from '../support/until.js';

interface Run {
  state: string;
  done: number;
  started_by: string;
  figures: Record<string, number>;
  error: { code: string } | null;
}

let stack: RunningStack;
let mongo: MongoClient;
let db: Db;

beforeAll(async () => {
  stack = await openStack();
  mongo = await MongoClient.connect(stack.config.mongodb.url);
  db = mongo.db(stack.config.mongodb.database);
  const at = new Date();
  await db.collection<{ _id: string }>('partitions').insertOne({
    _id: 'papers',
    embedder: null,
    created_by: 1,
    created_at: at,
    members: [{ user_id: 1, role: 'owner', added_at: at }],
  } as { _id: string });
  await db.collection<{ _id: string }>('files').insertMany(
    Array.from({ length: 1_200 }, (_, index) => ({
      _id: `file-${index}`,
      name_key: `papers/f${index}`,
      partition: 'papers',
      file_id: `f${index}`,
      created_by: 1,
      latest_generation: 0,
      live: null,
      pending_task: null,
      created_at: at,
      updated_at: at,
    })),
  );
  await Promise.all([stack.startGateway(), stack.startWorker()]);
}, 180_000);
afterAll(async () => {
  await mongo?.close();
  await stack?.close();
}, 60_000);

async function send(method: string, path: string, body?: unknown): Promise<[number, LooseBody]> {
  const response = await stack.request(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  return [response.status, text === '' ? '' : JSON.parse(text)];
}

async function endedRuns(name: string): Promise<Run[]> {
  return (await send('GET', `/admin/migrations/${name}/runs`))[1].runs.filter(
    ({ state }: Run) => state !== 'running',
  );
}

async function readiness() {
  const [status, { checks, migrations }] = await send('GET', '/ready');
  return { status, check: checks.migrations, names: migrations.map(({ name }: { name: string }) => name) };
}

it('a start migrates records of before, and what it cannot is run again once it can', async () => {
  await until('records are migrated', async () => (await endedRuns('records')).length === 1, {
    withinMs: 60_000,
  });
  expect(await endedRuns('records')).toEqual([
    expect.objectContaining({
      state: 'completed',
      started_by: 'start',
      done: 1_200,
      error: null,
      figures: { changed_by_partition_key_of_files: 1_200 },
    }),
  ]);
  expect(await db.collection('files').countDocuments({ partition_key: 'papers' })).toBe(1_200);

  // The built-in embedder is the only one: nothing says which one made the vectors.
  await until('the run has ended', async () => (await endedRuns('default-embedder')).length === 1, {
    withinMs: 60_000,
  });
  expect(await endedRuns('default-embedder')).toEqual([
    expect.objectContaining({
      state: 'failed',
      error: expect.objectContaining({ code: 'MIGRATION_NOT_POSSIBLE' }),
    }),
  ]);
  expect((await send('GET', '/search/partition/papers?text=mill'))[0]).toBe(503);
  expect(await readiness()).toEqual({ status: 200, check: 'required', names: ['default-embedder'] });

  const endpoint = 'http://127.0.0.1:9/v1';
  const embedder = { name: 'bge', model_type: 'embedder', endpoint, model_name: 'bge-m3', is_default: true };
  expect((await send('POST', '/model-endpoints/', embedder))[0]).toBe(201);
  expect((await send('POST', '/admin/migrations/default-embedder'))[0]).toBe(202);
  await until('the run has ended', async () => (await endedRuns('default-embedder')).length === 2);
  expect((await endedRuns('default-embedder'))[0]).toMatchObject({ state: 'completed', done: 1 });
  expect(await stack.adapters.partitions.get('papers')).toMatchObject({ embedder: 'bge' });
  await until('readiness has followed', async () => (await readiness()).check === 'ok');
}, 240_000);
