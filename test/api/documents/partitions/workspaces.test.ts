import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, publishTask, taskIdOf, uploadForm } from '../../support/uploads.js';
import { askJson } from '../../support/ask-json.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
  await gateway.call('POST', '/partition/one', { token: ada.token });
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = ada.token) {
  return askJson(gateway, method, path, { body, token });
}

const W = '/partition/one/workspaces';

function create(workspace_id: string, display_name?: string) {
  return ask('POST', W, { workspace_id, ...(display_name === undefined ? {} : { display_name }) });
}

function upload(fileId: string, workspace_ids: string, method = 'POST') {
  return gateway.call(method, `/indexer/partition/one/file/${fileId}`, {
    body: uploadForm(`text of ${fileId}`, { workspace_ids }),
    token: ada.token,
  });
}

async function indexInto(fileId: string, ...ids: string[]) {
  const response = await upload(fileId, JSON.stringify(ids));
  expect(response.status).toBe(201);
  return publishTask(gateway, await taskIdOf(response), [`text of ${fileId}`]);
}

function index(fileId: string) {
  return indexText(gateway, { partition: 'one', fileId, token: ada.token }, [`text of ${fileId}`]);
}

async function filesIn(id: string) {
  return (await ask('GET', `${W}/${id}/files`))[1].file_ids;
}

async function liveFiles() {
  return (await ask('GET', '/partition/one'))[1].files.map(({ file_id }: { file_id: string }) => file_id);
}

describe('POST and GET /partition/{partition}/workspaces', () => {
  it('create and show a workspace, its id once in a partition', async () => {
    expect(await create('w', 'Déjà vu')).toEqual([201, { status: 'created', workspace_id: 'w' }]);
    const shown = {
      workspace_id: 'w',
      partition_name: 'one',
      display_name: 'Déjà vu',
      created_by: ada.userId,
      created_at: expect.any(String),
    };
    expect(await ask('GET', `${W}/w`)).toEqual([200, shown]);
    await create('a');
    expect(await ask('GET', W)).toEqual([
      200,
      { workspaces: [expect.objectContaining({ workspace_id: 'a', display_name: null }), shown] },
    ]);
    expect(await create('w')).toEqual([409, { detail: "Workspace 'w' already exists in partition 'one'" }]);
    await gateway.call('POST', '/partition/two', { token: ada.token });
    expect((await ask('POST', '/partition/two/workspaces', { workspace_id: 'w' }))[0]).toBe(201);
  });

  it('refuse odd ids and missing partitions, and know their readers', async () => {
    for (const body of [
      {},
      { workspace_id: '' },
      { workspace_id: 'a/b' },
      { workspace_id: 'a\n' },
      { workspace_id: 7 },
    ])
      expect([body, (await ask('POST', W, body))[0]]).toEqual([body, 422]);
    expect(await ask('POST', '/partition/none/workspaces', { workspace_id: 'w' })).toEqual([
      404,
      { detail: "Partition 'none' not found" },
    ]);
    expect(await gateway.adapters.partitions.get('none')).toBeNull();
    expect(await ask('GET', `${W}/none`)).toEqual([404, { detail: 'Workspace not found' }]);
    const viewer = gateway.addUser('viewer');
    gateway.addMember(viewer.userId, 'one', 'viewer');
    expect((await ask('GET', W, undefined, viewer.token))[0]).toBe(200);
    expect((await ask('POST', W, { workspace_id: 'w' }, viewer.token))[0]).toBe(403);
  });
});

