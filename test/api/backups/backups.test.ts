import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { writeManifest } from '../../../activities/backups/manifest.js';
import type { BackupManifest } from '../../../schemas/backups/backups.js';
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
const ID = '20260131T235959Z-0a1b2c3d';
const OLDER = '20260130T235959Z-0a1b2c3d';

function DOMAIN(code: string, words = '') {
  return expect.objectContaining({
    detail: expect.stringMatching(new RegExp(String.raw`^\[${code}\]: .*${words}`)),
  });
}

async function putBackup(id: string, change: Partial<BackupManifest> = {}): Promise<void> {
  await writeManifest(gateway.backups.objects, {
    format: 1,
    backup_id: id,
    started_at: '2026-01-31T23:59:59.000Z',
    finished_at: '2026-02-01T00:01:00.000Z',
    vectors: true,
    secrets_key: '0123456789abcdef',
    record_steps: ['a step'],
    counts: { files: 3 },
    parts: [{ name: '000001-files.tar.gz', section: 'files', bytes: 7, sha256: 'ab', records: 3 }],
    ...change,
  });
}

describe('GET /admin/backups', () => {
  it('is for administrators', async () => {
    expect(await ask('GET', '/admin/backups', undefined, ada)).toEqual(FORBIDDEN);
  });

  it('says which keys of a backup the service lacks, those before the present one included', async () => {
    await putBackup(ID, { former_keys: ['fedcba9876543210'] });
    await putBackup(OLDER, { former_keys: [] });
    const [, { backups }] = await ask('GET', '/admin/backups');
    expect(backups).toMatchObject([
      { backup_id: ID, missing_keys: ['fedcba9876543210'], key_known: false },
      { backup_id: OLDER, missing_keys: [], key_known: true },
    ]);
  });

  it('lists what is complete, the newest first, and says of which key it is', async () => {
    await putBackup(OLDER, { secrets_key: 'fedcba9876543210', vectors: false });
    await putBackup(ID);
    // Being made; damaged; and what is nobody's.
    await gateway.backups.objects.put('20260201T000000Z-0a1b2c3d/000001-files.tar.gz', Buffer.from('x'));
    await putBackup('20260129T000000Z-0a1b2c3d');
    await gateway.backups.objects.put('20260129T000000Z-0a1b2c3d/manifest.json', Buffer.from('{}'));
    await gateway.backups.objects.put('notes/manifest.json', Buffer.from('{}'));
    const [status, body] = await ask('GET', '/admin/backups');
    expect(status).toBe(200);
    expect(body).toEqual({
      place: 'memory',
      backups: [
        expect.objectContaining({ backup_id: ID, usable: true, bytes: 7, key_known: true, vectors: true }),
        expect.objectContaining({ backup_id: OLDER, key_known: false, vectors: false }),
        expect.objectContaining({ backup_id: '20260129T000000Z-0a1b2c3d', usable: false }),
      ],
    });
  });
});

describe('POST /admin/backups', () => {
  it('is for administrators', async () => {
    expect(await ask('POST', '/admin/backups', {}, ada)).toEqual(FORBIDDEN);
    expect(gateway.workflows.backedUp).toEqual([]);
  });

  it('starts one, with vectors unless told otherwise', async () => {
    const [status, { run_id: first }] = await ask('POST', '/admin/backups');
    expect(status).toBe(202);
    const [, { run_id: second }] = await ask('POST', '/admin/backups', { vectors: false });
    expect(gateway.workflows.backedUp).toEqual([
      `backup with vectors ${first}`,
      `backup without vectors ${second}`,
    ]);
  });

  it('refuses what it does not know', async () => {
    expect((await ask('POST', '/admin/backups', { vectors: 'some' }))[0]).toBe(422);
    expect((await ask('POST', '/admin/backups', { place: '/etc' }))[0]).toBe(422);
  });

  it('says that there is no place for it', async () => {
    await gateway.close();
    gateway = await startGateway({
      adapt: (adapters) => ({ ...adapters, backups: { ...adapters.backups, storage: null } }),
    });
    expect(await ask('POST', '/admin/backups')).toEqual([409, DOMAIN('BACKUP_NOT_CONFIGURED')]);
    expect(await ask('GET', '/admin/backups')).toEqual([200, { place: null, backups: [] }]);
    expect(await ask('PUT', '/admin/schedules/backup', { cron: '0 3 * * *' })).toEqual([
      409,
      DOMAIN('BACKUP_NOT_CONFIGURED'),
    ]);
  });
});

