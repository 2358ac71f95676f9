import { ScheduleNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { Config } from '../schemas/config/config.js';
import { formerScheduleIds, upkeepDocumentsWorkflowId, upkeepSignalsWorkflowId } from '../schemas/ids.js';
import { taskQueues } from '../schemas/task-queues.js';

type UpkeepConfig = Pick<Config, 'temporal' | 'documents' | 'secretsKey' | 'services'>;

/** An upkeep workflow that was terminated is started again after so long, or as soon as a worker starts. */
const ENSURE_EVERY_MS = 15 * 60_000;

/** A signal that `workflows/run-upkeep.ts` defines. */
const CONFIGURE = 'configure';

/**
 * Starts the upkeep workflows where they do not run, and tells those that do of this worker's configuration, now and
 * every quarter of an hour. Answers what ends that.
 */
export async function startUpkeep(
  client: Client,
  config: UpkeepConfig,
  onError: (error: unknown) => void,
): Promise<() => void> {
  await replaceFormerSchedules(client, config);
  const timer = setInterval(() => {
    ensureUpkeep(client, config).catch(onError);
  }, ENSURE_EVERY_MS);
  return () => clearInterval(timer);
}

/** What the schedules of an earlier release did the upkeep workflows do; where they were paused these are. */
async function replaceFormerSchedules(client: Client, config: UpkeepConfig): Promise<void> {
  const former = formerScheduleIds(config.temporal.prefix);
  const [documents, signals] = await Promise.all([
    isPaused(client, former.sweepDocuments),
    isPaused(client, former.sweepForwarding),
  ]);
  // First the workflows: a worker that starts at the same moment and finds no schedule finds them.
  await ensureUpkeep(client, config, { documents, signals });
  for (const scheduleId of Object.values(former))
    await client.schedule.getHandle(scheduleId).delete().catch(ignoreMissing);
}

async function isPaused(client: Client, scheduleId: string): Promise<boolean> {
  const found = await client.schedule.getHandle(scheduleId).describe().catch(ignoreMissing);
  return found?.state.paused ?? false;
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof ScheduleNotFoundError)) throw error;
}

async function ensureUpkeep(
  client: Client,
  { temporal: { prefix }, documents, secretsKey, services }: UpkeepConfig,
  paused = { documents: false, signals: false },
): Promise<void> {
  const everyMs = documents.sweepIntervalSeconds * 1000;
  const queues = taskQueues(prefix);
  const ensure = async (
    workflowType: string,
    options: { workflowId: string; taskQueue: string; settings: object; isPaused: boolean },
  ): Promise<void> => {
    const { workflowId, taskQueue, settings } = options;
    const operator = { paused: options.isPaused, everySeconds: null };
    await client.workflow.signalWithStart(workflowType, {
      workflowId,
      taskQueue,
      args: [{ prefix, ...settings, operator }],
      signal: CONFIGURE,
      signalArgs: [settings],
      staticSummary: 'takes up what a crash left; it never ends',
    });
  };
  if (services.documents)
    await ensure('upkeepDocuments', {
      workflowId: upkeepDocumentsWorkflowId(prefix),
      taskQueue: queues.documents,
      settings: { everyMs, timeoutMs: documents.taskTimeoutMs },
      isPaused: paused.documents,
    });
  // Without SECRETS_KEY no worker serves the queue of the signals.
  if (secretsKey === null || !services.proxy) return;
  await ensure('upkeepSignals', {
    workflowId: upkeepSignalsWorkflowId(prefix),
    taskQueue: queues.alerts,
    settings: { everyMs },
    isPaused: paused.signals,
  });
}