describe('the form field workspace_ids', () => {
  it('puts the file into its workspaces; malformed is 400, unknown 404, and neither leaves a trace', async () => {
    await create('w');
    for (const [text, status] of [
      ['nonsense', 400],
      ['"w"', 400],
      ['["w", 7]', 400],
      ['{"w":1}', 400],
      ['["none"]', 404],
      ['["w","none"]', 404],
    ] as const)
      expect([text, (await upload('a', text)).status]).toEqual([text, status]);
    expect(await gateway.adapters.files.get('one', 'a')).toBeNull();
    for (const text of ['', '[]']) expect((await upload(`plain${text.length}`, text)).status).toBe(201);
    await indexInto('a', 'w', 'w');
    expect(await filesIn('w')).toEqual(['a']);
    expect(await ask('GET', '/partition/one/files/a/workspaces')).toEqual([
      200,
      { file_id: 'a', workspace_ids: ['w'] },
    ]);
  });

  it('is for POST: a PUT keeps what there is', async () => {
    await create('w');
    await indexInto('a', 'w');
    const put = await upload('a', '["none"]', 'PUT');
    expect(put.status).toBe(202);
    await publishTask(gateway, await taskIdOf(put), ['new text']);
    expect(await filesIn('w')).toEqual(['a']);
  });

  it('lets a file go whose workspace is deleted while it is admitted', async () => {
    await create('w');
    const { files } = gateway.adapters;
    const admitFirst = files.admitFirst.bind(files);
    files.admitFirst = async (input) => {
      // The deletion has looked for files just before this one was there.
      await ask('DELETE', `${W}/w`);
      return admitFirst(input);
    };
    const response = await upload('a', '["w"]');
    expect([response.status, await response.json()]).toEqual([404, { detail: 'Workspace not found' }]);
    expect(await files.get('one', 'a')).toBeNull();
  });
});

