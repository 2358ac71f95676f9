import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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
const SOURCE = { url: 'https://old.example/api/', token: 'or-of-the-source' };

async function begin(): Promise<string> {
  const run_id = randomUUID();
  await gateway.adapters.imports.insertRun({ run_id, source_id: 'old', dry_run: false, started_by: '1' });
  return run_id;
}

describe('POST /admin/imports/{source_id}', () => {
  it('is for administrators', async () => {
    expect(await ask('POST', '/admin/imports/old', SOURCE, ada)).toEqual(FORBIDDEN);
    expect(gateway.workflows.imported).toEqual([]);
  });

  it('keeps address and token, which are given once, and tells Temporal neither', async () => {
    const [status, started] = await ask('POST', '/admin/imports/old', { ...SOURCE, dry_run: true });
    expect(status).toBe(202);
    expect(started).toEqual({ run_id: expect.any(String) });
    expect((await ask('POST', '/admin/imports/old', { requests_per_second: 5 }))[0]).toBe(202);
    expect(gateway.workflows.imported).toEqual([
      'dry run of old by 1, 20 a second',
      'import of old by 1, 5 a second',
    ]);
    expect(await gateway.adapters.imports.getSource('old')).toMatchObject({ url: 'https://old.example/api' });
    expect(await gateway.adapters.imports.openToken('old')).toBe(SOURCE.token);
  });

  it('never sends a kept token to another address', async () => {
    await ask('POST', '/admin/imports/old', SOURCE);
    expect((await ask('POST', '/admin/imports/old', { url: 'https://elsewhere.example' }))[0]).toBe(400);
    expect(await gateway.adapters.imports.getSource('old')).toMatchObject({ url: 'https://old.example/api' });
    expect((await ask('POST', '/admin/imports/old', { token: 'or-new' }))[0]).toBe(202);
    expect(await gateway.adapters.imports.openToken('old')).toBe('or-new');
  });

  it('needs them the first time', async () => {
    expect((await ask('POST', '/admin/imports/old'))[0]).toBe(404);
    expect((await ask('POST', '/admin/imports/old', { token: 'or-new' }))[0]).toBe(400);
  });

  it.each([
    ['a private address', 'http://127.0.0.1:9/', 400],
    ['a name of our own network', 'http://service.internal/', 400],
    ['a user name', 'https://ada:secret@old.example/', 400],
    ['a query', 'https://old.example/?a=b', 400],
    ['another protocol', 'file:///etc/passwd', 422],
    ['no address', 'old.example', 422],
  ])('refuses %s', async (_what, url, status) => {
    expect((await ask('POST', '/admin/imports/old', { ...SOURCE, url }))[0]).toBe(status);
    expect(await gateway.adapters.imports.getSource('old')).toBeNull();
  });

  it('takes a private address where that is allowed', async () => {
    await gateway.close();
    gateway = await startGateway({ env: { IMPORT_ALLOW_PRIVATE_URLS: 'true' } });
    expect((await ask('POST', '/admin/imports/old', { ...SOURCE, url: 'http://127.0.0.1:9' }))[0]).toBe(202);
  });

  it('refuses names, words and paces that it does not know', async () => {
    expect((await ask('POST', '/admin/imports/Old%20one', SOURCE))[0]).toBe(422);
    expect((await ask('POST', '/admin/imports/old', { ...SOURCE, requests_per_second: 0 }))[0]).toBe(422);
    expect((await ask('POST', '/admin/imports/old', { ...SOURCE, token: 'two words' }))[0]).toBe(422);
    expect((await ask('POST', '/admin/imports/old', { ...SOURCE, all: true }))[0]).toBe(422);
  });

  it('leaves address and token alone while a run is at work', async () => {
    await ask('POST', '/admin/imports/old', SOURCE);
    const id = await begin();
    const other = { url: 'https://new.example', token: 'or-new' };
    expect((await ask('POST', '/admin/imports/old', other))[0]).toBe(409);
    await gateway.adapters.imports.finish(id, { state: 'cancelled', error: null });
    expect((await ask('POST', '/admin/imports/old', other))[0]).toBe(202);
  });
});

describe('what is known of imports', () => {
  it('is for administrators', async () => {
    for (const path of ['', '/old/runs', '/old/events'])
      expect(await ask('GET', `/admin/imports${path}`, undefined, ada)).toEqual(FORBIDDEN);
    for (const word of ['pause', 'resume', 'cancel'])
      expect(await ask('POST', `/admin/imports/old/${word}`, undefined, ada)).toEqual(FORBIDDEN);
  });

  it('is listed by source and run, without the token', async () => {
    await ask('POST', '/admin/imports/old', SOURCE);
    const id = await begin();
    const refused = [{ partition: 'p', file_id: 'f', code: 'NOT_FOUND', message: 'not kept' }];
    const progress = { phase: 'files', done: 3, total: 9, figures: { taken: 2, refused: 1 }, refused };
    await gateway.adapters.imports.report(id, progress);
    const run = {
      run_id: id,
      source_id: 'old',
      state: 'running',
      error: null,
      finished_at: null,
      ...progress,
    };
    const [, list] = await ask('GET', '/admin/imports');
    expect(list).toEqual({
      sources: [{ source_id: 'old', url: 'https://old.example/api', latest: expect.objectContaining(run) }],
    });
    const [, runs] = await ask('GET', '/admin/imports/old/runs');
    expect(runs).toEqual({ runs: [expect.objectContaining(run)] });
    expect(JSON.stringify([list, runs])).not.toContain(SOURCE.token);
  });

  it('is followed until the run ends', async () => {
    expect((await ask('GET', '/admin/imports/old/events'))[0]).toBe(404);
    const id = await begin();
    await gateway.adapters.imports.finish(id, { state: 'completed', error: null });
    const response = await gateway.call('GET', '/admin/imports/old/events', { token: ADMIN_TOKEN });
    const text = await response.text();
    expect(text).toContain('"state":"completed"');
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  it('can be paused, resumed and given up', async () => {
    for (const word of ['pause', 'resume', 'cancel'])
      expect((await ask('POST', `/admin/imports/old/${word}`))[0]).toBe(202);
    expect(gateway.workflows.imported).toEqual(['pause old', 'resume old', 'cancel old']);
  });

  it('is ended by a cancel where its workflow is gone, so that the source may have another address', async () => {
    gateway.workflows.state.terminated = true;
    expect(await ask('POST', '/admin/imports/old/cancel')).toEqual([
      409,
      expect.objectContaining({ detail: expect.stringContaining('IMPORT_NOT_RUNNING') }),
    ]);
    await ask('POST', '/admin/imports/old', SOURCE);
    await begin();
    const other = { url: 'https://new.example', token: 'or-new' };
    expect((await ask('POST', '/admin/imports/old', other))[0]).toBe(409);
    expect((await ask('POST', '/admin/imports/old/cancel'))[0]).toBe(202);
    const [, { runs }] = await ask('GET', '/admin/imports/old/runs');
    expect(runs).toEqual([expect.objectContaining({ state: 'cancelled' })]);
    expect((await ask('POST', '/admin/imports/old', other))[0]).toBe(202);
  });
});
