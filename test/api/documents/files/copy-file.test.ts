import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TaskRecord } from '../../../../schemas/documents/tasks.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, publishTask, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway({ env: { MAX_RUNNING_TASKS_PER_USER: '1' } });
  ada = gateway.addUser('ada', { file_quota: 2 });
  await gateway.call('POST', '/partition/target', { token: ada.token });
});
afterEach(() => gateway.close());

const PATH = '/indexer/partition/target/file/copy/copy';

async function copy(fields: Record<string, string> = {}, token = ada.token, path = PATH) {
  const body = new FormData();
  const given = { source_partition: 'notes', source_file_id: 'a1', ...fields };
  for (const [name, value] of Object.entries(given)) if (value !== '') body.set(name, value);
  const response = await gateway.call('POST', path, { body, token });
  return [response.status, await response.json()];
}

function index(metadata?: string) {
  return indexText(
    gateway,
    { partition: 'notes', fileId: 'a1', token: ada.token, ...(metadata === undefined ? {} : { metadata }) },
    ['one', 'two'],
  );
}

/** From now on each task is done as soon as it is started. */
function workAtOnce(work = (task: TaskRecord) => publishTask(gateway, task.task_id, ['one', 'two'])): void {
  gateway.workflows.starter.startIndexing = async (task) => {
    await work(task);
  };
}

describe('POST /indexer/partition/{partition}/file/{file_id}/copy', () => {
  it('is for editors here who are viewers there', async () => {
    await index();
    workAtOnce();
    const bob = gateway.addUser('bob');
    expect((await copy({}, bob.token))[0]).toBe(403);
    gateway.addMember(bob.userId, 'target', 'editor');
    expect(await copy({}, bob.token)).toEqual([403, { detail: "Access to partition 'notes' forbidden" }]);
    gateway.addMember(bob.userId, 'notes', 'viewer');
    expect(await copy({}, bob.token)).toEqual([201, { message: 'File copied successfully.' }]);
  });

  it('answers once the copy is live, with the words of the source and those given', async () => {
    await index('{"kept":1,"changed":"old"}');
    workAtOnce();
    await gateway.adapters.files.attachWorkspace((await gateway.adapters.files.get('notes', 'a1'))!, 'w');
    expect((await copy({ metadata: '{"changed":"new"}' }))[0]).toBe(201);
    const [source, copied] = await Promise.all([
      gateway.adapters.files.get('notes', 'a1'),
      gateway.adapters.files.get('target', 'copy'),
    ]);
    expect(copied).toMatchObject({ workspaces: [], independent: true });
    expect(copied?.live).toMatchObject({
      metadata: { kept: 1, changed: 'new' },
      content_sha256: source?.live?.content_sha256,
      filename: source?.live?.filename,
    });
    expect(copied?.file_key).not.toBe(source?.file_key);
    const task = await gateway.adapters.tasks.get(copied?.live?.task_id ?? '');
    expect(task).toMatchObject({
      kind: 'copy',
      source: { file_key: source?.file_key, generation: source?.live?.generation },
    });
  });

  it('answers 404 for a source or a target partition that is not there, 422 without a source', async () => {
    expect((await copy())[0]).toBe(404);
    await index();
    expect((await copy({ source_file_id: 'none' }))[0]).toBe(404);
    expect((await copy({}, ada.token, '/indexer/partition/nowhere/file/copy/copy'))[0]).toBe(404);
    expect((await copy({ source_file_id: '' }))[0]).toBe(422);
    expect((await copy({ metadata: '[]' }))[0]).toBe(400);
    expect((await copy({}, ada.token, '/indexer/partition/target/file/a%20b/copy'))[0]).toBe(400);
  });

  it('answers 409 for a taken id and for bytes that are there, and counts against the quota', async () => {
    await index();
    workAtOnce();
    expect((await copy())[0]).toBe(201);
    expect((await copy({}, ada.token, '/indexer/partition/target/file/more/copy'))[0]).toBe(403);
    const free = gateway.addUser('free');
    for (const partition of ['notes', 'target']) gateway.addMember(free.userId, partition, 'editor');
    expect((await copy({}, free.token))[0]).toBe(409);
    expect(await copy({}, free.token, '/indexer/partition/target/file/more/copy')).toMatchObject([
      409,
      { extra: { existing_file_id: 'copy' } },
    ]);
    expect((await gateway.adapters.files.countByUploader([free.userId])).get(free.userId)).toEqual({
      files: 0,
      pending: 0,
    });
  });

  it('within one partition is 409 while content is deduplicated, as OpenAPI says, and a copy otherwise', async () => {
    const within = '/indexer/partition/notes/file/copy/copy';
    await index();
    expect(await copy({}, ada.token, within)).toMatchObject([409, { extra: { existing_file_id: 'a1' } }]);
    const description = (await (await gateway.call('GET', '/openapi.json')).json()) as {
      paths: Record<string, { post?: { summary: string } }>;
    };
    expect(description.paths['/indexer/partition/{partition}/file/{file_id}/copy']?.post?.summary).toContain(
      'With CONTENT_DEDUPLICATION_ENABLED a copy within one partition is 409',
    );
    await gateway.close();
    gateway = await startGateway({ env: { CONTENT_DEDUPLICATION_ENABLED: 'false' } });
    ada = gateway.addUser('ada');
    await index();
    workAtOnce();
    expect((await copy({}, ada.token, within))[0]).toBe(201);
  });

  it("takes no turn behind its user's uploads, since the client waits for it", async () => {
    const free = gateway.addUser('free');
    gateway.addMember(free.userId, 'target', 'editor');
    await indexText(gateway, { partition: 'frees', fileId: 'a', token: free.token }, ['one']);
    for (const id of ['b', 'c']) {
      const path = `/indexer/partition/frees/file/${id}`;
      await gateway.call('POST', path, { body: uploadForm(`text ${id}`), token: free.token });
    }
    const waiting = await gateway.adapters.files.get('frees', 'c');
    expect(gateway.workflows.started).not.toContain(waiting?.pending_task);
    workAtOnce();
    const source = { source_partition: 'frees', source_file_id: 'a' };
    expect((await copy(source, free.token))[0]).toBe(201);
  });

  it('is no 201 when it fails', async () => {
    await index();
    workAtOnce(async (task) => {
      await gateway.adapters.files.releasePending(task.file_key, task.task_id);
      const failure = { code: 'FILE_NOT_FOUND', message: 'The source was deleted.', traceback: [] };
      await gateway.adapters.tasks.finish(task.task_id, 'FAILED', failure);
      return [];
    });
    expect(await copy()).toEqual([404, { detail: 'The source was deleted.' }]);
  });
});
