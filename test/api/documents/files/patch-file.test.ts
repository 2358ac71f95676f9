import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { toVersionEntries } from '../../../../activities/documents/metadata-entries.js';
import type { LooseBody } from '../../support/loose-body.js';
import { ADMIN_TOKEN, startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, publishTask, taskIdOf, uploadForm } from '../../support/uploads.js';
import { wholeChunks } from '../../../support/whole-chunks.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
});
afterEach(() => gateway.close());

const PATH = '/indexer/partition/notes/file/a1';

function form(metadata: string) {
  const body = new FormData();
  body.set('metadata', metadata);
  return body;
}

async function patch(metadata: string, path = PATH, token = ada.token) {
  const response = await gateway.call('PATCH', path, { body: form(metadata), token });
  return [response.status, await response.json()] as [number, { detail?: string; extra?: object }];
}

function index(metadata?: string, fileId = 'a1', partition = 'notes', lines = ['one', 'two']) {
  return indexText(
    gateway,
    { partition, fileId, token: ada.token, ...(metadata === undefined ? {} : { metadata }) },
    lines,
  );
}

/** As text: a double cannot hold every integer of it. */
async function shown(path = '/partition/notes/file/a1') {
  return (await gateway.call('GET', path, { token: ada.token })).text();
}

function record(partition = 'notes') {
  return gateway.adapters.files.get(partition, 'a1');
}

async function chunks(partition = 'notes') {
  const file = await record(partition);
  return wholeChunks(gateway.adapters.chunks, file!.file_key, file!.live!.generation);
}

