import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection, ScheduleOverlapPolicy } from '@temporalio/client';
import type { ScheduleSteering } from '../../../activities/ports/schedules.js';
import { connectTemporal } from '../../../api/temporal.js';
import { AppError } from '../../../schemas/app-error.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { migrationScheduleId, reconcileScheduleId, scheduleIds } from '../../../schemas/ids.js';
import { reconcileWork, windowWork } from '../../../schemas/migrations/schedules.js';
import { createClient } from '../../../workers/connect-temporal.js';
import { ensureSchedules } from '../../../workers/schedules.js';
import { createFakeSchedules } from '../../support/fakes/migrations/fake-schedules.js';
import { until } from '../../support/until.js';

function code(wanted: string) {
  return (error: unknown) => {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe(wanted);
  };
}

async function refused(call: Promise<unknown>, wanted: string): Promise<void> {
  await call.then(() => {
    throw new Error(`not refused with ${wanted}`);
  }, code(wanted));
}

function newPrefix(): string {
  return `schedules-${process.pid}-${randomBytes(4).toString('hex')}-`;
}

function window(prefix: string, windowMinutes = 60) {
  return windowWork(prefix, { name: 'records', unit: 'records', windowMinutes, pagesPerSecond: 5 });
}

interface Opened {
  prefix: string;
  close(): Promise<void>;
}

async function closeAll(client: Client, opened: readonly Opened[]): Promise<void> {
  for (const { prefix, close } of opened) {
    for (const id of scheduleIds(prefix))
      await client.schedule
        .getHandle(id)
        .delete()
        .catch(() => undefined);
    await close();
  }
}

function contract(open: (prefix: string) => ScheduleSteering): void {
  it('knows none that was not set', async () => {
    const steering = open(newPrefix());
    expect(await steering.describeSchedule('records')).toBeNull();
    await refused(steering.removeSchedule('records'), 'NOT_FOUND');
    await refused(steering.pauseSchedule('records', 'why'), 'NOT_FOUND');
    await refused(steering.resumeSchedule('records', 'why'), 'NOT_FOUND');
    await refused(steering.runSchedule('records'), 'NOT_FOUND');
  });

  it('sets one, and setting it again changes what is asked for alone', async () => {
    const prefix = newPrefix();
    const steering = open(prefix);
    await steering.setSchedule(window(prefix), { cron: '0 3 * * 0', catchUpMinutes: 10, note: 'by night' });
    const first = await steering.describeSchedule('records');
    expect(first).toMatchObject({
      cron: '0 3 * * 0',
      everyMinutes: null,
      paused: false,
      note: 'by night',
      overlap: 'skip',
      catchUpMinutes: 10,
      running: false,
      lastRun: null,
      lastResult: null,
      args: window(prefix).args,
    });
    expect(first?.nextRuns.length).toBeGreaterThan(0);

    await steering.pauseSchedule('records', 'until the audit is over');
    await until('it is paused', async () => (await steering.describeSchedule('records'))?.paused === true);
    await steering.setSchedule(window(prefix, 30), { cron: '@daily', catchUpMinutes: 5 });
    expect(await steering.describeSchedule('records')).toMatchObject({
      cron: '@daily',
      paused: true,
      note: 'until the audit is over',
      catchUpMinutes: 5,
      args: window(prefix, 30).args,
    });
    await steering.setSchedule(window(prefix, 30), { cron: '@daily', catchUpMinutes: 5, paused: false });
    expect(await steering.describeSchedule('records')).toMatchObject({
      paused: false,
      note: 'until the audit is over',
    });

    await steering.removeSchedule('records');
    await until('it is gone', async () => (await steering.describeSchedule('records')) === null);
  });

  it('refuses a line that is no time', async () => {
    const prefix = newPrefix();
    const steering = open(prefix);
    const change = { catchUpMinutes: 1 };
    await refused(
      steering.setSchedule(window(prefix), { ...change, cron: '777 3 * * 0' }),
      'VALIDATION_ERROR',
    );
    expect(await steering.describeSchedule('records')).toBeNull();
    await steering.setSchedule(window(prefix), { ...change, cron: '7 3 * * 0' });
    await refused(
      steering.setSchedule(window(prefix), { ...change, cron: '777 3 * * 0' }),
      'VALIDATION_ERROR',
    );
    expect(await steering.describeSchedule('records')).toMatchObject({ cron: '7 3 * * 0' });
  });
}

