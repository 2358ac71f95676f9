import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { NativeConnection, WorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import { createAlertUpkeepActivities } from '../activities/signals/alert-upkeep-activities.js';
import { UNMEASURED } from '../activities/ports/meter.js';
import type { Meter } from '../activities/ports/meter.js';
import type { Tracer } from '../activities/ports/tracer.js';
import type { WorkerAdapters, WorkerDocumentAdapters } from '../activities/ports/adapters.js';
import { createBackupActivities } from '../activities/backups/backup-activities.js';
import { createImportActivities } from '../activities/imports/import-activities.js';
import { createCallbackActivities } from '../activities/documents/callback-activities.js';
import { createCopyActivities } from '../activities/documents/copy-activities.js';
import { createDocumentActivities } from '../activities/documents/document-activities.js';
import { createEmbeddingActivities } from '../activities/documents/embedding-activities.js';
import { createEnrichmentActivities } from '../activities/documents/enrichment-activities.js';
import { createIndexAtOnce } from '../activities/documents/index-at-once.js';
import { createParserPool } from '../activities/documents/parsing/parser-pool.js';
import type { ParserPool } from '../activities/documents/parsing/parser-pool.js';
import { createPublisher } from '../activities/documents/publish-version.js';
import { createForwardingActivities } from '../activities/signals/forwarding-activities.js';
import { createMigrationActivities } from '../activities/migrations/migration-activities.js';
import { createMetricsActivities } from '../activities/signals/metrics-activities.js';
import { createPartitionActivities } from '../activities/documents/partition-activities.js';
import { createEvaluationActivities } from '../activities/retrieval/evaluation/evaluation-activities.js';
import { createChatService } from '../activities/retrieval/chat/chat-service.js';
import { createSearchService } from '../activities/retrieval/search/search-service.js';
import { createSwapActivities } from '../activities/documents/swap-activities.js';
import { createSweepActivities } from '../activities/documents/sweep-activities.js';
import type { Warnings } from '../activities/temporal/ask-temporal.js';
import { temporalDataConverter } from '../activities/temporal/data-converter.js';
import type { Config } from '../schemas/config/config.js';
import { taskQueues } from '../schemas/task-queues.js';
import { createActivityInterceptors } from './activity-interceptor.js';
import { deploymentOptions } from './deployment.js';
import { createIndexingPlans } from './indexing-plans.js';
import { workflowBundle as ownBundle } from './workflow-bundle.js';
import { createWorkerPool } from './worker-pool.js';
import type { WorkerPool } from './worker-pool.js';

export interface WorkerDeps {
  config: Config;
  connection: NativeConnection;
  client: Pick<Client, 'workflow'>;
  adapters: WorkerAdapters;
  scratchDirectory: string;
  /** Instead of the one that belongs to this code. */
  workflowBundle?: WorkflowBundleOption;
  meter?: Meter;
  tracer?: Tracer | null;
  /** Where it is told that something is left to the sweep. */
  log?: Warnings;
  onFailure: Parameters<typeof createActivityInterceptors>[0];
  onDone?: Parameters<typeof createActivityInterceptors>[1];
}

/** Bytes without an owner wait so long: an upload of many gigabytes may still be running. */
const ORPHAN_GRACE_MS = 24 * 3_600_000;

const SILENT: Warnings = { warn: () => undefined };

/** Null: the side, or the task queue, of that name is not served here. */
export interface WorkerPools {
  documents: DocumentPools | null;
  alerts: WorkerPool | null;
  /** Of the queue of migrations, where documents are not served: there are backups then, and no migrations. */
  backups: WorkerPool | null;
}

interface DocumentPools {
  documents: WorkerPool | null;
  models: WorkerPool | null;
  parser: ParserPool;
  migrations: WorkerPool | null;
}

/** The first worker is made at once. */
async function pool(options: WorkerOptions): Promise<WorkerPool> {
  const create = (): Promise<Worker> => Worker.create(options);
  return createWorkerPool(await create(), create);
}

type Common = Partial<WorkerOptions> & Pick<WorkerOptions, 'connection' | 'namespace'>;

/**
 * One worker per resource profile: `documents` parses and writes records, `models` waits for models, `alerts` waits
 * for the central API, `migrations` rewrites what is stored, makes and restores backups, and imports.
 * WORKER_TASK_QUEUES names those that this process has.
 */
export async function createWorkers(deps: WorkerDeps): Promise<WorkerPools> {
  const { config, adapters, connection } = deps;
  const common: Common = {
    connection,
    namespace: config.temporal.namespace,
    dataConverter: temporalDataConverter(config),
    // Activities in progress may end; what takes longer is taken up by another worker from its cursor.
    shutdownGraceTime: '10 seconds',
    shutdownForceTime: '15 seconds',
    // A cancel reaches an activity with its next heartbeat: within this time.
    maxHeartbeatThrottleInterval: '1 second',
    interceptors: {
      activity: [
        createActivityInterceptors(deps.onFailure, deps.onDone ?? (() => undefined), deps.tracer ?? null),
      ],
    },
    ...deploymentOptions(config.temporal.prefix, config.worker.buildId),
  };
  const workflowBundle = deps.workflowBundle ?? (await ownBundle(config.temporal.encryptPayloads));
  const { documents, proxy } = adapters;
  return {
    documents:
      documents === null ? null : await createDocumentPools(deps, { ...common, workflowBundle }, documents),
    alerts:
      proxy === null || !config.worker.taskQueues.includes('alerts')
        ? null
        : await createAlertPool(deps, { ...common, workflowBundle }, proxy),
    backups:
      documents !== null || proxy === null || !config.worker.taskQueues.includes('migrations')
        ? null
        : await pool({
            ...common,
            workflowBundle,
            taskQueue: taskQueues(config.temporal.prefix).migrations,
            activities: createBackupActivities({
              adapters: adapters.backedUp,
              settings: { keep: config.backups.keep, scratchDirectory: deps.scratchDirectory },
            }),
          }),
  };
}

async function createDocumentPools(
  { config, client, scratchDirectory, meter = UNMEASURED, log = SILENT }: WorkerDeps,
  { workflowBundle, ...common }: Common & Required<Pick<WorkerOptions, 'workflowBundle'>>,
  adapters: WorkerDocumentAdapters,
): Promise<DocumentPools> {
  const queues = taskQueues(config.temporal.prefix);
  const parser = createParserPool({
    size: config.parsing.concurrency,
    totalMemoryMb: config.parsing.totalMemoryMb,
    limits: {
      timeoutMs: config.parsing.timeoutSeconds * 1000,
      memoryMb: config.parsing.memoryMb,
      maxPages: config.parsing.maxPages,
      maxOcrPages: config.parsing.maxOcrPages,
      ocrLanguages: config.parsing.ocrLanguages,
    },
  });
  const publish = createPublisher(adapters, { keepUploads: config.documents.saveUploadedFiles, meter });
  const serve = async (queue: keyof typeof queues, options: Partial<WorkerOptions>) =>
    config.worker.taskQueues.includes(queue)
      ? await pool({ ...common, ...options, taskQueue: queues[queue] })
      : null;
  // Some are read, others wait for a model or for a refresh: as many small ones as a model takes in one request.
  const atWork = config.parsing.concurrency + 24;
  const documents = await serve('documents', {
    workflowBundle,
    activities: {
      ...createDocumentActivities({
        adapters,
        parser,
        publish,
        indexAtOnce: createIndexAtOnce(adapters, publish, meter),
        meter,
        settings: {
          chunkSize: config.documents.chunkSize,
          chunkOverlapRate: config.documents.chunkOverlapRate,
          scratchDirectory,
          keepUploads: config.documents.saveUploadedFiles,
          defaultFileQuota: config.documents.defaultFileQuota,
          ocrLanguages: config.parsing.ocrLanguages,
        },
      }),
      ...createPartitionActivities({ adapters }),
      ...createCopyActivities({
        adapters,
        settings: { defaultFileQuota: config.documents.defaultFileQuota },
      }),
      ...createCallbackActivities({
        adapters,
        settings: { graceMs: config.documents.sweepGraceSeconds * 1000 },
      }),
      ...createSweepActivities({
        adapters,
        plans: createIndexingPlans(client, config.temporal.prefix),
        settings: {
          graceMs: config.documents.sweepGraceSeconds * 1000,
          timeoutMs: config.documents.taskTimeoutMs,
          orphanGraceMs: ORPHAN_GRACE_MS,
          runningPerUser: config.documents.maxRunningTasksPerUser,
        },
      }),
    },
    maxConcurrentActivityTaskExecutions: atWork,
    // Small texts have as many, within tasks of their plans: each holds one of these, and the short ones pass beside.
    maxConcurrentLocalActivityExecutions: atWork,
    maxConcurrentWorkflowTaskExecutions: 100,
  });
  const asking = askingServices(config, adapters, log);
  const models = await serve('models', {
    activities: {
      ...createEmbeddingActivities({ adapters, publish, meter }),
      ...createSwapActivities({ adapters, search: asking.search }),
      ...createEvaluationActivities({ adapters, ...asking }),
      ...createEnrichmentActivities({
        adapters,
        meter,
        settings: { timeoutMs: config.documents.contextualizationTimeoutSeconds * 1000 },
      }),
    },
    // More than any model is asked at a time: a small document is published here too, and waits for a refresh.
    maxConcurrentActivityTaskExecutions: 16,
  });
  const migrations = await serve('migrations', {
    workflowBundle,
    activities: {
      ...createMigrationActivities(adapters.migrations),
      ...createBackupActivities({ adapters, settings: { keep: config.backups.keep, scratchDirectory } }),
      ...createImportActivities({ adapters, config, log }),
    },
    maxConcurrentActivityTaskExecutions: 4,
  });
  return { documents, models, migrations, parser };
}

/** Search and chat as the gateway has them, but for what only a client's own words ask for. */
function askingServices(config: Config, adapters: WorkerDocumentAdapters, log: Warnings) {
  const search = createSearchService({ ...adapters, log, settings: config.search });
  const chat = createChatService({
    ...adapters,
    search,
    overrides: { languageModel: async (_override, endpoint) => adapters.models.languageModel(endpoint) },
    web: null,
    settings: config.chat,
    now: () => new Date(),
  });
  return { search, chat };
}

function createAlertPool(
  { config, meter = UNMEASURED }: WorkerDeps,
  common: Common & Required<Pick<WorkerOptions, 'workflowBundle'>>,
  proxy: NonNullable<WorkerAdapters['proxy']>,
): Promise<WorkerPool> {
  const forwarding = {
    enabled: config.proxy.forwardEnabled,
    paceMs: config.proxy.paceMs,
    graceMs: config.documents.sweepGraceSeconds * 1000,
  };
  return pool({
    ...common,
    taskQueue: taskQueues(config.temporal.prefix).alerts,
    activities: {
      ...createForwardingActivities({ ...proxy, meter, settings: forwarding }),
      ...createMetricsActivities({ ...proxy, settings: forwarding }),
      ...createAlertUpkeepActivities(proxy),
    },
    // Each watcher occupies one while its signals flow, and does little but wait.
    maxConcurrentActivityTaskExecutions: 200,
  });
}
