import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError } from '../../../schemas/app-error.js';
import { until } from '../../support/until.js';
import { askJson } from '../support/ask-json.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

let gateway: Gateway;
let ada: string;
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada').token;
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = ADMIN_TOKEN) {
  return askJson(gateway, method, path, { body, token });
}

const FORBIDDEN = [403, { detail: 'Admin privileges required' }];

function DOMAIN(code: string) {
  return expect.objectContaining({ detail: expect.stringMatching(new RegExp(String.raw`^\[${code}\]: `)) });
}

function begin(runId: string, mode: 'run' | 'dry_run' = 'run') {
  return gateway.migrations.store.insert({
    run_id: runId,
    name: 'vector-store',
    mode,
    unit: 'chunks',
    pages_per_second: null,
    started_by: '1',
  });
}

describe('GET /admin/migrations', () => {
  it('is for administrators', async () => {
    expect(await ask('GET', '/admin/migrations', undefined, ada)).toEqual(FORBIDDEN);
  });

  it('says what is pending and how the latest runs fared', async () => {
    gateway.migrations.state.pending = {
      what: 'schema 2',
      amount: 7,
      dark: ['searches', 'uploads'],
      obstacle: null,
    };
    await begin('first');
    await gateway.migrations.store.finish('first', {
      state: 'failed',
      error: { code: 'VDB_ERROR', message: 'the disk is full' },
    });
    const [status, body] = await ask('GET', '/admin/migrations');
    expect(status).toBe(200);
    expect(body.migrations).toEqual([
      expect.objectContaining({
        name: 'vector-store',
        unit: 'chunks',
        pending: gateway.migrations.state.pending,
        unknown: null,
        latest: [
          expect.objectContaining({
            run_id: 'first',
            state: 'failed',
            error: { code: 'VDB_ERROR', message: 'the disk is full' },
          }),
        ],
      }),
    ]);
  });

  it('answers also while the vector store is away', async () => {
    gateway.migrations.state.fault = new AppError('VDB_CONNECTION_ERROR');
    const [status, body] = await ask('GET', '/admin/migrations');
    expect(status).toBe(200);
    expect(body.migrations[0]).toMatchObject({
      pending: null,
      unknown: 'The vector store cannot be reached.',
    });
  });
});

describe('GET /admin/upgrade-check', () => {
  const check = async () => {
    const [status, body] = await ask('GET', '/admin/upgrade-check');
    expect(status).toBe(200);
    return body;
  };
  const PENDING = {
    what: 'schema 2',
    amount: 3_000,
    dark: ['searches', 'uploads'],
    obstacle: null,
  };

  it('is for administrators', async () => {
    expect(await ask('GET', '/admin/upgrade-check', undefined, ada)).toEqual(FORBIDDEN);
  });

  it('says so where nothing is to be done, and that no backup is known', async () => {
    expect(await check()).toEqual({
      migrations: [],
      seconds: 0,
      dark: [],
      obstacles: [],
      backup: { state: 'none_known', finished_at: null, note: expect.stringMatching(/^No backup is known/) },
    });
  });

  it('names the last backup that came to its end, and no other', async () => {
    const { runs } = gateway.backups;
    for (const run_id of ['whole', 'broken'])
      await runs.insert({ run_id, kind: 'backup', backup_id: run_id, started_by: '1' });
    await runs.finish('whole', { state: 'completed', error: null });
    await runs.finish('broken', { state: 'failed', error: { code: 'X', message: 'x' } });
    const { finished_at: finishedAt } = (await runs.get('whole'))!;
    expect((await check()).backup).toEqual({
      state: 'known',
      finished_at: finishedAt!.toISOString(),
      note: expect.stringContaining('is in memory'),
    });
  });

  it('names no backup that was removed', async () => {
    const { runs, objects } = gateway.backups;
    for (const id of ['20250101T000000Z-00000000', '20250102T000000Z-00000000']) {
      await objects.put(`${id}/manifest.json`, Buffer.from('{}'));
      await runs.insert({ run_id: id, kind: 'backup', backup_id: id, started_by: '1' });
      await runs.finish(id, { state: 'completed', error: null });
    }
    const states = [];
    for (const { backup_id: id } of await runs.list(2)) {
      expect((await ask('DELETE', `/admin/backups/${id}`))[0]).toBe(204);
      states.push((await check()).backup.state);
    }
    expect(states).toEqual(['known', 'none_known']);
  });

  it('says what will migrate, how long, what goes dark and what is in the way', async () => {
    gateway.migrations.state.pending = { ...PENDING, obstacle: 'No embedder is registered.' };
    expect(await check()).toMatchObject({
      migrations: [
        {
          ...PENDING,
          name: 'vector-store',
          unit: 'chunks',
          obstacle: 'No embedder is registered.',
          state: null,
          rate_from: 'assumed',
          units_per_second: 500,
          seconds: 6,
        },
      ],
      seconds: 6,
      dark: PENDING.dark,
      obstacles: ['No embedder is registered.'],
    });
  });

  it('takes the rate of the last run that did something, and names the run at work', async () => {
    const { store } = gateway.migrations;
    gateway.migrations.state.pending = PENDING;
    await begin('measured');
    const { started_at } = (await store.get('measured'))!;
    await store.report('measured', {
      phase: 'copying',
      done: 1_000,
      total: 1_000,
      figures: {},
      pages_per_second: null,
    });
    await until('time has passed', async () => Date.now() > started_at.getTime() + 20);
    await store.finish('measured', { state: 'completed', error: null });
    const seconds = ((await store.get('measured'))!.finished_at!.getTime() - started_at.getTime()) / 1000;
    await begin('counted', 'dry_run');
    await store.finish('counted', { state: 'completed', error: null });
    await begin('idle');
    await store.finish('idle', { state: 'completed', error: null });
    await begin('open');
    const [row] = (await check()).migrations;
    expect(row).toMatchObject({ rate_from: 'last_run', state: 'running', seconds: Math.ceil(3 * seconds) });
    expect(row.units_per_second).toBeCloseTo(1_000 / seconds, 0);
  });

  it('does not take what it cannot find out for done', async () => {
    gateway.migrations.state.fault = new AppError('VDB_CONNECTION_ERROR');
    expect(await check()).toMatchObject({
      migrations: [],
      seconds: null,
      obstacles: [expect.stringContaining('vector-store')],
    });
  });
});