describe('fake schedules', () => contract((prefix) => createFakeSchedules(prefix).steering));

describe("Temporal's schedules", () => {
  const opened: Opened[] = [];
  let connection: Connection;
  let client: Client;

  const configOf = (prefix: string, address = process.env['TEMPORAL_ADDRESS']!) =>
    parseConfig({
      TASK_QUEUE_PREFIX: prefix,
      TEMPORAL_ADDRESS: address,
      RETENTION_DAYS: '0',
      AUTH_TOKEN: randomBytes(16).toString('hex'),
    });
  const open = (prefix: string): ScheduleSteering => {
    const steering = connectTemporal(configOf(prefix));
    opened.push({ prefix, close: () => steering.close() });
    return steering;
  };

  beforeAll(async () => {
    connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS']! });
    client = new Client({ connection });
  });
  afterAll(async () => {
    await closeAll(client, opened);
    await connection.close();
  });

  contract(open);

  it('says every hour of what a worker made, and what an operator set survives its next start', async () => {
    const prefix = newPrefix();
    const steering = open(prefix);
    await ensureSchedules(client, configOf(prefix));
    expect(await steering.describeSchedule('reconcile')).toMatchObject({
      cron: null,
      everyMinutes: 60,
      paused: false,
      overlap: 'skip',
      catchUpMinutes: 1,
    });
    await steering.setSchedule(reconcileWork(prefix), {
      cron: '30 */2 * * *',
      catchUpMinutes: 1,
      paused: true,
      note: 'every other hour',
    });
    await ensureSchedules(client, configOf(prefix));
    expect(await steering.describeSchedule('reconcile')).toMatchObject({
      cron: '30 */2 * * *',
      everyMinutes: null,
      paused: true,
      note: 'every other hour',
    });
  });

  it('keeps a pause that comes between its reading and its writing', async () => {
    const prefix = newPrefix();
    const steering = open(prefix);
    await steering.setSchedule(window(prefix), { cron: '0 3 * * 0', catchUpMinutes: 10 });
    const handle = client.schedule.getHandle(migrationScheduleId(prefix, 'records'));
    // Both at once, several times: whichever is first, neither is lost.
    for (let minute = 1; minute <= 5; minute += 1) {
      const note = `pause ${minute}`;
      await Promise.all([
        steering.setSchedule(window(prefix), { cron: `${minute} 3 * * 0`, catchUpMinutes: 10 }),
        handle.pause(note),
      ]);
      await until('both are there', async () => {
        const state = await steering.describeSchedule('records');
        return state?.paused === true && state.note === note && state.cron === `${minute} 3 * * 0`;
      });
      await handle.unpause('again');
      await until('it goes on', async () => !(await handle.describe()).state.paused);
    }
  });

  it('starts one run at the word of an operator', async () => {
    const prefix = newPrefix();
    const steering = open(prefix);
    await client.schedule.create({
      scheduleId: reconcileScheduleId(prefix),
      spec: { intervals: [{ every: '1 day' }] },
      action: {
        type: 'startWorkflow',
        workflowType: 'reconcileDocuments',
        taskQueue: `${prefix}nobody`,
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP },
    });
    await steering.runSchedule('reconcile');
    await until('it runs', async () => (await steering.describeSchedule('reconcile'))?.running === true);
    const [running] = (await client.schedule.getHandle(reconcileScheduleId(prefix)).describe()).info
      .runningActions;
    expect((await steering.describeSchedule('reconcile'))?.lastRun).toBeInstanceOf(Date);
    await client.workflow.getHandle(running!.workflow.workflowId).terminate('the test is over');
  });

  it('says that Temporal is away', async () => {
    const steering = connectTemporal(configOf(newPrefix(), '127.0.0.1:9'));
    try {
      await Promise.all(
        [
          steering.describeSchedule('records'),
          steering.pauseSchedule('records', 'why'),
          steering.setSchedule(window('x'), { cron: '@daily', catchUpMinutes: 1 }),
        ].map((call) => refused(call, 'SERVICE_UNAVAILABLE')),
      );
    } finally {
      await steering.close();
    }
  });
});

