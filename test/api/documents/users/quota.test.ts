import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { publishTask, taskIdOf, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
afterEach(() => gateway.close());

function upload(token: string, fileId: string, partition = 'notes', method = 'POST') {
  return gateway.call(method, `/indexer/partition/${partition}/file/${fileId}`, {
    body: uploadForm(`text of ${fileId} ${Math.random()}`),
    token,
  });
}

function statuses(answers: readonly Response[]) {
  return answers.map(({ status }) => status).sort();
}

async function refusal(response: Response) {
  return [response.status, await response.json()];
}

describe('a quota of files', () => {
  beforeEach(async () => {
    gateway = await startGateway({ env: { DEFAULT_FILE_QUOTA: '3' } });
  });

  it('of 10: 50 uploads at once give exactly ten 201 and forty 403', async () => {
    const ada = gateway.addUser('ada', { file_quota: 10 });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => upload(ada.token, `f${i}`)));
    expect(statuses(answers)).toEqual([...Array<number>(10).fill(201), ...Array<number>(40).fill(403)]);
    expect((await gateway.adapters.files.countByUploader([ada.userId])).get(ada.userId)).toEqual({
      files: 0,
      pending: 10,
    });
    expect(await refusal(await upload(ada.token, 'more'))).toEqual([
      403,
      { detail: 'File quota exceeded: at most 10 files are allowed' },
    ]);
  });

  it('is the default where the record names none, and none for -1 and administrators', async () => {
    const ada = gateway.addUser('ada');
    for (const id of ['a', 'b', 'c']) expect((await upload(ada.token, id)).status).toBe(201);
    expect((await upload(ada.token, 'd')).status).toBe(403);
    const free = gateway.addUser('free', { file_quota: -1 });
    const chief = gateway.addUser('chief', { is_admin: true });
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      expect((await upload(free.token, id, 'free')).status).toBe(201);
      expect((await upload(chief.token, id, 'chief')).status).toBe(201);
    }
    const none = gateway.addUser('none', { file_quota: 0 });
    expect((await upload(none.token, 'a', 'none')).status).toBe(403);
  });

  it('counts files and pending tasks together, each once', async () => {
    const ada = gateway.addUser('ada');
    const tasks = [];
    for (const id of ['a', 'b', 'c']) tasks.push(await taskIdOf(await upload(ada.token, id)));
    // In the moment between its publication and its leaving the list it must not count twice either.
    const { release } = gateway.adapters.quotas;
    gateway.adapters.quotas.release = async () => undefined;
    await publishTask(gateway, tasks[0]!, ['text']);
    gateway.adapters.quotas.release = release;
    expect((await upload(ada.token, 'd')).status).toBe(403);
    await gateway.call('DELETE', `/indexer/task/${tasks[1]}`, { token: ada.token });
    expect((await upload(ada.token, 'd')).status).toBe(201);
    expect((await upload(ada.token, 'e')).status).toBe(403);
    await gateway.call('DELETE', '/indexer/partition/notes/file/a', { token: ada.token });
    expect((await upload(ada.token, 'e')).status).toBe(201);
  });

  it('is charged to the uploader, also in the partition of somebody else', async () => {
    const ada = gateway.addUser('ada', { file_quota: 1 });
    const bob = gateway.addUser('bob', { file_quota: 1 });
    expect((await upload(ada.token, 'a')).status).toBe(201);
    gateway.addMember(bob.userId, 'notes', 'editor');
    expect((await upload(bob.token, 'b')).status).toBe(201);
    expect((await upload(bob.token, 'c')).status).toBe(403);
    expect((await gateway.adapters.files.countByUploader([bob.userId])).get(bob.userId)).toEqual({
      files: 0,
      pending: 1,
    });
  });

  it('takes nothing for a replacement, which inherits the place of the task it supersedes', async () => {
    const ada = gateway.addUser('ada', { file_quota: 1 });
    await upload(ada.token, 'a');
    const put = await upload(ada.token, 'a', 'notes', 'PUT');
    expect(put.status).toBe(202);
    const heir = await taskIdOf(put);
    expect((await gateway.adapters.quotas.pending(ada.userId)).taskIds).toEqual([heir]);
    expect((await upload(ada.token, 'b')).status).toBe(403);
    await publishTask(gateway, heir, ['text']);
    expect((await upload(ada.token, 'a', 'notes', 'PUT')).status).toBe(202);
    expect((await upload(ada.token, 'b')).status).toBe(403);
  });

  it('keeps no place for a refused upload', async () => {
    const ada = gateway.addUser('ada', { file_quota: 2 });
    const same = () =>
      gateway.call('POST', `/indexer/partition/notes/file/f${Math.random()}`, {
        body: uploadForm('the same bytes'),
        token: ada.token,
      });
    const answers = await Promise.all([same(), same()]);
    expect(statuses(answers)).toEqual([201, 409]);
    expect((await gateway.adapters.quotas.pending(ada.userId)).taskIds).toHaveLength(1);
    expect((await upload(ada.token, 'other')).status).toBe(201);
  });
});