describe('the ownership rule', () => {
  it('deletes with the last workspace what was uploaded into one', async () => {
    for (const id of ['w', 'v']) await create(id);
    const [chunk] = await indexInto('only', 'w');
    await indexInto('both', 'w', 'v');
    await index('free');
    await ask('POST', `${W}/w/files`, { file_ids: ['free'] });
    expect(await filesIn('w')).toEqual(['both', 'free', 'only']);
    expect(await ask('DELETE', `${W}/w`)).toEqual([
      200,
      { status: 'deleted', orphaned_files_deleted: 1, orphaned_files_failed: [], kept_files: 0 },
    ]);
    expect(await liveFiles()).toEqual(['both', 'free']);
    expect((await ask('GET', `/extract/${chunk}`))[0]).toBe(404);
    expect((await ask('GET', `${W}/w`))[0]).toBe(404);
    expect((await ask('DELETE', `${W}/w`))[0]).toBe(404);
    // Its bytes are free again, and so is its id.
    expect((await create('w'))[0]).toBe(201);
    expect(await filesIn('w')).toEqual([]);
    await indexInto('only', 'w');
    expect((await ask('DELETE', `${W}/v`))[1]).toMatchObject({ orphaned_files_deleted: 1 });
    expect(await liveFiles()).toEqual(['free', 'only']);
  });

  it('keeps files when asked to, and counts those that would have gone', async () => {
    await create('w');
    await indexInto('own', 'w');
    await index('free');
    await ask('POST', `${W}/w/files`, { file_ids: ['free'] });
    expect(await ask('DELETE', `${W}/w?keep_files=true`)).toEqual([
      200,
      { status: 'deleted', orphaned_files_deleted: 0, orphaned_files_failed: [], kept_files: 1 },
    ]);
    expect(await liveFiles()).toEqual(['free', 'own']);
    expect((await ask('DELETE', `${W}/w?keep_files=perhaps`))[0]).toBe(422);
  });

  it('cancels what is still being indexed', async () => {
    await create('w');
    const response = await upload('slow', '["w"]');
    const taskId = await taskIdOf(response);
    expect((await ask('DELETE', `${W}/w`))[1]).toMatchObject({ orphaned_files_deleted: 1 });
    expect((await ask('GET', `/indexer/task/${taskId}`))[1].task_state).toBe('CANCELLED');
    expect(gateway.workflows.cancelled).toHaveLength(1);
    expect((await upload('slow', '[]')).status).toBe(201);
  });

  it('asks Temporal for the clean-up of many files some at a time, and leaves the rest to the sweep', async () => {
    await create('w');
    const key = (await gateway.adapters.workspaces.find(['one'], 'w'))[0]!.workspace_key;
    const { partition_key: partitionKey } = (await gateway.adapters.partitions.get('one'))!;
    const { files, claims } = gateway.adapters;
    for (let at = 0; at < 1_200; at += 1) {
      const file = { fileKey: `key-${at}`, fileId: `file-${at}`, partition: 'one' };
      const admitted = { ...file, partitionKey, userId: ada.userId, generation: at, taskId: `task-${at}` };
      await files.admitFirst({ ...admitted, workspaces: [key] });
      await claims.claim({ ...file, digest: `digest-${at}`, taskId: admitted.taskId });
    }
    const { starter, cleaned } = gateway.workflows;
    const clean = starter.startCleaning.bind(starter);
    let open = 0;
    let most = 0;
    starter.startCleaning = async (...given) => {
      most = Math.max(most, (open += 1));
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return clean(...given);
    };
    expect((await ask('DELETE', `${W}/w`))[1]).toMatchObject({ orphaned_files_deleted: 1_200 });
    expect(most).toBeLessThanOrEqual(20);
    expect(cleaned).toHaveLength(400);
    expect(await files.listTombstones(2_000)).toHaveLength(1_200);
    for (const at of [0, 1_199]) expect(await claims.listByFile(`key-${at}`)).toEqual([]);
  });

  it('asks a silent Temporal for some of many files, and no more', async () => {
    await create('w');
    for (let at = 0; at < 50; at += 1) await indexInto(`file-${at}`, 'w');
    gateway.workflows.state.away = true;
    let asked = 0;
    const { starter } = gateway.workflows;
    const clean = starter.startCleaning.bind(starter);
    starter.startCleaning = (...given) => {
      asked += 1;
      return clean(...given);
    };
    expect((await ask('DELETE', `${W}/w`))[1]).toMatchObject({ orphaned_files_deleted: 50 });
    expect(asked).toBeLessThanOrEqual(20);
    expect(await liveFiles()).toEqual([]);
  });

  it('names what it could not delete, and hides the workspace all the same', async () => {
    await create('w');
    await indexInto('a', 'w');
    await indexInto('b', 'w');
    const { files, workspaces } = gateway.adapters;
    const release = files.releaseWorkspace.bind(files);
    const bad = (await files.get('one', 'a'))?.file_key;
    files.releaseWorkspace = async (key, ...rest) => {
      if (key === bad) throw new Error('lost');
      return release(key, ...rest);
    };
    expect((await ask('DELETE', `${W}/w`))[1]).toMatchObject({
      orphaned_files_deleted: 1,
      orphaned_files_failed: ['a'],
    });
    expect((await ask('GET', `${W}/w`))[0]).toBe(404);
    // The mark waits for the sweep.
    expect(await workspaces.listDeleted(new Date(Date.now() + 1000), 5)).toHaveLength(1);
  });

  it('is for owners', async () => {
    const editor = gateway.addUser('editor');
    gateway.addMember(editor.userId, 'one', 'editor');
    await create('w');
    expect((await ask('DELETE', `${W}/w`, undefined, editor.token))[0]).toBe(403);
  });
});

