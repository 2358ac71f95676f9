import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection, defaultPayloadConverter } from '@temporalio/client';
import { forgetRun } from '../../deploy/local/forget-run.js';
import { parseConfig } from '../../schemas/config/config.js';
import type { Config } from '../../schemas/config/config.js';
import {
  formerScheduleIds,
  reconcileScheduleId,
  retainAlertsScheduleId,
  retainQuarantineScheduleId,
  retainRecordsScheduleId,
  upkeepDocumentsWorkflowId,
  upkeepSignalsWorkflowId,
} from '../../schemas/ids.js';
import { ensureSchedules } from '../../workers/schedules.js';
import { startUpkeep } from '../../workers/upkeep.js';
import { until } from '../support/until.js';

let connection: Connection;
let client: Client;
const used: string[] = [];

beforeAll(async () => {
  connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS']! });
  client = new Client({ connection });
});
afterAll(async () => {
  for (const prefix of used)
    await forgetRun(
      {
        temporal: process.env['TEMPORAL_ADDRESS']!,
        mongodb: process.env['MONGODB_URL']!,
        opensearch: process.env['OPENSEARCH_URL']!,
      },
      { database: `tamis-${prefix}`, indexPrefix: `tamis-${prefix}`, queuePrefix: prefix },
    );
  await connection.close();
});

function parsedConfig(prefix: string, changes: Record<string, string>): Config {
  return parseConfig({
    TASK_QUEUE_PREFIX: prefix,
    TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS']!,
    AUTH_TOKEN: randomBytes(16).toString('hex'),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ...changes,
  });
}

/** An installation of its own; `again` is what a worker does at its start. */
function install() {
  const prefix = `upkeep-${process.pid}-${randomBytes(4).toString('hex')}-`;
  used.push(prefix);
  return {
    prefix,
    async startWorker(changes: Record<string, string> = {}): Promise<void> {
      const config = parsedConfig(prefix, changes);
      await ensureSchedules(client, config);
      const end = await startUpkeep(client, config, () => undefined);
      end();
    },
  };
}

/** What became of the workflow's present run: its input, and the signals that it got, in order. */
async function historyOf(workflowId: string) {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const payloads = (list: unknown): unknown =>
    (
      list as { payloads?: Parameters<typeof defaultPayloadConverter.fromPayload>[0][] } | null | undefined
    )?.payloads?.map((payload) => defaultPayloadConverter.fromPayload(payload))[0];
  return {
    input: payloads(events?.[0]?.workflowExecutionStartedEventAttributes?.input),
    signals: (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
      signal == null ? [] : [[signal.signalName, payloads(signal.input)]],
    ),
  };
}

async function runOf(workflowId: string): Promise<{ runId: string; status: string }> {
  const { runId, status } = await client.workflow.getHandle(workflowId).describe();
  return { runId, status: status.name };
}

function exists(scheduleId: string): Promise<boolean> {
  return client.schedule
    .getHandle(scheduleId)
    .describe()
    .then(
      () => true,
      (error: unknown) => {
        if ((error as Error).name !== 'ScheduleNotFoundError') throw error;
        return false;
      },
    );
}

