import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, taskIdOf, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada', { file_quota: 3 });
});
afterEach(() => gateway.close());

function remove(partition = 'notes', token = ada.token) {
  return gateway.call('DELETE', `/partition/${partition}`, { token });
}

async function get(path: string) {
  return (await gateway.call('GET', path, { token: ada.token })).status;
}

function index(fileId = 'a1', lines = ['text']) {
  return indexText(gateway, { partition: 'notes', fileId, token: ada.token }, lines);
}

describe('DELETE /partition/{partition}', () => {
  it('is for owners', async () => {
    await index();
    const editor = gateway.addUser('editor');
    gateway.addMember(editor.userId, 'notes', 'editor');
    expect((await remove('notes', editor.token)).status).toBe(403);
    expect((await remove('notes', gateway.addUser('outsider').token)).status).toBe(403);
    expect((await remove('none')).status).toBe(404);
  });

  it('never deletes `default`', async () => {
    await gateway.call('POST', '/partition/default', { token: ada.token });
    const refused = await remove('default');
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { detail: "Partition 'default' cannot be deleted" },
    ]);
    expect(await get('/partition/default')).toBe(200);
  });

  it('is gone at once with everything, and the uploader has room again', async () => {
    const [chunk] = await index();
    const uploaded = await gateway.call('POST', '/indexer/partition/notes/file/b2', {
      body: uploadForm('running'),
      token: ada.token,
    });
    const taskId = await taskIdOf(uploaded);
    const response = await remove();
    expect([response.status, await response.text()]).toEqual([204, '']);
    for (const path of ['/partition/notes', '/partition/notes/file/a1', '/search/partition/notes?text=text'])
      expect(await get(path)).toBe(404);
    expect(await get(`/extract/${chunk}`)).toBe(404);
    expect(await gateway.adapters.tasks.get(taskId)).toMatchObject({
      state: 'CANCELLED',
      error: { code: 'TASK_CANCELLED' },
    });
    expect((await gateway.adapters.files.countByUploader([ada.userId])).get(ada.userId)).toEqual({
      files: 0,
      pending: 0,
    });
    expect((await gateway.adapters.quotas.pending(ada.userId)).taskIds).toEqual([]);
    expect(gateway.workflows.cleanedPartitions).toEqual(['notes']);
    expect((await remove()).status).toBe(404);
  });

  it('leaves a name under which a new partition starts empty, with the same bytes welcome', async () => {
    await index('a1');
    const workspace = { workspace_id: 'w' };
    const made = await gateway.call('POST', '/partition/notes/workspaces', {
      body: JSON.stringify(workspace),
      token: ada.token,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(made.status).toBe(201);
    gateway.workflows.state.away = true;
    await remove();
    gateway.workflows.state.away = false;
    await gateway.call('POST', '/partition/notes', { token: ada.token });
    const listed = await gateway.call('GET', '/partition/notes', { token: ada.token });
    expect(await listed.json()).toEqual({ files: [] });
    expect(await get('/partition/notes/workspaces/w')).toBe(404);
    await index('a1');
    expect(await get('/partition/notes/file/a1')).toBe(200);
  });

  it('takes a file with it that is admitted in this moment', async () => {
    await gateway.call('POST', '/partition/notes', { token: ada.token });
    const { admitFirst } = gateway.adapters.files;
    gateway.adapters.files.admitFirst = async (input) => {
      await remove();
      return admitFirst(input);
    };
    const answer = await gateway.call('POST', '/indexer/partition/notes/file/late', {
      body: uploadForm('late'),
      token: ada.token,
    });
    expect(answer.status).toBe(404);
    gateway.adapters.files.admitFirst = admitFirst;
    expect((await gateway.adapters.files.countByUploader([ada.userId])).get(ada.userId)).toEqual({
      files: 0,
      pending: 0,
    });
    await index('late');
    expect(await get('/partition/notes/file/late')).toBe(200);
  });

  it('lets go of the bytes of any number of files some at a time, by their keys alone', async () => {
    await index();
    const { files, claims } = gateway.adapters;
    const whole = jest.spyOn(files, 'listPartitionTombstones');
    const released = jest.spyOn(claims, 'releaseFiles');
    files.scanPartitionTombstones = async function* () {
      for (let file = 0; file < 2_500; file += 1) yield `key-${file}`;
    };
    expect((await remove()).ok).toBe(true);
    expect(released.mock.calls.map(([keys]) => keys.length)).toEqual([1_000, 1_000, 500]);
    expect(whole.mock.calls.filter(([, limit]) => limit > 10_000)).toEqual([]);
  });

  it('takes a workspace with it that is made in this moment', async () => {
    await gateway.call('POST', '/partition/notes', { token: ada.token });
    const { create } = gateway.adapters.workspaces;
    gateway.adapters.workspaces.create = async (input) => {
      await remove();
      return create(input);
    };
    const body = JSON.stringify({ workspace_id: 'late' });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await gateway.call('POST', '/partition/notes/workspaces', {
      body,
      headers,
      token: ada.token,
    });
    expect(answer.status).toBe(404);
    await gateway.call('POST', '/partition/notes', { token: ada.token });
    expect(await get('/partition/notes/workspaces/late')).toBe(404);
  });

  it('cut short by a crash: the next creation finishes it, and starts empty', async () => {
    await index('a1');
    const { markPartitionDeleted } = gateway.adapters.files;
    gateway.adapters.files.markPartitionDeleted = () => Promise.reject(new Error('killed'));
    expect((await remove()).status).toBe(204);
    expect(await get('/partition/notes')).toBe(404);
    gateway.adapters.files.markPartitionDeleted = markPartitionDeleted;
    expect((await gateway.call('POST', '/partition/notes', { token: ada.token })).status).toBe(201);
    expect(await get('/partition/notes/file/a1')).toBe(404);
  });
});