describe('DELETE /admin/backups/{backup_id}', () => {
  it('removes one, and nothing else', async () => {
    await putBackup(ID);
    await putBackup(OLDER);
    expect(await ask('DELETE', `/admin/backups/${ID}`, undefined, ada)).toEqual(FORBIDDEN);
    expect((await ask('DELETE', `/admin/backups/${ID}`))[0]).toBe(204);
    expect(await gateway.backups.objects.folders()).toEqual([OLDER]);
    expect((await ask('DELETE', `/admin/backups/${ID}`))[0]).toBe(404);
    expect((await ask('DELETE', '/admin/backups/..%2fetc'))[0]).toBe(422);
  });

  it('leaves the one that is being made', async () => {
    await gateway.backups.runs.insert({ run_id: 'r', kind: 'backup', backup_id: ID, started_by: '1' });
    await gateway.backups.objects.put(`${ID}/000001-files.tar.gz`, Buffer.from('x'));
    expect(await ask('DELETE', `/admin/backups/${ID}`)).toEqual([409, DOMAIN('BACKUP_RUNNING')]);
  });
});

describe('POST /admin/restores', () => {
  it('is for administrators', async () => {
    expect(await ask('POST', '/admin/restores', { backup_id: ID }, ada)).toEqual(FORBIDDEN);
  });

  it('starts one', async () => {
    await putBackup(ID);
    const [status, { run_id: runId }] = await ask('POST', '/admin/restores', { backup_id: ID });
    expect(status).toBe(202);
    expect(gateway.workflows.backedUp).toEqual([`restore ${ID} ${runId}`]);
  });

  it('is refused where something is stored, unless it may replace it', async () => {
    await putBackup(ID);
    gateway.backups.held.add('files').add('alerts');
    expect(await ask('POST', '/admin/restores', { backup_id: ID })).toEqual([
      409,
      DOMAIN('RESTORE_NOT_EMPTY', 'files, alerts'),
    ]);
    expect(gateway.workflows.backedUp).toEqual([]);
    expect((await ask('POST', '/admin/restores', { backup_id: ID, replace: true }))[0]).toBe(202);
  });

  it.each(['rule_sets', 'import_sources', 'conversations', 'model_endpoints', 'presets', 'prompts'])(
    'is refused where nothing but %s is stored',
    async (collection) => {
      await putBackup(ID);
      gateway.backups.held.add(collection);
      expect(await ask('POST', '/admin/restores', { backup_id: ID })).toEqual([
        409,
        DOMAIN('RESTORE_NOT_EMPTY', collection),
      ]);
      expect(gateway.workflows.backedUp).toEqual([]);
    },
  );

  it('is refused for what cannot be used', async () => {
    expect((await ask('POST', '/admin/restores', { backup_id: ID }))[0]).toBe(404);
    expect((await ask('POST', '/admin/restores', { backup_id: '../../etc' }))[0]).toBe(422);
    await putBackup(ID, { secrets_key: 'fedcba9876543210' });
    expect(await ask('POST', '/admin/restores', { backup_id: ID })).toEqual([
      409,
      DOMAIN('BACKUP_NOT_USABLE', 'fedcba9876543210'),
    ]);
    await putBackup(ID, { former_keys: ['fedcba9876543210'] });
    expect(await ask('POST', '/admin/restores', { backup_id: ID })).toEqual([
      409,
      DOMAIN('BACKUP_NOT_USABLE', 'fedcba9876543210'),
    ]);
    await putBackup(ID, { record_steps: ['a step of tomorrow'] });
    expect(await ask('POST', '/admin/restores', { backup_id: ID })).toEqual([
      409,
      DOMAIN('BACKUP_NOT_USABLE', 'a step of tomorrow'),
    ]);
    await putBackup(ID, { format: 2 });
    expect(await ask('POST', '/admin/restores', { backup_id: ID })).toEqual([
      409,
      DOMAIN('BACKUP_NOT_USABLE'),
    ]);
  });
});