describe('POST /admin/migrations/{name}', () => {
  it('is for administrators', async () => {
    expect(await ask('POST', '/admin/migrations/vector-store', {}, ada)).toEqual(FORBIDDEN);
  });

  it('starts a run, or a dry run, in the name of the caller', async () => {
    const [status, { run_id: runId }] = await ask('POST', '/admin/migrations/vector-store');
    expect(status).toBe(202);
    const [, { run_id: dryId }] = await ask('POST', '/admin/migrations/vector-store', { mode: 'dry_run' });
    expect(gateway.workflows.migrated).toEqual([
      `run vector-store ${runId}`,
      `dry_run vector-store ${dryId}`,
    ]);
  });

  it('verifies what ran, and nothing that has yet to run', async () => {
    const verify = () => ask('POST', '/admin/migrations/vector-store', { mode: 'verify' });
    const [status, { run_id: runId }] = await verify();
    expect(status).toBe(202);
    expect(gateway.workflows.migrated).toEqual([`verify vector-store ${runId}`]);
    gateway.migrations.state.pending = { what: 'schema 2', amount: 7, dark: [], obstacle: null };
    expect(await verify()).toEqual([409, DOMAIN('MIGRATION_NOT_POSSIBLE')]);
    expect(gateway.workflows.migrated).toHaveLength(1);
  });

  it('refuses what it does not know', async () => {
    for (const body of [{ mode: 'all' }, { pages_per_second: 0 }, { pages_per_second: -1 }, { speed: 1 }])
      expect((await ask('POST', '/admin/migrations/vector-store', body))[0]).toBe(422);
    expect((await ask('POST', '/admin/migrations/other', {}))[0]).toBe(422);
    expect(await ask('POST', '/admin/migrations/vector-store', { mode: 'rollback' })).toEqual([
      409,
      DOMAIN('MIGRATION_NOT_POSSIBLE'),
    ]);
    expect(gateway.workflows.migrated).toEqual([]);
  });

  it.each(['pause', 'resume', 'cancel'])('%s is handed to the run', async (word) => {
    expect(await ask('POST', `/admin/migrations/vector-store/${word}`, undefined, ada)).toEqual(FORBIDDEN);
    expect((await gateway.call('POST', `/admin/migrations/vector-store/${word}`)).status).toBe(202);
    expect(gateway.workflows.migrated).toEqual([`${word} vector-store`]);
  });

  it('changes the pace of a run', async () => {
    const pace = (body: object, token = ADMIN_TOKEN) =>
      gateway.call('POST', '/admin/migrations/vector-store/pace', {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
        token,
      });
    expect((await pace({ pages_per_second: 2 }, ada)).status).toBe(403);
    expect((await pace({})).status).toBe(422);
    expect((await pace({ pages_per_second: 2 })).status).toBe(202);
    expect((await pace({ pages_per_second: null })).status).toBe(202);
    expect(gateway.workflows.migrated).toEqual(['pace vector-store 2', 'pace vector-store null']);
  });
});

