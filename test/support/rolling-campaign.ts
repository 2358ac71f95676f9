import { MongoClient } from 'mongodb';
import { changingFiles, chatFault } from './changing-files.js';
import { createCountingCapi, forwardingFaults } from './counting-capi.js';
import type { CountingCapi } from './counting-capi.js';
import { documentClient } from './document-client.js';
import { freePort } from './free-port.js';
import { generatedText } from './generated-text.js';
import type { Release } from './release-build.js';
import { startRelease } from './release-process.js';
import type { ReleaseProcess } from './release-process.js';
import { remainingDrift } from './remaining-drift.js';
import { openStack } from './running-stack.js';
import type { RunningStack } from './running-stack.js';
import { sampleSignal, signalClient } from './signal-client.js';
import { until } from './until.js';

const PARTITION = 'mills';
/** Of the first release: its files lack the key of their partition. */
const EARLY = 'papers';
const EARLY_FILES = 1_200;
const STEP = 'partition-key-of-files';
const SIGNALS = 20;
/** A process serves so long beside those of the other release. */
const TOGETHER_MS = 4_000;

export interface RollingReport {
  seconds: number;
  searches: number;
  chats: number;
  changes: number;
  signals: number;
  /** Requests that were answered 503 with Retry-After, or whose gateway was gone before it took them. */
  repeated: number;
  records: { state: string; figures: Record<string, number> } | null;
  faults: string[];
}

/** Two gateways as a balancer sees them: what one does not take, because it is gone, the other one gets. */
function balance(stack: RunningStack, ports: readonly number[], report: RollingReport) {
  let turn = 0;
  return async (path: string, init: RequestInit = {}): Promise<Response> => {
    for (let attempt = 0; ; attempt += 1) {
      turn += 1;
      const base = `http://127.0.0.1:${ports[turn % ports.length]}`;
      const target = path.startsWith('http') ? new URL(path).pathname + new URL(path).search : path;
      try {
        const response = await fetch(`${base}${target}`, {
          ...init,
          headers: { authorization: `Bearer ${stack.token}`, ...init.headers },
        });
        if (response.status !== 503 || response.headers.get('retry-after') === null || attempt > 20)
          return response;
        await response.body?.cancel();
        report.repeated += 1;
        const seconds = Number(response.headers.get('retry-after'));
        await new Promise((resolve) => setTimeout(resolve, Math.min(seconds, 2) * 1000));
      } catch (error) {
        // Only what never reached a gateway is sent to the other one, as in deploy/two-gateways/haproxy.cfg.
        if (codeOf(error) !== 'ECONNREFUSED' || attempt > 20) throw error;
        report.repeated += 1;
      }
    }
  };
}

function codeOf(error: unknown): string | undefined {
  return ((error as Error).cause as { code?: string } | undefined)?.code;
}

/** Records as the first release wrote them, and none says that they were migrated. */
async function plantEarlyRecords(stack: RunningStack): Promise<() => Promise<number>> {
  const mongo = await MongoClient.connect(stack.config.mongodb.url);
  const db = mongo.db(stack.config.mongodb.database);
  const files = db.collection<{ _id: string }>('files');
  const at = new Date();
  await db.collection<{ _id: string }>('partitions').insertOne({
    _id: EARLY,
    embedder: 'builtin-hash',
    created_by: 1,
    created_at: at,
    members: [{ user_id: 1, role: 'owner', added_at: at }],
  } as { _id: string });
  await files.insertMany(
    Array.from({ length: EARLY_FILES }, (_, index) => ({
      _id: `early-${index}`,
      name_key: `${EARLY}/f${index}`,
      partition: EARLY,
      file_id: `f${index}`,
      created_by: 1,
      latest_generation: 0,
      live: null,
      pending_task: null,
      created_at: at,
      updated_at: at,
    })),
  );
  await db.collection<{ _id: string }>('schema_steps').deleteOne({ _id: STEP });
  return async () => {
    const lacking = await files.countDocuments({ partition_key: { $exists: false } });
    await files.deleteMany({ partition: EARLY });
    await mongo.close();
    return lacking;
  };
}

/**
 * Two gateways and two workers of a release, replaced one by one by those of another under searches, chats, uploads,
 * deletions and pushed signals, with a migration of records between: nothing fails but 503 with Retry-After, and
 * nothing is lost.
 */
export async function upgradeRolling(before: Release, after: Release): Promise<RollingReport> {
  const capi = await createCountingCapi(() => false);
  const stack = await openStack({ CAPI_URL: capi.url });
  const processes: ReleaseProcess[] = [];
  try {
    return await drive({ stack, capi, before, after, processes });
  } finally {
    await Promise.all(processes.map((process) => process.stop()));
    await stack.close();
    await capi.close();
  }
}

interface Stage {
  stack: RunningStack;
  capi: CountingCapi;
  before: Release;
  after: Release;
  /** All that were started, for who ends them. */
  processes: ReleaseProcess[];
}