describe('the upkeep', () => {
  it('is one open workflow for each job, however many workers start, and they tell it their configuration', async () => {
    const { prefix, startWorker } = install();
    await Promise.all([startWorker(), startWorker(), startWorker()]);
    const ids = [upkeepDocumentsWorkflowId(prefix), upkeepSignalsWorkflowId(prefix)];
    const before = await Promise.all(ids.map(runOf));
    expect(before.map(({ status }) => status)).toEqual(['RUNNING', 'RUNNING']);
    await startWorker({ SWEEP_INTERVAL_SECONDS: '7' });
    expect(await Promise.all(ids.map(runOf))).toEqual(before);
    const { input, signals } = await historyOf(ids[0]!);
    expect(input).toMatchObject({ prefix, everyMs: 30_000, operator: { paused: false } });
    expect(signals).toHaveLength(4);
    expect(signals.at(-1)).toEqual(['configure', expect.objectContaining({ everyMs: 7000 })]);
  });

  it('is started again by the next worker when somebody terminated it', async () => {
    const { prefix, startWorker } = install();
    await startWorker();
    const id = upkeepSignalsWorkflowId(prefix);
    const { runId } = await runOf(id);
    await client.workflow.getHandle(id).terminate('by hand');
    await startWorker();
    const after = await runOf(id);
    expect([after.status, after.runId === runId]).toEqual(['RUNNING', false]);
  });

  it('takes the place of the schedules of an earlier release, and stays paused where they were', async () => {
    const { prefix, startWorker } = install();
    const former = formerScheduleIds(prefix);
    for (const scheduleId of Object.values(former))
      await client.schedule.create({
        scheduleId,
        spec: { intervals: [{ every: '1 day' }] },
        action: { type: 'startWorkflow', workflowType: 'countAlerts', taskQueue: `${prefix}nobody` },
        state: { paused: scheduleId === former.sweepDocuments },
      });
    await startWorker();
    await startWorker();
    for (const scheduleId of Object.values(former))
      await until(`${scheduleId} is gone`, async () => !(await exists(scheduleId)));
    const paused = async (id: string) => (await historyOf(id)).input;
    expect(await paused(upkeepDocumentsWorkflowId(prefix))).toMatchObject({ operator: { paused: true } });
    expect(await paused(upkeepSignalsWorkflowId(prefix))).toMatchObject({ operator: { paused: false } });
  });

  it('starts nothing on the queue of the signals without SECRETS_KEY', async () => {
    const { prefix, startWorker } = install();
    await startWorker({ SECRETS_KEY: '' });
    expect((await runOf(upkeepDocumentsWorkflowId(prefix))).status).toBe('RUNNING');
    await expect(runOf(upkeepSignalsWorkflowId(prefix))).rejects.toThrow();
    expect(await exists(retainAlertsScheduleId(prefix))).toBe(false);
    for (const kind of ['tasks', 'callbacks'])
      expect(await exists(retainRecordsScheduleId(prefix, kind))).toBe(true);
  });

  it('gives each kind of record that goes by its age a schedule, while it has an age to go by', async () => {
    const { prefix, startWorker } = install();
    const [alerts, quarantine] = [retainAlertsScheduleId(prefix), retainQuarantineScheduleId(prefix)];
    await startWorker({ RETENTION_DAYS: '0', QUARANTINE_RETENTION_DAYS: '7' });
    const { action } = await client.schedule.getHandle(quarantine).describe();
    expect(action.args).toEqual([{ prefix, quarantineDays: 7 }]);
    expect(await exists(alerts)).toBe(false);
    const tasks = await client.schedule.getHandle(retainRecordsScheduleId(prefix, 'tasks')).describe();
    expect(tasks.action.args).toEqual([{ prefix, of: 'tasks', retentionDays: 30 }]);
    await startWorker({ RETENTION_DAYS: '30', QUARANTINE_RETENTION_DAYS: '0' });
    await until('no schedule of the quarantine', async () => !(await exists(quarantine)));
    expect(await exists(alerts)).toBe(true);
  });
});

describe('a schedule', () => {
  it('keeps what an operator changed, and starts what the configuration says', async () => {
    const { prefix, startWorker } = install();
    await startWorker({ RETENTION_DAYS: '30' });
    const id = retainAlertsScheduleId(prefix);
    const handle = client.schedule.getHandle(id);
    // Temporal applies a change some time after it took it, and one that is taken meanwhile may be written over.
    await handle.update((present) => ({ ...present, spec: { intervals: [{ every: '6 hours' }] } }));
    await until(
      'the interval is six hours',
      async () => (await handle.describe()).spec.intervals?.[0]?.every === 6 * 3_600_000,
    );
    await handle.pause('until the audit is over');
    await until('it is paused', async () => (await handle.describe()).state.paused);
    await startWorker({ RETENTION_DAYS: '10' });
    const { spec, state, action } = await handle.describe();
    expect(spec.intervals?.map(({ every }) => every)).toEqual([6 * 3_600_000]);
    expect(state).toMatchObject({ paused: true, note: 'until the audit is over' });
    expect(action.args).toEqual([{ prefix, retentionDays: 10 }]);
    expect(await exists(reconcileScheduleId(prefix))).toBe(true);
    await startWorker({ RETENTION_DAYS: '0' });
    await until('no retention', async () => !(await exists(id)));
  });

  it('stays paused when an operator pauses it while a worker brings it up to date', async () => {
    const { prefix, startWorker } = install();
    await startWorker({ RETENTION_DAYS: '30' });
    const id = retainAlertsScheduleId(prefix);
    const handle = client.schedule.getHandle(id);
    const isPaused = async (): Promise<boolean> => (await handle.describe()).state.paused;
    let reads = 0;
    const service = new Proxy(client.workflowService, {
      get(target, name) {
        if (name !== 'describeSchedule') {
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        }
        return async (request: Parameters<typeof target.describeSchedule>[0]) => {
          const answer = await target.describeSchedule(request);
          reads += 1;
          if (reads === 1) {
            await handle.pause('between reading and writing');
            await until('it is paused', isPaused);
          }
          return answer;
        };
      },
    });
    const late = Object.create(client, { workflowService: { value: service } }) as Client;
    await ensureSchedules(late, parsedConfig(prefix, { RETENTION_DAYS: '10' }));
    const { state, action } = await handle.describe();
    expect(state).toMatchObject({ paused: true, note: 'between reading and writing' });
    expect(action.args).toEqual([{ prefix, retentionDays: 10 }]);
    expect(reads).toBeGreaterThan(1);
  });
});
