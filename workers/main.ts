import { rm } from 'node:fs/promises';
import { connectWorker } from '../activities/connect.js';
import type { WorkerStore } from '../activities/ports/tasks.js';
import { createLogger, logModelCalls, logTracing } from '../activities/create-logger.js';
import { createMetrics, watchProcess } from '../activities/metrics.js';
import { openTracing, tracedMeter } from '../activities/tracing.js';
import { createScratchDirectory } from '../activities/documents/parsing/scratch-directory.js';
import { keepMemoryLow } from '../activities/keep-memory-low.js';
import { ConfigError, EX_CONFIG } from '../schemas/config/config-error.js';
import { parseConfig } from '../schemas/config/config.js';
import { unreadVariableNotes } from '../schemas/config/environment.js';
import { readEnvironment } from '../schemas/config/read-environment.js';
import { accessProblemOf } from '../schemas/engine-access.js';
import { connectTemporal, createClient, ensureNamespace } from './connect-temporal.js';
import { createWorkers } from './create-workers.js';
import type { WorkerPools } from './create-workers.js';
import type { WorkerPoolName } from '../schemas/worker-pools.js';
import { reportWorker } from './report-worker.js';
import { ensureSchedules } from './schedules.js';
import { installRuntime } from './install-runtime.js';
import { serveMetrics } from './serve-metrics.js';
import { keepHealthFile } from './health-file.js';
import { startPendingMigrations } from './pending-migrations.js';
import { setNiceness } from './niceness.js';
import { startUpkeep } from './upkeep.js';

/** What a signal to stop does. Until workers run there is nothing to hand back; the next start clears its folder. */
let stop: () => void = () => process.exit(0);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop());

async function main(): Promise<void> {
  const environment = readEnvironment(process.env);
  const config = parseConfig(environment);
  keepMemoryLow();
  setNiceness(config.worker.niceness);
  const logger = createLogger(config.log, 'worker');
  for (const note of unreadVariableNotes(environment)) logger.warn(note);
  const { metricsPort } = config.worker;
  const sdkUrl = await installRuntime(logger, metricsPort !== null);
  const tracer = await openTracing(config, 'worker', logTracing(logger));
  const metrics = createMetrics(logModelCalls(logger));
  const meter = tracedMeter(metrics.meter, tracer);
  if (metricsPort !== null) watchProcess(metrics);
  // Before anything is begun: a port that is taken ends the process.
  const metricsServer =
    metricsPort === null
      ? null
      : await serveMetrics({ config, metrics, host: config.http.host, port: metricsPort, sdkUrl });
  const scratchDirectory = await createScratchDirectory('worker');
  const reportDocuments = (workers: WorkerStore, pools: NonNullable<WorkerPools['documents']>) => {
    const renewals: Record<WorkerPoolName, () => void> = {
      TaskStateManager: () => undefined,
      MarkerPool: () => pools.parser.renew(),
      SerializerQueue: () => pools.documents?.renew(),
      llmSemaphore: () => pools.models?.renew(),
      vlmSemaphore: () => pools.models?.renew(),
    };
    return reportWorker({
      workers,
      slots: pools.documents === null ? 0 : config.parsing.concurrency,
      renew(pool) {
        logger.info({ pool }, 'making a pool anew');
        renewals[pool]();
      },
      onError: (error) => logger.warn({ err: error }, 'the worker could not report itself'),
    });
  };
  const adapters = await connectWorker(config, meter);
  const { connection, clientConnection } = await connectTemporal(config.temporal);
  await ensureNamespace(clientConnection, config.temporal, (namespace) =>
    logger.info({ namespace }, 'namespace made'),
  );
  const client = createClient(clientConnection, config);
  const pools = await createWorkers({
    config,
    connection,
    client,
    adapters,
    scratchDirectory,
    meter,
    tracer,
    log: logger,
    onFailure: ({ error, ...activity }) => logger.warn({ ...activity, err: error }, 'activity failed'),
    onDone: (activity) => logger.debug(activity, 'activity'),
  });
  await ensureSchedules(client, config, (schedule) =>
    logger.error(
      { schedule },
      'SECRETS_KEY: no key opens what this schedule starts; remove it and set it anew',
    ),
  );
  const endUpkeep = await startUpkeep(client, config, (error) =>
    logger.warn({ err: error }, 'the upkeep workflows could not be told'),
  );
  // Without documents no worker serves the queue of migrations.
  const endMigrations = startPendingMigrations(
    {
      client,
      prefix: config.temporal.prefix,
      onError: (error) => logger.warn({ err: error }, 'pending migrations could not be started'),
    },
    adapters.documents?.migrations.migrations ?? [],
  );
  const { documents: documentPools, alerts, backups } = pools;
  const all = [
    documentPools?.documents,
    documentPools?.models,
    documentPools?.migrations,
    alerts,
    backups,
  ].filter((pool) => pool != null);
  stop = () => {
    for (const pool of all) pool.stop();
  };
  const runs = all.map((pool) => pool.run());
  const endReports =
    adapters.documents === null || pools.documents === null
      ? async () => undefined
      : reportDocuments(adapters.documents.workers, pools.documents);
  logger.info(
    { prefix: config.temporal.prefix, ...(metricsServer && { metrics_port: metricsServer.port }) },
    'worker ready',
  );
  const endLife = keepHealthFile(config.worker.healthFile, () => all.every((pool) => pool.isRunning()));
  try {
    // When one of them fails the others must not go on half.
    await Promise.all(runs).finally(() => stop());
    await Promise.allSettled(runs);
  } finally {
    endLife();
    endUpkeep();
    endMigrations();
    await endReports();
    await metricsServer?.close();
    await pools.documents?.parser.close();
    await clientConnection.close();
    await connection.close();
    await adapters.close();
    await tracer?.close();
    await rm(scratchDirectory, { recursive: true, force: true });
  }
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    process.exit(EX_CONFIG);
  }
  const problem = accessProblemOf(error);
  process.stderr.write(
    `${JSON.stringify({ level: 'fatal', msg: problem?.message ?? 'worker stopped', err: String(error), stack: (error as Error)?.stack })}\n`,
  );
  process.exit(1);
});