describe('POST /admin/migrations/{name}/cancel', () => {
  const cancel = () => gateway.call('POST', '/admin/migrations/vector-store/cancel');

  it('ends a run whose workflow is gone, and lets go of what it held', async () => {
    const { state, store } = gateway.migrations;
    await begin('ended');
    await store.finish('ended', { state: 'completed', error: null });
    await begin('dry', 'dry_run');
    await begin('lost');
    state.blocked.add('chunks-v3-2').add('chunks-v3');
    expect((await cancel()).status).toBe(202);
    expect(await store.get('lost')).toMatchObject({ state: 'running' });
    gateway.workflows.state.terminated = true;
    expect((await cancel()).status).toBe(202);
    for (const id of ['lost', 'dry'])
      expect(await store.get(id)).toMatchObject({ state: 'cancelled', finished_at: expect.any(Date) });
    expect(await store.get('ended')).toMatchObject({ state: 'completed' });
    expect(state.blocked).toEqual(new Set(['chunks-v3']));
    expect((await gateway.call('DELETE', '/admin/indexes/chunks-v3')).status).toBe(204);
  });

  it('is refused where none is at work', async () => {
    await begin('ended');
    await gateway.migrations.store.finish('ended', { state: 'completed', error: null });
    gateway.workflows.state.terminated = true;
    expect(await ask('POST', '/admin/migrations/vector-store/cancel')).toEqual([
      409,
      DOMAIN('MIGRATION_NOT_RUNNING'),
    ]);
  });
});

describe('GET /admin/migrations/{name}/runs', () => {
  it('lists runs, the newest first, for administrators', async () => {
    await begin('first');
    await begin('second', 'dry_run');
    expect(await ask('GET', '/admin/migrations/vector-store/runs', undefined, ada)).toEqual(FORBIDDEN);
    const [, { runs }] = await ask('GET', '/admin/migrations/vector-store/runs');
    expect(runs.map((run: { run_id: string }) => run.run_id)).toEqual(['second', 'first']);
  });
});

describe('GET /admin/migrations/{name}/events', () => {
  it('tells each change until the run ends', async () => {
    expect(await ask('GET', '/admin/migrations/vector-store/events', undefined, ada)).toEqual(FORBIDDEN);
    expect((await ask('GET', '/admin/migrations/vector-store/events'))[0]).toBe(404);
    await begin('run');
    const answer = await gateway.call('GET', '/admin/migrations/vector-store/events');
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    let text = '';
    const read = (async () => {
      for await (const part of answer.body!) text += Buffer.from(part).toString();
    })();
    await until('the first event has come', async () => text.includes('"done":0'));
    const figures = { chunks: 9 };
    await gateway.migrations.store.report('run', {
      phase: 'copying',
      done: 4,
      total: 9,
      figures,
      pages_per_second: null,
    });
    await until('the progress has come', async () => text.includes('"done":4'));
    await gateway.migrations.store.finish('run', { state: 'completed', error: null });
    await read;
    const events = text.trim().split('\n\n');
    expect(events).toHaveLength(4);
    expect(events[2]).toContain('"state":"completed"');
    expect(events[3]).toBe('data: [DONE]');
  });
});

describe('/admin/indexes', () => {
  it('GET lists them and DELETE drops one that is kept, for administrators', async () => {
    expect(await ask('GET', '/admin/indexes', undefined, ada)).toEqual(FORBIDDEN);
    expect(await ask('DELETE', '/admin/indexes/chunks-v3', undefined, ada)).toEqual(FORBIDDEN);
    const names = async () =>
      (await ask('GET', '/admin/indexes'))[1].indexes.map(({ index }: { index: string }) => index);
    expect(await names()).toEqual(['chunks-v3-2', 'chunks-v3']);
    expect(await ask('DELETE', '/admin/indexes/chunks-v3-2')).toEqual([
      409,
      DOMAIN('MIGRATION_NOT_POSSIBLE'),
    ]);
    expect((await ask('DELETE', '/admin/indexes/other'))[0]).toBe(404);
    for (const several of ['chunks-v3-*', 'chunks-v3-9*,chunks-v3-2', 'chunks-v3-%2A%2C%2A'])
      expect((await ask('DELETE', `/admin/indexes/${several}`))[0]).toBe(422);
    await begin('run');
    expect(await ask('DELETE', '/admin/indexes/chunks-v3')).toEqual([409, DOMAIN('MIGRATION_RUNNING')]);
    await gateway.migrations.store.finish('run', { state: 'completed', error: null });
    expect((await gateway.call('DELETE', '/admin/indexes/chunks-v3')).status).toBe(204);
    expect(await names()).toEqual(['chunks-v3-2']);
  });
});