describe('PATCH /indexer/partition/{partition}/file/{file_id}', () => {
  it('is for editors', async () => {
    await index();
    const viewer = gateway.addUser('viewer');
    gateway.addMember(viewer.userId, 'notes', 'viewer');
    expect((await patch('{}', PATH, viewer.token))[0]).toBe(403);
    expect((await patch('{}', PATH, gateway.addUser('outsider').token))[0]).toBe(403);
    const editor = gateway.addUser('editor');
    gateway.addMember(editor.userId, 'notes', 'editor');
    expect(await patch('{}', PATH, editor.token)).toEqual([
      200,
      { message: "Metadata for file 'a1' successfully updated." },
    ]);
  });

  it('answers 404 for what is not there, and 400 for what cannot be', async () => {
    expect((await patch('{}'))[0]).toBe(404);
    await index();
    expect((await patch('{}', '/indexer/partition/notes/file/a%20b'))[0]).toBe(400);
    for (const bad of ['[]', 'nonsense', '{"n":9223372036854775808}', '{"partition":7}', '{"parent_id":1}'])
      expect((await patch(bad))[0]).toBe(400);
    await gateway.call('DELETE', PATH, { token: ada.token });
    expect((await patch('{}'))[0]).toBe(404);
  });

  it('merges keys, which answers and chunks show at once; nothing is embedded again', async () => {
    await index('{"kept":1,"changed":"old","parent_id":"root","relationship_id":"g"}');
    const before = await record();
    expect((await patch('{"changed":"new","added":[1,{"x":[]}],"relationship_id":"h","ключ":"é"}'))[0]).toBe(
      200,
    );
    const body = JSON.parse(await shown()) as { metadata: object };
    expect(body.metadata).toMatchObject({
      kept: 1,
      changed: 'new',
      added: [1, { x: [] }],
      ключ: 'é',
      relationship_id: 'h',
      parent_id: 'root',
      filename: 'notes.txt',
    });
    for (const chunk of await chunks())
      expect(chunk).toMatchObject({
        relationship_id: 'h',
        parent_id: 'root',
        metadata: expect.arrayContaining([{ key: 'changed', text: 'new' }]),
      });
    const after = await record();
    expect(after?.live).toMatchObject({ generation: before?.live?.generation, chunk_count: 2 });
    expect([after?.chunk_updates, after?.metadata_patch]).toEqual([[], null]);
    expect(gateway.workflows.started).toHaveLength(1);
  });

  it('keeps integers exact within 64 bits, and drops what only the server sets', async () => {
    await index();
    const digits = ['9223372036854775807', '-9223372036854775808', '9007199254740993'];
    const sent = `{"a":${digits[0]},"b":[${digits[1]}],"c":{"d":${digits[2]}},"file_id":"x","source":"y","_openrag_z":1,"indexed_at":"never"}`;
    expect((await patch(sent))[0]).toBe(200);
    const text = await shown();
    for (const each of digits) expect(text).toContain(each);
    expect(text).not.toMatch(/never|_openrag_z|"source":"y"|"file_id":"x"/);
  });

  it('asks for the field', async () => {
    await index();
    const missing = [{ type: 'missing', loc: ['body', 'metadata'], msg: 'Field required', input: null }];
    const mistyped = new FormData();
    mistyped.set('Metadata', '{"added":1}');
    for (const body of [undefined, mistyped, form('')]) {
      const response = await gateway.call('PATCH', PATH, { ...(body && { body }), token: ada.token });
      expect([response.status, await response.json()]).toEqual([422, { detail: missing }]);
    }
  });

  it('takes a form in either encoding', async () => {
    await index();
    const response = await gateway.call('PATCH', PATH, {
      body: new URLSearchParams({ metadata: '{"plain":true}' }),
      token: ada.token,
    });
    expect(response.status).toBe(200);
    expect(await shown()).toContain('"plain":true');
  });

  it('while the first indexing runs: its publication merges the words', async () => {
    const uploaded = await gateway.call('POST', PATH, {
      body: uploadForm('text', { metadata: '{"kept":1,"changed":"old"}' }),
      token: ada.token,
    });
    expect((await patch('{"changed":"new"}'))[0]).toBe(200);
    expect((await patch('{"added":true}'))[0]).toBe(200);
    await publishTask(gateway, await taskIdOf(uploaded), ['text']);
    expect((await record())?.live?.metadata).toEqual({ kept: 1, changed: 'new', added: true });
  });

  it('while a replacement runs: the live version shows it at once, the new one as well', async () => {
    await index('{"of":"old"}');
    const put = await gateway.call('PUT', PATH, {
      body: uploadForm('other', { metadata: '{"of":"new","other":1}' }),
      token: ada.token,
    });
    expect((await patch('{"patched":true}'))[0]).toBe(200);
    expect((await record())?.live?.metadata).toEqual({ of: 'old', patched: true });
    await publishTask(gateway, await taskIdOf(put), ['other']);
    expect((await record())?.live?.metadata).toEqual({ of: 'new', other: 1, patched: true });
    expect((await record())?.metadata_patch).toBeNull();
  });

  it('many at once are all merged, and record and chunks agree', async () => {
    await index();
    const answers = await Promise.all(Array.from({ length: 25 }, (_, i) => patch(`{"k${i}":${i}}`)));
    expect(answers.map(([status]) => status)).toEqual(Array(25).fill(200));
    const live = (await record())!.live!;
    expect(Object.keys(live.metadata)).toHaveLength(25);
    for (const chunk of await chunks()) {
      const said = toVersionEntries(live);
      expect(chunk.metadata).toEqual(expect.arrayContaining(said));
      expect(chunk.metadata).toHaveLength(said.length);
    }
    expect((await record())?.chunk_updates).toEqual([]);
  });

  it('of a file with more than 1,000 chunks: the record at once, the chunks by a workflow', async () => {
    await index(
      '{"of":"old"}',
      'a1',
      'notes',
      Array.from({ length: 1001 }, (_, i) => `line ${i}`),
    );
    expect((await patch('{"of":"new"}'))[0]).toBe(200);
    const file = await record();
    expect(file?.live?.metadata).toEqual({ of: 'new' });
    expect(file?.chunk_updates).toHaveLength(1);
    expect(gateway.workflows.settled).toEqual([file?.file_key]);
  });

  it('holds while the vector store is away; the sweep finds what is left to do', async () => {
    await index();
    gateway.adapters.chunks.annotate = () => Promise.reject(new Error('away'));
    expect((await patch('{"k":1}'))[0]).toBe(200);
    expect(await shown()).toContain('"k":1');
    const later = new Date(Date.now() + 1000);
    expect(await gateway.adapters.files.listUnconfirmed(later, 10)).toMatchObject([{ file_id: 'a1' }]);
  });

  describe('with a partition', () => {
    const move = (to: string) => patch(JSON.stringify({ partition: to, moved: true }));
    const create = (partition: string, token = ada.token) =>
      gateway.call('POST', `/partition/${partition}`, { token });
    const search = async (partition: string) => {
      const response = await gateway.call('GET', `/search/partition/${partition}?text=one`, {
        token: ada.token,
      });
      return ((await response.json()) as { documents: { metadata: object }[] }).documents.length;
    };
    const claims = async () => {
      const found = [];
      for await (const { partition } of gateway.adapters.claims.scan()) found.push(partition);
      return found;
    };

    it('moves the file: record, claim and chunks', async () => {
      await index();
      await create('target');
      expect((await move('target'))[0]).toBe(200);
      expect((await gateway.call('GET', '/partition/notes/file/a1', { token: ada.token })).status).toBe(404);
      expect(await shown('/partition/target/file/a1')).toContain('"moved":true');
      expect((await record('target'))?.live?.metadata).toEqual({ moved: true });
      expect(new Set((await chunks('target')).map(({ partition }) => partition))).toEqual(
        new Set(['target']),
      );
      expect([await search('notes'), await search('target')]).toEqual([0, 2]);
      expect(await claims()).toEqual(['target']);
      // The old name and the same bytes are free again.
      await index();
      expect((await move('notes'))[0]).toBe(200);
    });

    describe('and its task', () => {
      /** Where the task says that its file is: by its status, its events and the list. */
      const places = async (taskId: string, token = ada.token): Promise<unknown[]> => {
        const get = (path: string) => gateway.call('GET', path, { token });
        const status = (await (await get(`/indexer/task/${taskId}`)).json()) as LooseBody;
        const [, event = ''] =
          /^data: (.*)$/m.exec(await (await get(`/indexer/task/${taskId}/events`)).text()) ?? [];
        const { tasks } = (await (await get('/queue/tasks')).json()) as LooseBody;
        const listed = tasks.find(({ task_id }: LooseBody) => task_id === taskId);
        return [status, JSON.parse(event), listed].flatMap(({ details }: LooseBody) => [
          details.partition,
          details.metadata.partition,
        ]);
      };
      const post = async () =>
        taskIdOf(await gateway.call('POST', PATH, { body: uploadForm('one\ntwo'), token: ada.token }));

      it('names the new partition, and the chunks do when it publishes', async () => {
        await create('notes');
        await create('target');
        const taskId = await post();
        expect((await move('target'))[0]).toBe(200);
        await publishTask(gateway, taskId, ['one', 'two']);
        expect(await places(taskId)).toEqual(Array(6).fill('target'));
        expect(new Set((await chunks('target')).map(({ partition }) => partition))).toEqual(
          new Set(['target']),
        );
      });

      it('keeps the old name for an uploader who may not look into the new one', async () => {
        await create('notes');
        const uploader = gateway.addUser('uploader');
        gateway.addMember(uploader.userId, 'notes', 'editor');
        const sent = { body: uploadForm('one'), token: uploader.token };
        const taskId = await taskIdOf(await gateway.call('POST', PATH, sent));
        await publishTask(gateway, taskId, ['one']);
        await create('target');
        expect((await move('target'))[0]).toBe(200);
        expect(await places(taskId, uploader.token)).toEqual(Array(6).fill('notes'));
        // An administrator sees where everybody's files are, and no more of a file in a foreign partition.
        expect(await places(taskId, ADMIN_TOKEN)).toEqual(Array(3).fill(['target', undefined]).flat());
      });
    });

    it('leaves the workspaces of the old partition, and lives by itself in the new one', async () => {
      await index();
      await create('target');
      const { files } = gateway.adapters;
      const before = await record();
      await files.attachWorkspace(before!, 'w');
      expect((await move('target'))[0]).toBe(200);
      expect(await record('target')).toMatchObject({ workspaces: [], independent: true });
      expect(await files.attachWorkspace(before!, 'w')).toBe(false);
    });

    it('asks for an editor there, and for a partition that is there', async () => {
      await index();
      const bob = gateway.addUser('bob');
      await create('his', bob.token);
      gateway.addMember(ada.userId, 'his', 'viewer');
      expect(await move('his')).toEqual([403, { detail: "Role 'editor' required on partition 'his'" }]);
      expect(await move('nowhere')).toEqual([404, { detail: "Partition 'nowhere' not found" }]);
      expect((await move('a b'))[0]).toBe(400);
      expect((await record())?.live?.metadata).toEqual({});
    });

    it('answers 409 when the target has that id, those bytes or another embedder, and changes nothing', async () => {
      await index();
      await index(undefined, 'a1', 'same-id', ['other text']);
      expect(await move('same-id')).toEqual([
        409,
        { detail: "File 'a1' already exists in partition same-id" },
      ]);
      await index(undefined, 'b2', 'same-bytes');
      expect(await move('same-bytes')).toMatchObject([
        409,
        {
          detail: expect.stringContaining('[DOCUMENT_CONTENT_EXISTS]'),
          extra: { existing_file_id: 'b2' },
        },
      ]);
      const { partitions } = gateway.adapters;
      await partitions.create({ partition: 'other-embedder', embedder: 'other', ownerId: ada.userId });
      expect((await move('other-embedder'))[0]).toBe(409);
      expect(await record()).toMatchObject({ partition: 'notes', chunk_updates: [] });
      expect((await claims()).sort()).toEqual(['notes', 'same-bytes', 'same-id']);
    });

    it('while an indexing runs: it publishes where the file is then', async () => {
      const uploaded = await gateway.call('POST', PATH, { body: uploadForm('one'), token: ada.token });
      await create('target');
      expect((await move('target'))[0]).toBe(200);
      await publishTask(gateway, await taskIdOf(uploaded), ['one']);
      expect((await record('target'))?.live?.metadata).toEqual({ moved: true });
      expect(await claims()).toEqual(['target']);
    });

    it('two ways at once: the file is in one place, and claimed there', async () => {
      await index();
      await Promise.all(['left', 'right'].map((name) => create(name)));
      const answers = await Promise.all([move('left'), move('right')]);
      expect(answers.map(([status]) => status)).toContain(200);
      const [left, right] = [await record('left'), await record('right')];
      expect([left, right].filter((file) => file !== null)).toHaveLength(1);
      expect(await claims()).toEqual([left === null ? 'right' : 'left']);
    });
  });
});