describe('runs of backups', () => {
  it('GET /admin/backup-runs is for administrators and lists them', async () => {
    expect(await ask('GET', '/admin/backup-runs', undefined, ada)).toEqual(FORBIDDEN);
    await gateway.backups.runs.insert({ run_id: 'r', kind: 'backup', backup_id: ID, started_by: 'schedule' });
    const [status, body] = await ask('GET', '/admin/backup-runs');
    expect(status).toBe(200);
    expect(body.runs).toEqual([expect.objectContaining({ run_id: 'r', state: 'running' })]);
  });

  it('GET /admin/backup-runs/{run_id} says how far one is', async () => {
    expect(await ask('GET', '/admin/backup-runs/r', undefined, ada)).toEqual(FORBIDDEN);
    expect((await ask('GET', '/admin/backup-runs/r'))[0]).toBe(404);
    await gateway.backups.runs.insert({ run_id: 'r', kind: 'restore', backup_id: ID, started_by: '1' });
    await gateway.backups.runs.report('r', { phase: 'files', done: 3, total: 9, figures: { files: 3 } });
    expect(await ask('GET', '/admin/backup-runs/r')).toEqual([
      200,
      expect.objectContaining({ kind: 'restore', phase: 'files', done: 3, total: 9 }),
    ]);
  });

  it('GET /admin/backup-runs/{run_id}/events ends with the run', async () => {
    expect(await ask('GET', '/admin/backup-runs/r/events', undefined, ada)).toEqual(FORBIDDEN);
    expect((await ask('GET', '/admin/backup-runs/r/events'))[0]).toBe(404);
    await gateway.backups.runs.insert({ run_id: 'r', kind: 'backup', backup_id: ID, started_by: '1' });
    await gateway.backups.runs.finish('r', { state: 'completed', error: null });
    const response = await fetch(`${gateway.url}/admin/backup-runs/r/events`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const text = await response.text();
    expect(text).toContain('"state":"completed"');
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  it('POST /admin/backup-runs/cancel gives the run up', async () => {
    expect(await ask('POST', '/admin/backup-runs/cancel', undefined, ada)).toEqual(FORBIDDEN);
    expect((await ask('POST', '/admin/backup-runs/cancel'))[0]).toBe(202);
    expect(gateway.workflows.backedUp).toEqual(['cancel']);
  });

  it('POST /admin/backup-runs/cancel ends runs whose workflow is gone, and removes what is no whole backup', async () => {
    const cancel = () => ask('POST', '/admin/backup-runs/cancel');
    gateway.workflows.state.terminated = true;
    expect(await cancel()).toEqual([409, DOMAIN('BACKUP_NOT_RUNNING')]);
    const { runs, objects } = gateway.backups;
    await putBackup(OLDER);
    for (const [run_id, kind, backup_id] of [
      ['whole', 'backup', OLDER],
      ['restored', 'restore', OLDER],
      ['lost', 'backup', ID],
    ] as const)
      await runs.insert({ run_id, kind, backup_id, started_by: '1' });
    await objects.put(`${ID}/000001-files.tar.gz`, Buffer.from('words'));
    expect(await ask('DELETE', `/admin/backups/${ID}`)).toEqual([409, DOMAIN('BACKUP_RUNNING')]);
    expect((await cancel())[0]).toBe(202);
    for (const id of ['whole', 'restored', 'lost'])
      expect(await runs.get(id)).toMatchObject({ state: 'cancelled', finished_at: expect.any(Date) });
    expect(await objects.folders()).toEqual([OLDER]);
  });
});

describe('PUT /admin/schedules/backup', () => {
  it('makes backups by the clock, and DELETE ends that', async () => {
    const [status, body] = await ask('PUT', '/admin/schedules/backup', { cron: '0 3 * * *' });
    expect([status, body.set, body.cron]).toEqual([200, true, '0 3 * * *']);
    expect((await ask('PUT', '/admin/schedules/backup', { cron: '0 3 * * *', window_minutes: 3 }))[0]).toBe(
      422,
    );
    expect((await ask('DELETE', '/admin/schedules/backup'))[0]).toBe(204);
  });
});
