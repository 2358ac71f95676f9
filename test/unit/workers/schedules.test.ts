import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { parseConfig } from '../../../schemas/config/config.js';
import { retainAlertsScheduleId, retainQuarantineScheduleId } from '../../../schemas/ids.js';
import { ensureSchedules } from '../../../workers/schedules.js';

const PREFIX = 'schedules-';
const NOT_FOUND = Object.assign(new Error('not found'), { code: 5, details: '', metadata: {} });
const OF_SIGNALS = [retainAlertsScheduleId(PREFIX), retainQuarantineScheduleId(PREFIX)];

/** The schedules that a worker makes and removes when it starts, on a Temporal that knows none. */
async function startedWith(environment: Record<string, string>) {
  const made: string[] = [];
  const removed: string[] = [];
  const client = {
    options: { loadedDataConverter: {} },
    workflowService: { describeSchedule: () => Promise.reject(NOT_FOUND) },
    schedule: {
      create: async ({ scheduleId }: { scheduleId: string }) => made.push(scheduleId),
      getHandle: (id: string) => ({ delete: async () => removed.push(id) }),
    },
  };
  const config = parseConfig({
    AUTH_TOKEN: randomBytes(16).toString('hex'),
    TASK_QUEUE_PREFIX: PREFIX,
    ...environment,
  });
  await ensureSchedules(client as unknown as Client, config);
  return { made: made.filter((id) => OF_SIGNALS.includes(id)), removed };
}

describe('the schedules of the retention of signals', () => {
  const SECRETS_KEY = randomBytes(32).toString('base64');
  const FOR_GOOD = { RETENTION_DAYS: '0', QUARANTINE_RETENTION_DAYS: '0' };

  it('are made by a worker that serves signals, or removed where they are kept for good', async () => {
    const days = { RETENTION_DAYS: '10', QUARANTINE_RETENTION_DAYS: '20' };
    expect(await startedWith({ SECRETS_KEY, ...days })).toEqual({ made: OF_SIGNALS, removed: [] });
    expect(await startedWith({ SECRETS_KEY, ...FOR_GOOD })).toEqual({ made: [], removed: OF_SIGNALS });
  });

  it.each<[string, Record<string, string>]>([
    ['without SECRETS_KEY', {}],
    ['without the proxy', { SECRETS_KEY, SERVICES: 'documents' }],
  ])('are left alone by one that serves none (%s)', async (_why, environment) => {
    expect(await startedWith(environment)).toEqual({ made: [], removed: [] });
    expect(await startedWith({ ...environment, ...FOR_GOOD })).toEqual({ made: [], removed: [] });
  });
});
