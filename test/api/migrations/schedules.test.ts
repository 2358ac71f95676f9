import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcileScheduleId } from '../../../schemas/ids.js';
import { askJson } from '../support/ask-json.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

let gateway: Gateway;
let ada: string;
beforeEach(async () => {
  gateway = await startGateway({ env: { TASK_QUEUE_PREFIX: 'here-' } });
  ada = gateway.addUser('ada').token;
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = ADMIN_TOKEN) {
  return askJson(gateway, method, path, { body, token });
}

const FORBIDDEN = [403, { detail: 'Admin privileges required' }];

it('is for administrators', async () => {
  expect(await ask('GET', '/admin/schedules', undefined, ada)).toEqual(FORBIDDEN);
  expect(await ask('PUT', '/admin/schedules/reconcile', { cron: '@daily' }, ada)).toEqual(FORBIDDEN);
  expect(await ask('DELETE', '/admin/schedules/reconcile', undefined, ada)).toEqual(FORBIDDEN);
  for (const word of ['pause', 'resume', 'run'])
    expect(await ask('POST', `/admin/schedules/reconcile/${word}`, undefined, ada)).toEqual(FORBIDDEN);
});

async function names(): Promise<string[]> {
  return (await ask('GET', '/admin/schedules'))[1].schedules.map(({ name }: { name: string }) => name);
}

async function row(wanted: string) {
  return (await ask('GET', '/admin/schedules'))[1].schedules.find(
    ({ name }: { name: string }) => name === wanted,
  );
}

describe('/admin/schedules', () => {
  it('lists what can be scheduled, set or not', async () => {
    expect(await names()).toEqual([
      'reconcile',
      'retention-tasks',
      'retention-callbacks',
      'retention',
      'retention-quarantine',
      'backup',
      'vector-store',
    ]);
    expect(await row('vector-store')).toMatchObject({ set: false, cron: null, next_runs: [] });
  });

  it('PUT makes windows for a migration and changes them', async () => {
    const [status, body] = await ask('PUT', '/admin/schedules/vector-store', {
      cron: ' 0  3 * * 0',
      window_minutes: 90,
      pages_per_second: 2,
      note: 'by night',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'vector-store',
      set: true,
      cron: '0 3 * * 0',
      window_minutes: 90,
      pages_per_second: 2,
      paused: false,
      note: 'by night',
      overlap: 'skip',
      catch_up_minutes: 10,
      running: false,
    });
    expect(body.next_runs).toHaveLength(1);
    expect((await ask('PUT', '/admin/schedules/vector-store', { cron: '@daily', paused: true }))[1])
      // A window that is not given is the usual one; a note stays.
      .toMatchObject({ cron: '@daily', window_minutes: 180, pages_per_second: null, note: 'by night' });
    expect(await row('vector-store')).toMatchObject({ paused: true, next_runs: [] });
  });

  it('PUT says when the reconciler runs', async () => {
    expect((await ask('PUT', '/admin/schedules/reconcile', { cron: '15 */3 * * *' }))[1]).toMatchObject({
      cron: '15 */3 * * *',
      window_minutes: null,
      catch_up_minutes: 1,
    });
  });

  it('PUT refuses what cannot be', async () => {
    for (const cron of ['', '3 * *', '0 3 * * 0 # note', '@every 5s', '* * * * * * * *', 'at noon'])
      expect([cron, (await ask('PUT', '/admin/schedules/vector-store', { cron }))[0]]).toEqual([cron, 422]);
    expect((await ask('PUT', '/admin/schedules/vector-store', {}))[0]).toBe(422);
    expect((await ask('PUT', '/admin/schedules/vector-store', { cron: '999 3 * * *' }))[0]).toBe(422);
    expect((await ask('PUT', '/admin/schedules/other', { cron: '@daily' }))[0]).toBe(422);
    expect(
      (await ask('PUT', '/admin/schedules/vector-store', { cron: '@daily', window_minutes: 0 }))[0],
    ).toBe(422);
    expect((await ask('PUT', '/admin/schedules/reconcile', { cron: '@daily', window_minutes: 5 }))[0]).toBe(
      422,
    );
    // The gateway has no SECRETS_KEY, so nothing is kept that could be removed.
    expect((await ask('PUT', '/admin/schedules/retention', { cron: '@daily' }))[0]).toBe(409);
    expect(gateway.workflows.scheduled.schedules.size).toBe(0);
  });

  it('pauses, resumes and runs one, and keeps its note unless another is given', async () => {
    const steer = async (word: string, body?: object) =>
      (await ask('POST', `/admin/schedules/reconcile/${word}`, body))[0];
    for (const word of ['pause', 'resume', 'run']) expect(await steer(word)).toBe(404);
    await ask('PUT', '/admin/schedules/reconcile', { cron: '@hourly' });
    expect(await steer('pause')).toBe(202);
    expect(await row('reconcile')).toMatchObject({ paused: true, note: 'paused by user 1' });
    expect(await steer('resume', { note: 'all is well' })).toBe(202);
    expect(await row('reconcile')).toMatchObject({ paused: false, note: 'all is well' });
    expect(await steer('pause')).toBe(202);
    expect(await row('reconcile')).toMatchObject({ paused: true, note: 'all is well' });
    expect(await steer('pause', { note: '' })).toBe(422);
    expect(await steer('run')).toBe(202);
    expect(gateway.workflows.scheduled.runs).toEqual([reconcileScheduleId('here-')]);
  });

  it('DELETE removes one of a migration, and none that a worker would make again', async () => {
    expect((await ask('DELETE', '/admin/schedules/vector-store'))[0]).toBe(404);
    await ask('PUT', '/admin/schedules/vector-store', { cron: '@daily' });
    await ask('PUT', '/admin/schedules/reconcile', { cron: '@hourly' });
    expect((await ask('DELETE', '/admin/schedules/vector-store'))[0]).toBe(204);
    expect(await row('vector-store')).toMatchObject({ set: false });
    expect((await ask('DELETE', '/admin/schedules/reconcile'))[0]).toBe(409);
    expect(await row('reconcile')).toMatchObject({ set: true });
  });
});