describe('files of a workspace', () => {
  it('are put in and taken out; taking out deletes nothing', async () => {
    await create('w');
    await index('a');
    await index('b');
    const put = { file_ids: ['b', 'a'] };
    expect(await ask('POST', `${W}/w/files`, put)).toEqual([200, { status: 'added', ...put }]);
    expect((await ask('POST', `${W}/w/files`, put))[0]).toBe(200);
    expect(await filesIn('w')).toEqual(['a', 'b']);
    expect(await ask('DELETE', `${W}/w/files/a`)).toEqual([200, { status: 'removed' }]);
    expect((await ask('DELETE', `${W}/w/files/a`))[0]).toBe(404);
    expect((await ask('DELETE', `${W}/w/files/none`))[0]).toBe(404);
    expect(await filesIn('w')).toEqual(['b']);
    expect(await liveFiles()).toEqual(['a', 'b']);
  });

  it('stay with the next workspace when they outlived their own', async () => {
    for (const id of ['w', 'later']) await create(id);
    await indexInto('a', 'w');
    expect((await ask('DELETE', `${W}/w/files/a`))[0]).toBe(200);
    expect((await ask('POST', `${W}/later/files`, { file_ids: ['a'] }))[0]).toBe(200);
    expect(await ask('DELETE', `${W}/later`)).toEqual([
      200,
      { status: 'deleted', orphaned_files_deleted: 0, orphaned_files_failed: [], kept_files: 0 },
    ]);
    expect(await liveFiles()).toEqual(['a']);
  });

  it('are all put in, or none', async () => {
    await create('w');
    await index('a');
    await upload('pending', '[]');
    for (const id of ['none', 'pending'])
      expect(await ask('POST', `${W}/w/files`, { file_ids: ['a', id] })).toEqual([
        404,
        { detail: `File '${id}' not found in partition 'one'` },
      ]);
    expect(await filesIn('w')).toEqual([]);
    expect((await ask('POST', `${W}/none/files`, { file_ids: ['a'] }))[0]).toBe(404);
    expect((await ask('POST', '/partition/none/workspaces/w/files', { file_ids: ['a'] }))[0]).toBe(404);
    for (const body of [{}, { file_ids: 'a' }, { file_ids: [1] }])
      expect([body, (await ask('POST', `${W}/w/files`, body))[0]]).toEqual([body, 422]);
    expect((await ask('GET', '/partition/one/files/none/workspaces'))[0]).toBe(404);
  });

  it('are not put in when one of them goes meanwhile; what was in it stays', async () => {
    await create('w');
    for (const id of ['a', 'b', 'c']) await index(id);
    await ask('POST', `${W}/w/files`, { file_ids: ['b'] });
    const { files } = gateway.adapters;
    const attach = files.attachWorkspace.bind(files);
    const last = (await files.get('one', 'c'))?.file_key;
    files.attachWorkspace = async (file, key) => {
      // Deleted behind the look at all of them.
      if (file.file_key === last)
        await gateway.call('DELETE', '/indexer/partition/one/file/c', { token: ada.token });
      return attach(file, key);
    };
    expect(await ask('POST', `${W}/w/files`, { file_ids: ['a', 'b', 'c'] })).toEqual([
      404,
      { detail: "File 'c' not found in partition 'one'" },
    ]);
    expect(await filesIn('w')).toEqual(['b']);
    expect(await liveFiles()).toEqual(['a', 'b']);
  });

  it('are left to a deletion of it that comes meanwhile, which is to keep them', async () => {
    await create('w');
    await indexInto('own', 'w');
    await index('guest');
    const { files, workspaces } = gateway.adapters;
    const attach = files.attachWorkspace.bind(files);
    files.attachWorkspace = async (...given) => {
      const attached = await attach(...given);
      await workspaces.markDeleted('one', 'w', { keepFiles: true });
      return attached;
    };
    expect((await ask('POST', `${W}/w/files`, { file_ids: ['own', 'guest'] }))[0]).toBe(404);
    expect(await liveFiles()).toEqual(['guest', 'own']);
    const [key] = (await files.get('one', 'own'))!.workspaces;
    expect(key).toBeDefined();
    expect((await files.get('one', 'guest'))?.workspaces).toEqual([]);
  });

  it('go out of it when they are deleted', async () => {
    await create('w');
    await indexInto('a', 'w');
    await gateway.call('DELETE', '/indexer/partition/one/file/a', { token: ada.token });
    expect(await filesIn('w')).toEqual([]);
    expect((await ask('DELETE', `${W}/w`))[1]).toMatchObject({ orphaned_files_deleted: 0 });
  });
});
