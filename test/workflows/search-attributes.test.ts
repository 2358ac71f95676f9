import { randomBytes } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { temporalDataConverter } from '../../activities/temporal/data-converter.js';
import { connectTemporal } from '../../api/temporal.js';
import { parseConfig } from '../../schemas/config/config.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import { dispatchWorkflowId } from '../../schemas/ids.js';
import { taskQueues } from '../../schemas/task-queues.js';
import { createClient, ensureNamespace } from '../../workers/connect-temporal.js';
import { startUpkeep } from '../../workers/upkeep.js';
import { bundleWorkflows } from '../../workers/workflow-bundle.js';
import { documentRef, scriptedActivities } from '../support/scripted-activities.js';
import { until } from '../support/until.js';
import { quietRuntime } from '../support/workflow-environment.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const address = process.env['TEMPORAL_ADDRESS'] ?? '';
/** Registered once for all runs of the tests, and without the search attributes. */
const WITHOUT_ATTRIBUTES = 'tamis-without-attributes';

let native: NativeConnection;
let connection: Connection;
const ends: (() => Promise<void> | void)[] = [];
let serial = 0;

beforeAll(async () => {
  quietRuntime();
  if (address === '') throw new Error('TEMPORAL_ADDRESS is not set: run the tests with `npm test`');
  native = await NativeConnection.connect({ address });
  connection = await Connection.connect({ address });
}, 60_000);
afterAll(async () => {
  for (const end of ends) await end();
  await connection.close();
  await native.close();
}, 60_000);

function configOf(more: Record<string, string> = {}) {
  return parseConfig({
    MONGODB_URL: 'mongodb://127.0.0.1:9',
    TEMPORAL_ADDRESS: address,
    SERVICES: 'documents',
    TASK_QUEUE_PREFIX: `attributes-${randomBytes(4).toString('hex')}-`,
    ...more,
  });
}

/** A gateway's line to Temporal and a worker whose activities fail, so that what is started is found failed. */
async function openStage(more: Record<string, string> = {}) {
  const config = configOf(more);
  const { prefix, namespace, encryptPayloads } = config.temporal;
  const partition = `mill-${randomBytes(4).toString('hex')}`;
  /** The first to ask gets what waits. */
  let waiting: object[] = [];
  const take = () => waiting.splice(0);
  const fail = async () => {
    throw ApplicationFailure.nonRetryable('damaged', 'CORRUPT_FILE');
  };
  const { activities } = scriptedActivities({
    nextTurns: async () => ({ refs: take() as never, waiting: 0 }),
    findUnstarted: async () => take() as never,
    // The codec runs in Jest's realm here, to which the bytes of a failure that the sandbox of workflows made are none;
    // test/e2e/encrypted-payloads.test.ts has failures in processes of their own.
    ...(encryptPayloads ? {} : { parseDocument: fail, copyVersion: fail }),
  });
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue: taskQueues(prefix).documents,
    workflowBundle: await bundleWorkflows({ encryptsFailures: encryptPayloads }),
    dataConverter: temporalDataConverter(config),
    activities,
  });
  const running = worker.run();
  const gateway = connectTemporal(config);
  const client = createClient(connection, config);
  ends.push(async () => {
    const query = `WorkflowId STARTS_WITH "${prefix}" AND ExecutionStatus = "Running"`;
    for await (const { workflowId } of client.workflow.list({ query }))
      await client.workflow
        .getHandle(workflowId)
        .terminate()
        .catch(() => undefined);
    worker.shutdown();
    await running;
    await gateway.close();
  });
  return {
    config,
    partition,
    gateway,
    client,
    /** What an activity answers of one that waits. */
    wait(copy: boolean, name = `file-${(serial += 1)}`): string {
      waiting = [{ ...documentRef(name), partition, fileId: name, ...(copy ? { copy } : {}) }];
      return name;
    },
  };
}

type Stage = Awaited<ReturnType<typeof openStage>>;

function taskRecord(stage: Stage, kind: TaskRecord['kind'], name: string): TaskRecord {
  const { partition } = stage;
  const record = { task_id: `task-${name}`, file_key: `key-${name}`, file_id: name, generation: 1 };
  const upload = { mimetype: 'text/plain', size_bytes: 5 };
  return { ...record, kind, partition, upload } as TaskRecord;
}

