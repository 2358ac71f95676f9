import { Worker } from '@temporalio/worker';
import type { NativeConnection, WorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import { createAlertUpkeepActivities } from '../activities/alert-upkeep-activities.js';
import type { ConnectedAdapters } from '../activities/connect.js';
import { createDocumentActivities } from '../activities/document-activities.js';
import { createEmbeddingActivities } from '../activities/embedding-activities.js';
import type { ParserPool } from '../activities/parsing/parser-pool.js';
import { createForwardingActivities } from '../activities/forwarding-activities.js';
import { createMetricsActivities } from '../activities/metrics-activities.js';
import { createSweepActivities } from '../activities/sweep-activities.js';
import type { Config } from '../schemas/config.js';
import { taskQueues } from '../schemas/task-queues.js';
import { createActivityInterceptors } from './activity-interceptor.js';
import { workflowBundle as ownBundle } from './workflow-bundle.js';

export interface WorkerDeps {
  config: Config;
  connection: NativeConnection;
  adapters: ConnectedAdapters;
  parser: ParserPool;
  scratchDirectory: string;
  /** Instead of the one that belongs to this code. */
  workflowBundle?: WorkflowBundleOption;
  onFailure: Parameters<typeof createActivityInterceptors>[0];
}

/** Bytes without an owner wait so long: an upload of many gigabytes may still be running. */
const ORPHAN_GRACE_MS = 24 * 3_600_000;

/**
 * One worker per resource profile: `documents` parses and writes records, `models` waits for models, `alerts` waits
 * for the central API.
 */
export const createWorkers = async (deps: WorkerDeps): Promise<Worker[]> => {
  const { config, adapters, connection } = deps;
  const queues = taskQueues(config.temporal.prefix);
  const common = {
    connection,
    namespace: config.temporal.namespace,
    // Activities in progress may end; what takes longer is taken up by another worker from its cursor.
    shutdownGraceTime: '10 seconds',
    shutdownForceTime: '15 seconds',
    // A cancel reaches an activity with its next heartbeat: within this time.
    maxHeartbeatThrottleInterval: '1 second',
    interceptors: { activity: [createActivityInterceptors(deps.onFailure)] },
  } as const satisfies Partial<WorkerOptions>;

  const workflowBundle = deps.workflowBundle ?? (await ownBundle());

  const documents = await Worker.create({
    ...common,
    taskQueue: queues.documents,
    workflowBundle,
    activities: {
      ...createDocumentActivities({
        adapters,
        parser: deps.parser,
        settings: {
          chunkSize: config.documents.chunkSize,
          chunkOverlapRate: config.documents.chunkOverlapRate,
          scratchDirectory: deps.scratchDirectory,
          keepUploads: config.documents.saveUploadedFiles,
        },
      }),
      ...createSweepActivities({
        adapters,
        settings: {
          graceMs: config.documents.sweepGraceSeconds * 1000,
          timeoutMs: config.documents.taskTimeoutHours * 3_600_000,
          orphanGraceMs: ORPHAN_GRACE_MS,
        },
      }),
    },
    maxConcurrentActivityTaskExecutions: config.parsing.concurrency + 8,
  });
  const models = await Worker.create({
    ...common,
    taskQueue: queues.models,
    activities: createEmbeddingActivities({ adapters }),
    maxConcurrentActivityTaskExecutions: 8,
  });
  if (adapters.proxy === null) return [documents, models];
  const forwarding = {
    enabled: config.proxy.forwardEnabled,
    graceMs: config.documents.sweepGraceSeconds * 1000,
  };
  const alerts = await Worker.create({
    ...common,
    taskQueue: queues.alerts,
    workflowBundle,
    activities: {
      ...createForwardingActivities({ ...adapters.proxy, settings: forwarding }),
      ...createMetricsActivities({ ...adapters.proxy, settings: forwarding }),
      ...createAlertUpkeepActivities(adapters.proxy),
    },
    // Each watcher has one batch under way at most, and a batch does nothing but wait.
    maxConcurrentActivityTaskExecutions: 100,
  });
  return [documents, models, alerts];
};
