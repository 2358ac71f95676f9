import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { connectTemporal } from '../../api/temporal.js';
import { AppError } from '../../schemas/app-error.js';
import { parseConfig } from '../../schemas/config/config.js';
import { migrationWorkflowId, workerDeployment } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { createActivityInterceptors } from '../../workers/activity-interceptor.js';
import { deploymentOptions } from '../../workers/deployment.js';
import type { indexDocument } from '../../workflows/documents/index-document.js';
import type { migrate } from '../../workflows/migrations/migrate.js';
import { until } from '../support/until.js';
import { quietRuntime, workflowBundle } from '../support/workflow-environment.js';

const prefix = `versions-${randomBytes(4).toString('hex')}-`;
const queues = taskQueues(prefix);
/** Those of a release in `startWorkers`; each takes workflows and activities, which are queues of their own. */
const WORKERS = 3;
const QUEUE_TYPES = 2;
/** A code of gRPC. */
const NOT_FOUND = 5;

let native: NativeConnection;
let connection: Connection;
let client: Client;
let gateway: ReturnType<typeof connectTemporal>;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  quietRuntime();
  const address = process.env['TEMPORAL_ADDRESS'];
  if (address === undefined) throw new Error('TEMPORAL_ADDRESS is not set: run the tests with `npm test`');
  native = await NativeConnection.connect({ address });
  connection = await Connection.connect({ address });
  client = new Client({ connection });
  gateway = connectTemporal(
    parseConfig({
      MONGODB_URL: 'mongodb://127.0.0.1:9',
      TEMPORAL_ADDRESS: address,
      TASK_QUEUE_PREFIX: prefix,
    }),
  );
}, 60_000);
afterAll(async () => {
  for (const end of ends) await end();
  for await (const { workflowId } of client.workflow.list({ query: `WorkflowId STARTS_WITH "${prefix}"` }))
    await client.workflow
      .getHandle(workflowId)
      .terminate()
      .catch(() => undefined);
  await gateway.close();
  await connection.close();
  await native.close();
}, 60_000);

/** Which release did what, and what waits until a test says so. */
const did: string[] = [];
const held = new Set<string>();

/** Workers of a release on the queues of documents, models and migrations. */
async function startWorkers(buildId: string | null, at = prefix): Promise<void> {
  const own = taskQueues(at);
  const doing = async (name: string): Promise<void> => {
    did.push(`${name} by ${buildId ?? 'any'}`);
    await until(`${name} may end`, async () => !held.has(name), { withinMs: 60_000 });
  };
  const slice = async ({ position }: { position: { at: number } | null }) => {
    const at = (position?.at ?? 0) + 1;
    await doing(`slice ${at}`);
    return {
      position: { phase: 'counting', at },
      ended: at === 2,
      cancellable: true,
      done: at,
      total: 2,
      figures: {},
    };
  };
  const common = {
    connection: native,
    workflowBundle: await workflowBundle(),
    interceptors: {
      activity: [
        createActivityInterceptors(
          () => undefined,
          () => undefined,
          null,
        ),
      ],
    },
    ...deploymentOptions(at, buildId),
  };
  const workers = await Promise.all([
    Worker.create({
      ...common,
      taskQueue: own.documents,
      activities: {
        parseDocument: async () => {
          await doing('parse');
          return { chunkCount: 9 };
        },
        publishDocument: async () => {
          await doing('publish');
          return { replaced: false };
        },
      },
    }),
    Worker.create({
      ...common,
      taskQueue: own.models,
      activities: {
        embedDocument: async () => {
          await doing('embed');
          return { stored: 9 };
        },
      },
    }),
    Worker.create({
      ...common,
      taskQueue: own.migrations,
      activities: {
        beginMigration: async () => undefined,
        pauseMigration: async () => undefined,
        endMigration: async () => undefined,
        runMigrationSlice: slice,
      },
    }),
  ]);
  const runs = workers.map((worker) => worker.run());
  ends.push(async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  });
}

/**
 * As `tamis upgrade promote` does, as soon as the server knows the workers on every queue: one that is not known yet
 * stays with the release before, and the server asks for it only where its queue has work.
 */
async function promote(buildId: string): Promise<void> {
  await until('the workers are known', async () => (await polledBy(buildId)) === WORKERS * QUEUE_TYPES, {
    withinMs: 60_000,
  });
  await until(
    'the release is current',
    async () => {
      await gateway.promoteWorkers(buildId).catch((error: unknown) => {
        // A server that is busy answers after the five seconds that a request waits.
        const mayPass = error instanceof AppError && ['CONFLICT', 'SERVICE_UNAVAILABLE'].includes(error.code);
        if (!mayPass) throw error;
      });
      return (await stateOf(buildId)) === 'current';
    },
    { withinMs: 60_000, everyMs: 500 },
  );
}

/** Of how many queues, by name and type, the server knows a worker of the release. */
async function polledBy(buildId: string): Promise<number> {
  try {
    const { workerDeploymentVersionInfo: info } =
      await client.workflowService.describeWorkerDeploymentVersion({
        namespace: client.options.namespace,
        deploymentVersion: { deploymentName: workerDeployment(prefix), buildId },
      });
    return info?.taskQueueInfos?.length ?? 0;
  } catch (error) {
    if (isGrpcServiceError(error) && (error.code as number) === NOT_FOUND) return 0;
    throw error;
  }
}

async function stateOf(buildId: string): Promise<string | undefined> {
  return (await gateway.workerVersions()).find((version) => version.buildId === buildId)?.state;
}

it('workers of no release take what there is', async () => {
  const at = `${prefix}none-`;
  await startWorkers(null, at);
  const indexing = await client.workflow.start<typeof indexDocument>('indexDocument', {
    workflowId: `${at}index`,
    taskQueue: taskQueues(at).documents,
    args: [{ prefix: at, taskId: 'task', fileKey: 'file', generation: 1, timeoutMs: 600_000 }],
  });
  await until('it has ended', async () => (await indexing.describe()).status.name === 'COMPLETED', {
    withinMs: 60_000,
  });
  expect(did.splice(0)).toEqual(['parse by any', 'embed by any', 'publish by any']);
}, 120_000);

it('a document ends on the release that began it, a migration goes on with the next one', async () => {
  expect(await gateway.workerVersions()).toEqual([]);
  await expect(gateway.promoteWorkers('one')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await startWorkers('one');
  await promote('one');
  held.add('parse').add('slice 1');
  const indexing = await client.workflow.start<typeof indexDocument>('indexDocument', {
    workflowId: `${prefix}index`,
    taskQueue: queues.documents,
    args: [{ prefix, taskId: 'task', fileKey: 'file', generation: 1, timeoutMs: 600_000 }],
  });
  const migration = await client.workflow.start<typeof migrate>('migrate', {
    workflowId: migrationWorkflowId(prefix, 'records'),
    taskQueue: queues.migrations,
    args: [
      {
        prefix,
        runId: 'run',
        name: 'records',
        mode: 'run',
        unit: 'records',
        pagesPerSecond: null,
        startedBy: '1',
      },
    ],
  });
  await until('both are at work', async () => did.length === 2, { withinMs: 60_000 });
  await startWorkers('two');
  await promote('two');
  held.clear();
  await Promise.all([indexing.result(), migration.result()]);
  expect(await stateOf('one')).not.toBe('current');
  expect(did.filter((what) => !what.startsWith('slice'))).toEqual([
    'parse by one',
    'embed by one',
    'publish by one',
  ]);
  expect(did.filter((what) => what.startsWith('slice'))).toEqual(['slice 1 by one', 'slice 2 by two']);
}, 120_000);