/** Each way in which an indexing is started, and what becomes of it. */
const STARTERS: Record<string, (stage: Stage, kind: TaskRecord['kind']) => Promise<string>> = {
  'the gateway at an upload': async (stage, kind) => {
    const name = `file-${(serial += 1)}`;
    await stage.gateway.startIndexing(taskRecord(stage, kind, name));
    return name;
  },
  'the dispatcher, when its turn comes': async (stage, kind) => {
    const name = stage.wait(kind === 'copy');
    await stage.gateway.notifyDispatcher();
    return name;
  },
  'the sweep, after Temporal was away': async (stage, kind) => {
    const name = stage.wait(kind === 'copy');
    ends.push(await startUpkeep(stage.client, stage.config, () => undefined));
    return name;
  },
};

/** A saved view as the papers have it. */
async function viewOf(partition: string): Promise<string> {
  const paper = await readFile(`${root}docs/operations.md`, 'utf8');
  const [, query] = /failed indexings of a partition \| `([^`]+)`/.exec(paper)!;
  return query!.replace('"mill"', `"${partition}"`);
}

describe('failed indexings of a partition', () => {
  it('are started in the ways below, and in no other', async () => {
    const found: string[] = [];
    for (const folder of ['api', 'workers', 'workflows', 'activities'])
      for (const name of await readdir(`${root}${folder}`, { recursive: true }))
        if (
          name.endsWith('.ts') &&
          /\bworkflowId: indexWorkflowId\(|\bstartIndexing\(/.test(
            await readFile(`${root}${folder}/${name}`, 'utf8'),
          )
        )
          found.push(`${folder}/${name}`);
    expect(found.sort()).toEqual([
      'activities/documents/commands/admit-upload.ts',
      'activities/ports/tasks.ts',
      'api/temporal.ts',
      'workflows/documents/dispatch-documents.ts',
      'workflows/documents/start-indexing.ts',
      'workflows/documents/sweep-documents.ts',
    ]);
  });

  for (const [starter, start] of Object.entries(STARTERS))
    for (const kind of ['index', 'copy'] as const)
      it(`are found in the view of the papers: one by ${starter} (${kind})`, async () => {
        const stage = await openStage();
        const name = await start(stage, kind);
        const query = await viewOf(stage.partition);
        const memo = await until('the view shows it', async () => {
          for await (const run of stage.client.workflow.list({ query })) return run.memo;
          return null;
        });
        expect(memo).toEqual({ task_id: `task-${name}`, partition: stage.partition, file_id: name });
      }, 60_000);
});

describe('search attributes', () => {
  const indexing = (stage: Stage): Promise<Record<string, unknown>> =>
    until('an indexing is listed', async () => {
      const query = `WorkflowId STARTS_WITH "${stage.config.temporal.prefix}" AND WorkflowType = "indexDocument"`;
      for await (const { typedSearchAttributes } of stage.client.workflow.list({ query }))
        return Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
      return null;
    });

  it('name no partition where payloads are encrypted', async () => {
    const stage = await openStage({
      SECRETS_KEY: randomBytes(32).toString('base64'),
      TEMPORAL_ENCRYPT_PAYLOADS: 'true',
    });
    stage.wait(false);
    await stage.gateway.notifyDispatcher();
    const attributes = await indexing(stage);
    expect(attributes).toMatchObject({ TamisKind: 'index-document' });
    expect(attributes).not.toHaveProperty('TamisPartition');
  }, 60_000);

  it('are not given by a plan that was started without', async () => {
    const stage = await openStage();
    const { prefix } = stage.config.temporal;
    stage.wait(false);
    await new Client({ connection }).workflow.start('dispatchDocuments', {
      workflowId: dispatchWorkflowId(prefix),
      taskQueue: taskQueues(prefix).documents,
      args: [{ prefix, timeoutMs: 60_000 }],
    });
    expect(await indexing(stage)).not.toHaveProperty('TamisKind');
  }, 60_000);

  it('are left out where the namespace does not know them, and all is done without', async () => {
    const { temporal } = configOf({ TEMPORAL_NAMESPACE: WITHOUT_ATTRIBUTES });
    await ensureNamespace(connection, temporal);
    const stage = await openStage({ TEMPORAL_NAMESPACE: WITHOUT_ATTRIBUTES });
    await expect(stage.client.workflow.count('TamisKind = "index-document"')).rejects.toThrow();
    for (const start of Object.values(STARTERS)) {
      const name = await start(stage, 'index');
      await until(`${name} has failed`, async () => {
        const query = `WorkflowId STARTS_WITH "${stage.config.temporal.prefix}" AND ExecutionStatus = "Failed"`;
        for await (const { memo } of stage.client.workflow.list({ query }))
          if (memo?.['file_id'] === name) return true;
        return false;
      });
    }
  }, 120_000);
});