async function drive({ stack, capi, before, after, processes }: Stage): Promise<RollingReport> {
  const ports = [await freePort(), await freePort()];
  const report: RollingReport = {
    seconds: 0,
    searches: 0,
    chats: 0,
    changes: 0,
    signals: 0,
    repeated: 0,
    records: null,
    faults: [],
  };
  const { faults } = report;
  const request = balance(stack, ports, report);
  const documents = documentClient({ request });
  const note = (started: ReleaseProcess): ReleaseProcess => {
    processes.push(started);
    return started;
  };
  const startGateway = async (release: Release, at: number) =>
    note(await startRelease('gateway', release, { ...stack.environment, PORT: String(ports[at]) }));
  const startWorker = async (release: Release) =>
    note(await startRelease('worker', release, stack.environment));

  const gateways = await Promise.all([startGateway(before, 0), startGateway(before, 1)]);
  const workers = await Promise.all([startWorker(before), startWorker(before)]);

  let loading = true;
  const check = (what: string, status: number, allowed: readonly number[], body: string): boolean => {
    if (!allowed.includes(status)) faults.push(`${what} answered ${status} ${body.slice(0, 200)}`);
    return allowed.includes(status);
  };
  const repeat = (what: string, work: () => Promise<void>): Promise<void> =>
    (async () => {
      while (loading)
        await work().catch((error: unknown) => {
          faults.push(`${what}: ${String(error)} ${codeOf(error) ?? ''}`);
        });
    })();

  const search = async (): Promise<void> => {
    const response = await request(`/search/partition/${PARTITION}?text=tide+mill+keeper&top_k=3`);
    const body = await response.text();
    if (check('a search', response.status, [200], body) && !body.includes('fixed-'))
      faults.push(`a search found nothing: ${body.slice(0, 200)}`);
    report.searches += 1;
  };
  const chat = async (): Promise<void> => {
    const fault = await chatFault({ request }, PARTITION, 'Who keeps the tide mill?');
    if (fault !== null) faults.push(fault);
    report.chats += 1;
  };
  // Only what no gateway has taken is sent again, so that nothing is found done already.
  const files = changingFiles({ request, repeated: () => 0 }, { partition: PARTITION, faults });

  const lapi = signalClient(`http://127.0.0.1:${ports[0]}`, 'rolling-lapi');
  await lapi.login();
  const push = async (): Promise<void> => {
    const first = report.signals;
    const signals = Array.from({ length: SIGNALS }, (_, index) => sampleSignal(first + index));
    const response = await request('/v3/signals', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'crowdsec/1.7.8-linux',
        authorization: `Bearer ${lapi.token()}`,
      },
      body: JSON.stringify(signals),
    });
    if (check('a push', response.status, [200], await response.text())) report.signals += SIGNALS;
    await new Promise((resolve) => setTimeout(resolve, 100));
  };

  await request(`/partition/${PARTITION}`, { method: 'POST' });
  for (let file = 0; file < 8; file += 1) {
    const url = await documents.upload(
      'POST',
      PARTITION,
      `fixed-${file}`,
      `The keeper of the tide mill, number ${file}. ${generatedText(file, 10)}`,
      `fixed-${file}.txt`,
    );
    if ((await documents.ended(url, 300_000)).task_state !== 'COMPLETED')
      faults.push('a first upload failed');
  }
  const endPlanting = await plantEarlyRecords(stack);
  const load = Promise.all([
    repeat('a search', search),
    repeat('a chat', chat),
    repeat('a change', files.change),
    repeat('a push', push),
  ]);

  const began = performance.now();
  let beside = 'the release before alone';
  const served = async (): Promise<void> => {
    const { searches, signals } = report;
    const changes = files.count();
    await new Promise((resolve) => setTimeout(resolve, TOGETHER_MS));
    await until(
      'the load goes on',
      async () => report.searches > searches && files.count() > changes && report.signals > signals,
      { withinMs: 120_000 },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)} (${beside}): ${JSON.stringify(report)}`);
    });
  };
  const replace = async (name: string, old: ReleaseProcess, start: () => Promise<ReleaseProcess>) => {
    const code = await old.stop();
    if (code !== 0) faults.push(`${name} of ${old.release} ended with ${String(code)}`);
    await start();
    beside = `after ${name}`;
    await served();
  };
  try {
    await served();
    for (const [at, old] of workers.entries()) await replace(`worker ${at}`, old, () => startWorker(after));
    for (const [at, old] of gateways.entries())
      await replace(`gateway ${at}`, old, () => startGateway(after, at));
    report.seconds = (performance.now() - began) / 1000;
  } finally {
    loading = false;
  }
  await load;
  report.changes = files.count();

  report.records = await until(
    'the records are migrated',
    async () => {
      const { body } = await askJson(request, '/admin/migrations/records/runs');
      const run = (body as { runs: RollingReport['records'][] }).runs[0];
      return run?.state === 'completed' && run;
    },
    { withinMs: 60_000 },
  );
  const lacking = await endPlanting();
  if (lacking > 0) faults.push(`${lacking} files lack the key of their partition`);
  faults.push(...(await forwardingFaults(capi, report.signals)));
  await files.verify();
  for (const drift of await remainingDrift(stack)) faults.push(JSON.stringify(drift));
  for (const { release, logs: read } of processes)
    for (const line of read().split('\n').filter(isNondeterminism))
      faults.push(`${release}: ${line.slice(0, 400)}`);
  return report;
}

function isNondeterminism(line: string): boolean {
  return /nondeterminis/i.test(line);
}

async function askJson(
  request: (path: string) => Promise<Response>,
  path: string,
): Promise<{ status: number; body: unknown }> {
  const response = await request(path);
  return { status: response.status, body: await response.json().catch(() => null) };
}
