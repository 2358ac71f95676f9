import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../support/until.js';
import { signIn } from '../support/sign-in.js';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { startProxy } from '../support/start-proxy.js';
import { taskIdOf, uploadForm } from '../support/uploads.js';

let gateway: Gateway;
let eve: { token: string; userId: number };
let operator: { token: string; userId: number };
let clock: number;
beforeEach(async () => {
  clock = Date.now();
  gateway = await startGateway({ now: () => new Date(clock) });
  eve = gateway.addUser('eve');
  operator = gateway.addUser('operator', { is_admin: true });
});
afterEach(() => gateway.close());

/** A task that stays as it is. */
async function upload(): Promise<string> {
  const answer = await gateway.call('POST', '/indexer/partition/plans/file/a', {
    token: eve.token,
    body: uploadForm(),
  });
  return taskIdOf(answer);
}

function watch(path: string, init: RequestInit & { token?: string | null }): Promise<Response> {
  return gateway.call('GET', path, init);
}

/** What a stream says when its caller may see it no more. */
function ends(code: string) {
  const error = expect.stringMatching(new RegExp(String.raw`^data: \{"error":\{.*"code":"${code}"`));
  return expect.arrayContaining([error, 'data: [DONE]']);
}

async function eventsOf(response: Response): Promise<string[]> {
  expect(response.status).toBe(200);
  return (await response.text()).split('\n\n');
}

describe('the events of a task', () => {
  it('end with the session', async () => {
    const path = `/indexer/task/${await upload()}/events`;
    const { headers } = await signIn(gateway, eve.token);
    const stream = await watch(path, { token: null, headers });
    await gateway.call('DELETE', '/app/session', { token: null, headers });
    expect(await eventsOf(stream)).toEqual(ends('AUTHENTICATION_ERROR'));
  });

  it('end for one who was an administrator', async () => {
    const stream = await watch(`/indexer/task/${await upload()}/events`, { token: operator.token });
    await gateway.adapters.users.update(operator.userId, { is_admin: false });
    expect(await eventsOf(stream)).toEqual(ends('AUTH_ERROR'));
  });

  it('do not keep a session that is at rest', async () => {
    const path = `/indexer/task/${await upload()}/events`;
    const { headers } = await signIn(gateway, eve.token);
    const stream = await watch(path, { token: null, headers });
    let prolonged = 0;
    let found = 0;
    const { prolong, find } = gateway.sessions;
    gateway.sessions.prolong = (...asked) => {
      prolonged += 1;
      return prolong(...asked);
    };
    gateway.sessions.find = (...asked) => {
      found += 1;
      return find(...asked);
    };
    clock += 5 * 60_000;
    await until('its session was looked at twice', async () => found >= 2);
    expect(prolonged).toBe(0);
    await stream.body?.cancel();
  });
});

it('a task that is waited for is not told to one whose session ended meanwhile', async () => {
  const taskId = await upload();
  const { headers } = await signIn(gateway, eve.token);
  let looks = 0;
  const { getHeads } = gateway.adapters.tasks;
  gateway.adapters.tasks.getHeads = (ids) => {
    looks += 1;
    return getHeads(ids);
  };
  const waiting = watch(`/indexer/task/${taskId}?wait=50`, { token: null, headers });
  await until('it waits for more than a second', async () => looks > 6);
  await gateway.call('DELETE', '/app/session', { token: null, headers });
  await gateway.call('DELETE', `/indexer/task/${taskId}`, { token: eve.token });
  expect((await waiting).status).toBe(401);
});

describe('the progress of a run', () => {
  it.each<[string, () => Promise<unknown>]>([
    [
      '/admin/backup-runs/r/events',
      () => gateway.backups.runs.insert({ run_id: 'r', kind: 'backup', backup_id: 'b', started_by: '1' }),
    ],
    [
      '/admin/imports/old/events',
      () =>
        gateway.adapters.imports.insertRun({
          run_id: 'r',
          source_id: 'old',
          dry_run: false,
          started_by: '1',
        }),
    ],
    [
      '/admin/migrations/vector-store/events',
      () =>
        gateway.migrations.store.insert({
          run_id: 'r',
          name: 'vector-store',
          mode: 'run',
          unit: 'chunks',
          pages_per_second: null,
          started_by: '1',
        }),
    ],
  ])('ends for one who was an administrator: %s', async (path, begin) => {
    await begin();
    const stream = await watch(path, { token: operator.token });
    await gateway.adapters.users.update(operator.userId, { is_admin: false });
    expect(await eventsOf(stream)).toEqual(ends('AUTH_ERROR'));
  });

  it('ends with the key that it was asked with, where the proxy is alone', async () => {
    const proxy = await startProxy({ isProxyAlone: true });
    try {
      await proxy.backups.runs.insert({ run_id: 'r', kind: 'backup', backup_id: 'b', started_by: '1' });
      const made = await proxy.ask('/api/keys', { method: 'POST', body: { name: 'k', scopes: ['admin'] } });
      const { id, key } = (await made.json()) as { id: string; key: string };
      const stream = await proxy.ask('/admin/backup-runs/r/events', { key });
      await proxy.ask(`/api/keys/${id}`, { method: 'DELETE' });
      expect(await eventsOf(stream)).toEqual(ends('AUTHENTICATION_ERROR'));
    } finally {
      await proxy.close();
    }
  });
});
