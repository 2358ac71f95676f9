import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import type { Collection } from 'mongodb';
import { signalGroup } from '../../deploy/local/kill-group.js';
import type { ManagedProcess } from '../../deploy/local/managed-process.js';
import { openService } from '../../deploy/local/open-service.js';
import { pathsOf } from '../../deploy/local/paths.js';
import { RunRecord } from '../../deploy/local/run-record.js';
import { keptFerretdb } from '../../deploy/local/services/ferretdb.js';
import { mongodb } from '../../deploy/local/services/mongodb.js';
import { postgres } from '../../deploy/local/services/postgres.js';
import type { Service } from '../../deploy/local/services/service.js';
import type { Workbench } from '../../deploy/local/workbench.js';
import { until } from '../support/until.js';

interface Row {
  _id: number;
}

const local = mkdtempSync(join(tmpdir(), 'tamis-test-store-'));

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

/**
 * The launcher's own store where no mongod is found; null: on this machine it was not obtained, and nothing is tried.
 */
const ferretdb = keptFerretdb(bench);
const isHere = ferretdb !== null && (await postgres.kept(bench)) !== null;
/** Also on a machine that has a mongod. */
const service: Service = { ...mongodb, find: async () => ferretdb };

const processes = new Map<string, ManagedProcess>();
let client: MongoClient;
let rows: Collection<Row>;

beforeAll(async () => {
  if (!isHere) return;
  const address = await openService(bench, service, (process) => processes.set(process.plan.name, process));
  client = new MongoClient(address, { serverSelectionTimeoutMS: 2_000, retryWrites: false });
  rows = client.db('kills').collection<Row>('rows');
}, 180_000);
afterAll(async () => {
  await client?.close();
  await Promise.all([...processes.values()].map((process) => process.stop()));
  rmSync(local, { recursive: true, force: true });
}, 60_000);

/** Six writers until they are ended; every number that was answered is remembered. */
function openWriters(from: number) {
  const answered: number[] = [];
  let next = from;
  let ended = false;
  const write = async () => {
    while (!ended) {
      const id = next++;
      try {
        await rows.insertOne({ _id: id }, { writeConcern: { w: 'majority', journal: true } });
        answered.push(id);
      } catch {
        // nothing was answered: it may be there or not
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  const writers = Array.from({ length: 6 }, write);
  return {
    answered,
    async end() {
      ended = true;
      await Promise.all(writers);
    },
  };
}

/** All of it at once, and with no chance to clean up: the processes of a group, PostgreSQL's in groups of their own. */
function kill(name: string): void {
  const pids = [bench.record.read().processes[name]?.pid ?? 0];
  if (name === 'postgres') {
    const file = join(local, 'postgres/data/postmaster.pid');
    pids.push(Number(readFileSync(file, 'utf8').split('\n')[0]));
  }
  for (const pid of pids) {
    expect(pid).toBeGreaterThan(1);
    signalGroup(pid, 'SIGKILL');
  }
}

async function expectAll(answered: readonly number[]): Promise<void> {
  const present = new Set((await rows.find({}).toArray()).map(({ _id }) => _id));
  expect(answered.filter((id) => !present.has(id))).toEqual([]);
}

(isHere ? describe : describe.skip)('SIGKILL of the launcher’s store during writes', () => {
  it('PostgreSQL alone: FerretDB goes on with the next one, and every answered write is there', async () => {
    const writers = openWriters(0);
    await until('50 writes are answered', async () => writers.answered.length >= 50);
    kill('postgres');
    await processes.get('postgres')?.start();
    const before = writers.answered.length;
    await until('50 more are answered', async () => writers.answered.length >= before + 50);
    await writers.end();
    await expectAll(writers.answered);
  }, 120_000);

  it('both: they come up again on what they left, and every answered write is there', async () => {
    const writers = openWriters(1_000_000);
    await until('50 writes are answered', async () => writers.answered.length >= 50);
    kill('mongodb');
    kill('postgres');
    await processes.get('postgres')?.start();
    await processes.get('mongodb')?.start();
    const before = writers.answered.length;
    await until('50 more are answered', async () => writers.answered.length >= before + 50);
    await writers.end();
    await expectAll(writers.answered);
  }, 120_000);
});