describe('schedules under TEMPORAL_ENCRYPT_PAYLOADS', () => {
  const opened: Opened[] = [];
  let connection: Connection;

  interface Keys {
    present: string;
    former?: string;
    encrypts?: boolean;
  }
  const configOf = (prefix: string, { present, former = '', encrypts = true }: Keys) =>
    parseConfig({
      TASK_QUEUE_PREFIX: prefix,
      TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS']!,
      TEMPORAL_ENCRYPT_PAYLOADS: String(encrypts),
      SECRETS_KEY: present,
      SECRETS_KEY_PREVIOUS: former,
      AUTH_TOKEN: randomBytes(16).toString('hex'),
    });
  const newKey = (): string => randomBytes(32).toString('base64');
  const open = (prefix: string, keys: Keys): ScheduleSteering => {
    const steering = connectTemporal(configOf(prefix, keys));
    opened.push({ prefix, close: () => steering.close() });
    return steering;
  };
  /** What a worker with these keys does when it starts; answers the schedules that it cannot read. */
  const startWorker = async (prefix: string, keys: Keys): Promise<string[]> => {
    const config = configOf(prefix, keys);
    const unreadable: string[] = [];
    await ensureSchedules(createClient(connection, config), config, (id) => unreadable.push(id));
    return unreadable;
  };
  /** How Temporal keeps the arguments of a schedule: `plain`, or the id of the key. */
  const formOf = async (scheduleId: string): Promise<string> => {
    const asked = { namespace: 'default', scheduleId };
    const { schedule } = await connection.workflowService.describeSchedule(asked);
    const [payload] = schedule?.action?.startWorkflow?.input?.payloads ?? [];
    return Buffer.from(payload?.metadata?.['encryption-key-id'] ?? []).toString() || 'plain';
  };

  beforeAll(async () => {
    connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS']! });
  });
  afterAll(async () => {
    await closeAll(new Client({ connection }), opened);
    await connection.close();
  });

  contract((prefix) => open(prefix, { present: newKey() }));

  it('are read by the next worker, and written with its key and in its way', async () => {
    const prefix = newPrefix();
    const [first, second] = [newKey(), newKey()];
    const ids = [reconcileScheduleId(prefix), migrationScheduleId(prefix, 'records')];
    const forms = () => Promise.all(ids.map(formOf));
    const settled = async (what: string, isReached: (forms: string[]) => boolean): Promise<string[]> =>
      until(what, async () => {
        const present = await forms();
        return isReached(present) && present;
      });
    const steering = open(prefix, { present: first });
    await startWorker(prefix, { present: first });
    await steering.setSchedule(window(prefix), { cron: '0 3 * * 0', catchUpMinutes: 10, note: 'by night' });
    const [byFirst] = await settled('one key has written both', ([one, other]) => one === other);
    expect(byFirst).not.toBe('plain');

    expect(await startWorker(prefix, { present: first })).toEqual([]);
    expect(await forms()).toEqual([byFirst, byFirst]);

    expect(await startWorker(prefix, { present: second, former: first })).toEqual([]);
    await settled('the second key has written both', ([one, other]) => one === other && one !== byFirst);
    const after = open(prefix, { present: second });
    expect(await after.describeSchedule('records')).toMatchObject({
      cron: '0 3 * * 0',
      note: 'by night',
      args: window(prefix).args,
    });

    expect(await startWorker(prefix, { present: second, encrypts: false })).toEqual([]);
    await settled('both are plain', (present) => present.every((form) => form === 'plain'));
  });

  it('that no key opens any more are named and left, and a worker writes its own anew', async () => {
    const prefix = newPrefix();
    await startWorker(prefix, { present: newKey() });
    await open(prefix, { present: newKey() }).setSchedule(window(prefix), {
      cron: '0 3 * * 0',
      catchUpMinutes: 10,
    });
    const last = newKey();
    const records = migrationScheduleId(prefix, 'records');
    const kept = await formOf(records);
    expect(await startWorker(prefix, { present: last })).toEqual([records]);
    expect(await formOf(records)).toBe(kept);
    const steering = open(prefix, { present: last });
    expect(await steering.describeSchedule('records')).toMatchObject({ cron: '0 3 * * 0', args: [null] });
    expect(await steering.describeSchedule('reconcile')).toMatchObject({ args: reconcileWork(prefix).args });
    await steering.setSchedule(window(prefix), { cron: '0 3 * * 0', catchUpMinutes: 10 });
    expect(await startWorker(prefix, { present: last })).toEqual([]);
  });
});
