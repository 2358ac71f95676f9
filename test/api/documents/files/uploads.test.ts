import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { NOTHING, indexText, leftovers, publishTask, taskIdOf, uploadForm } from '../../support/uploads.js';

const PATH = '/indexer/partition/notes/file/a1';
let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway({ env: { MAX_UPLOAD_SIZE_MB: '1', MAX_PARTITIONS_PER_USER: '2' } });
});
afterEach(() => gateway.close());

function post(body: FormData, path = PATH, token?: string) {
  return gateway.call('POST', path, { body, ...(token === undefined ? {} : { token }) });
}

async function answer(response: Response) {
  return [response.status, await response.json()];
}

describe('POST /indexer/partition/{partition}/file/{file_id}', () => {
  describe('who may', () => {
    it('lets a user create the partition by the upload, and own it', async () => {
      const { token, userId } = gateway.addUser('ada');
      expect((await post(uploadForm(), PATH, token)).status).toBe(201);
      expect(await gateway.adapters.partitions.roleOf(userId, 'notes')).toBe('owner');
    });

    it('creates none for a document that asks for one that is there', async () => {
      const { token, userId } = gateway.addUser('ada');
      const path = `${PATH}?create_partition=false`;
      const missing = [404, { detail: "Partition 'notes' not found" }];
      expect(await answer(await post(uploadForm(), path, token))).toEqual(missing);
      await gateway.call('POST', '/partition/notes', { token });
      expect((await post(uploadForm(), path, token)).status).toBe(201);
      expect(await gateway.adapters.partitions.roleOf(userId, 'notes')).toBe('owner');
      await gateway.call('DELETE', '/partition/notes', { token });
      expect(await answer(await post(uploadForm(), path, token))).toEqual(missing);
      expect(await gateway.adapters.partitions.get('notes')).toBeNull();
    });

    it('takes an editor, not a viewer, not an outsider', async () => {
      await gateway.call('POST', '/partition/notes');
      const [editor, viewer, outsider] = ['ed', 'vi', 'st'].map((name) => gateway.addUser(name));
      gateway.addMember(editor?.userId ?? 0, 'notes', 'editor');
      gateway.addMember(viewer?.userId ?? 0, 'notes', 'viewer');
      expect((await post(uploadForm(), PATH, editor?.token)).status).toBe(201);
      expect(
        await answer(await post(uploadForm('other'), '/indexer/partition/notes/file/a2', viewer?.token)),
      ).toEqual([403, { detail: "Role 'editor' required on partition 'notes'" }]);
      expect(
        await answer(await post(uploadForm('third'), '/indexer/partition/notes/file/a3', outsider?.token)),
      ).toEqual([403, { detail: "Access to partition 'notes' forbidden" }]);
    });

    it('keeps to the limit of partitions, before the bytes are taken', async () => {
      const { token } = gateway.addUser('ada');
      await gateway.call('POST', '/partition/one', { token });
      await gateway.call('POST', '/partition/two', { token });
      const response = await post(uploadForm(), PATH, token);
      expect(response.status).toBe(403);
      expect(((await response.json()) as { detail: string }).detail).toMatch(
        /^\[PARTITION_LIMIT_EXCEEDED\]: /,
      );
      expect(await leftovers(gateway)).toEqual(NOTHING);
    });
  });

  describe('what it does', () => {
    it('stores the bytes, records the task, starts the work and answers an absolute URL', async () => {
      const form = uploadForm('Émile écrit.', {
        filename: 'Café "Ü".txt',
        metadata: '{"owner":"ada","year":2024}',
      });
      const response = await post(form, `${PATH}/`);
      expect(response.status).toBe(201);
      const taskId = await taskIdOf(response.clone());
      expect(await response.json()).toEqual({ task_status_url: `${gateway.url}/indexer/task/${taskId}` });

      const task = await gateway.adapters.tasks.get(taskId);
      expect(task).toMatchObject({
        state: 'QUEUED',
        intent: 'create',
        partition: 'notes',
        file_id: 'a1',
        user_id: 1,
        metadata: { owner: 'ada', year: 2024 },
        upload: {
          upload_id: taskId,
          filename: 'Café _Ü_.txt',
          original_filename: 'Café "Ü".txt',
          mimetype: 'text/plain',
          size_bytes: 14,
        },
      });
      expect(task?.handed_over_at).toBeInstanceOf(Date);
      expect(gateway.workflows.started).toEqual([taskId]);
      expect(await gateway.adapters.blobs.info(taskId)).toMatchObject({
        fileKey: task?.file_key,
        generation: task?.generation,
      });
      expect((await gateway.adapters.files.get('notes', 'a1'))?.pending_task).toBe(taskId);
    });

    it.each([
      ['a.txt', 'image/x-odd', 'text/plain'],
      ['a.md', 'application/octet-stream', 'text/markdown'],
      ['README', 'text/plain', 'text/plain'],
    ])('reads %s, said to be %s, as %s', async (filename, mimetype, kept) => {
      const response = await post(uploadForm('x', { filename, metadata: JSON.stringify({ mimetype }) }));
      expect(response.status).toBe(201);
      const task = await gateway.adapters.tasks.get(await taskIdOf(response));
      expect(task).toMatchObject({ metadata: { mimetype }, upload: { mimetype: kept } });
    });

    it('answers 201 all the same while Temporal is away, and leaves the start to the sweep', async () => {
      gateway.workflows.state.away = true;
      const response = await post(uploadForm());
      expect(response.status).toBe(201);
      const task = await gateway.adapters.tasks.get(await taskIdOf(response));
      expect(task).toMatchObject({ state: 'QUEUED', handed_over_at: null });
    });

    it('is not refused any more by what fails once it is admitted', async () => {
      await indexText(gateway, { partition: 'notes', fileId: 'a1' }, ['one']);
      const pending = await gateway.call('PUT', PATH, { body: uploadForm('two') });
      expect(pending.status).toBe(202);
      const fail = (): Promise<never> => Promise.reject(new Error('the store went away'));
      gateway.adapters.blobs.assign = fail;
      gateway.adapters.tasks.finish = fail;
      gateway.adapters.tasks.markHandedOver = fail;
      const response = await gateway.call('PUT', PATH, { body: uploadForm('three') });
      expect(response.status).toBe(202);
      const taskId = await taskIdOf(response);
      expect((await gateway.adapters.files.get('notes', 'a1'))?.pending_task).toBe(taskId);
      expect((await leftovers(gateway)).blobs).toContain(taskId);
    });

    it('is not refused any more when nobody can say whether its partition still stands', async () => {
      const { partitions, files, blobs } = gateway.adapters;
      const { get } = partitions;
      partitions.get = async (name) => {
        if ((await files.get('notes', 'a1')) !== null) throw new Error('the store went away');
        return get(name);
      };
      const response = await post(uploadForm());
      expect(response.status).toBe(201);
      const taskId = await taskIdOf(response);
      expect((await files.get('notes', 'a1'))?.pending_task).toBe(taskId);
      expect(await blobs.info(taskId)).not.toBeNull();
    });

    it('keeps integers exact within 64 bits', async () => {
      const metadata =
        '{"big":9223372036854775807,"small":-9223372036854775808,"n":3,"deep":{"x":[9007199254740993]}}';
      const response = await post(uploadForm('x', { metadata }));
      const status = await gateway.call('GET', `/indexer/task/${await taskIdOf(response)}`);
      expect(await status.text()).toContain(metadata.slice(1, -1));
    });

    it('drops protected keys and normalises created_at', async () => {
      const metadata = JSON.stringify({
        source: '/etc/passwd',
        file_id: 'z',
        _id: 1,
        vector: [1],
        vector_builtin_hash: [1],
        _openrag_x: 1,
        created_at: '2024-01-02 03:04:05+02:00',
        kept: true,
        relationship_id: 'thread',
        parent_id: 'p',
      });
      const taskId = await taskIdOf(await post(uploadForm('x', { metadata })));
      expect(await gateway.adapters.tasks.get(taskId)).toMatchObject({
        metadata: {
          created_at: '2024-01-02T01:04:05.000Z',
          kept: true,
          relationship_id: 'thread',
          parent_id: 'p',
        },
        relationship_id: 'thread',
        parent_id: 'p',
      });
      const keys = Object.keys((await gateway.adapters.tasks.get(taskId))?.metadata ?? {});
      expect(keys.sort()).toEqual(['created_at', 'kept', 'parent_id', 'relationship_id']);
    });
  });

  describe('what is in the way', () => {
    it('answers 409 for a file that exists', async () => {
      await indexText(gateway, { partition: 'notes', fileId: 'a1' }, ['one']);
      const before = await leftovers(gateway);
      expect(await answer(await post(uploadForm('two')))).toEqual([
        409,
        { detail: "File 'a1' already exists in partition notes" },
      ]);
      expect(await leftovers(gateway)).toEqual(before);
    });

    it('answers 409 with the running task while the first indexing runs', async () => {
      const taskId = await taskIdOf(await post(uploadForm('one')));
      expect(await answer(await post(uploadForm('two')))).toEqual([
        409,
        {
          detail: expect.stringMatching(/^\[DOCUMENT_INDEXING_IN_PROGRESS\]: /),
          extra: {
            existing_task_id: taskId,
            task_status_url: `${gateway.url}/indexer/task/${taskId}`,
            request_id: expect.any(String),
          },
        },
      ]);
      expect(await leftovers(gateway)).toEqual({
        blobs: [taskId],
        tasks: [taskId],
        claims: [taskId],
        pending: [taskId],
      });
    });

    it('answers 409 for bytes that the partition has under another id, until that one is gone', async () => {
      await indexText(gateway, { partition: 'notes', fileId: 'first' }, ['same']);
      const [status, body] = await answer(await post(uploadForm('same')));
      expect([status, body]).toEqual([
        409,
        {
          detail: expect.stringMatching(/^\[DOCUMENT_CONTENT_EXISTS\]: /),
          extra: { existing_file_id: 'first', request_id: expect.any(String) },
        },
      ]);
      expect((await gateway.call('DELETE', '/indexer/partition/notes/file/first')).status).toBe(204);
      expect((await post(uploadForm('same'))).status).toBe(201);
    });

    it('takes over an id whose first task was cancelled', async () => {
      const taskId = await taskIdOf(await post(uploadForm('one')));
      await gateway.call('DELETE', `/indexer/task/${taskId}`);
      expect((await post(uploadForm('one'))).status).toBe(201);
    });

    it.each([['the same bytes'], ['different bytes']])(
      'admits exactly one of 50 at once (%s)',
      async (kind) => {
        await gateway.call('POST', '/partition/notes');
        const responses = await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            post(uploadForm(kind === 'the same bytes' ? 'bytes' : `bytes ${index}`)),
          ),
        );
        const winners = responses.filter(({ status }) => status === 201);
        expect(winners).toHaveLength(1);
        const losers = await Promise.all(responses.filter(({ status }) => status !== 201).map(answer));
        for (const [status, body] of losers) {
          expect(status).toBe(409);
          expect(body).toMatchObject({
            detail: expect.stringMatching(/^\[DOCUMENT_INDEXING_IN_PROGRESS\]: /),
          });
        }
        const taskId = await taskIdOf(winners[0] as Response);
        expect(await leftovers(gateway)).toEqual({
          blobs: [taskId],
          tasks: [taskId],
          claims: [taskId],
          pending: [taskId],
        });
      },
    );

    it('creates a partition once for uploads that come together', async () => {
      const statuses = await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const path = `/indexer/partition/notes/file/f${index}`;
          return (await post(uploadForm(`text ${index}`), path)).status;
        }),
      );
      expect(statuses).toEqual(Array.from({ length: 10 }, () => 201));
    });
  });
});

describe('PUT /indexer/partition/{partition}/file/{file_id}', () => {
  const put = (body: FormData, token?: string) =>
    gateway.call('PUT', PATH, { body, ...(token === undefined ? {} : { token }) });

  it('is for editors', async () => {
    await indexText(gateway, { partition: 'notes', fileId: 'a1' }, ['one']);
    const viewer = gateway.addUser('vi');
    gateway.addMember(viewer.userId, 'notes', 'viewer');
    expect((await put(uploadForm('two'), viewer.token)).status).toBe(403);
  });

  it('answers 404 when there is neither a live version nor a pending task', async () => {
    expect(await answer(await put(uploadForm()))).toEqual([
      404,
      { detail: "File 'a1' not found in partition 'notes'" },
    ]);
    const taskId = await taskIdOf(await post(uploadForm()));
    await gateway.call('DELETE', `/indexer/task/${taskId}`);
    expect((await put(uploadForm())).status).toBe(404);
    expect((await leftovers(gateway)).pending).toEqual([]);
  });

  it('admits a replacement under the same key, the old version staying', async () => {
    await indexText(gateway, { partition: 'notes', fileId: 'a1' }, ['one']);
    const before = await gateway.adapters.files.get('notes', 'a1');
    const response = await put(uploadForm('two'));
    expect(response.status).toBe(202);
    const task = await gateway.adapters.tasks.get(await taskIdOf(response));
    const after = await gateway.adapters.files.get('notes', 'a1');
    expect(task).toMatchObject({ intent: 'replace', file_key: before?.file_key });
    expect(after?.live).toEqual(before?.live);
    expect(after?.pending_task).toBe(task?.task_id);
  });

  it('takes the same bytes again', async () => {
    await indexText(gateway, { partition: 'notes', fileId: 'a1' }, ['one']);
    expect((await put(uploadForm('one'))).status).toBe(202);
  });

  it('supersedes what is pending, POST and PUT alike', async () => {
    const first = await taskIdOf(await post(uploadForm('one')));
    const second = await taskIdOf(await put(uploadForm('two')));
    const third = await taskIdOf(await put(uploadForm('three')));
    for (const taskId of [first, second]) {
      const status = await (await gateway.call('GET', `/indexer/task/${taskId}`)).json();
      expect(status).toMatchObject({ task_state: 'CANCELLED', error: { code: 'SUPERSEDED' } });
      expect(status).not.toHaveProperty('error_url');
    }
    expect((await gateway.adapters.files.get('notes', 'a1'))?.pending_task).toBe(third);
    expect(gateway.workflows.cancelled).toHaveLength(2);
    await publishTask(gateway, third, ['three']);
    expect((await gateway.adapters.tasks.get(third))?.state).toBe('COMPLETED');
  });

  it('lets the last admitted of 20 at once win, and ends every other', async () => {
    await indexText(gateway, { partition: 'notes', fileId: 'a1' }, ['one']);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => put(uploadForm(`v${index}`))),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 202));
    const tasks = await Promise.all(
      responses.map(async (response) => gateway.adapters.tasks.get(await taskIdOf(response))),
    );
    const active = tasks.filter((task) => task?.state === 'QUEUED');
    expect(active).toHaveLength(1);
    expect((await gateway.adapters.files.get('notes', 'a1'))?.pending_task).toBe(active[0]?.task_id);
  });
});

describe('GET /indexer/supported/types', () => {
  const sendJson = async (method: string, path: string, body: object): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    return (await gateway.call(method, path, { headers, body: JSON.stringify(body) })).status;
  };

  it('lists extensions and MIME types', async () => {
    const body = (await (await gateway.call('GET', '/indexer/supported/types')).json()) as Record<
      string,
      string[]
    >;
    expect(body['extensions']).toEqual(
      expect.arrayContaining(['txt', 'md', 'html', 'pdf', 'docx', 'csv', 'xlsx', 'pptx', 'eml', 'zip']),
    );
    expect(body['mimetypes']).toEqual(expect.arrayContaining(['text/plain', 'application/pdf']));
  });

  it('names recordings only while a model that transcribes is registered, and uploads follow', async () => {
    const upload = async (partition: string) =>
      answer(
        await post(uploadForm(partition, { filename: 'talk.mp3' }), `/indexer/partition/${partition}/file/t`),
      );
    const extensions = async () =>
      ((await (await gateway.call('GET', '/indexer/supported/types')).json()) as { extensions: string[] })
        .extensions;
    expect(await extensions()).not.toContain('mp3');
    expect(await upload('notes')).toEqual([
      415,
      { detail: expect.stringMatching(/model endpoint of type stt \(or set TRANSCRIBER_BASE_URL\)/) },
    ]);
    expect(await leftovers(gateway)).toEqual(NOTHING);

    const endpoint = { model_type: 'stt', endpoint: 'http://127.0.0.1:9/v1', model_name: 'whisper' };
    expect(await sendJson('POST', '/model-endpoints/', { ...endpoint, name: 'ears', is_default: true })).toBe(
      201,
    );
    expect(await extensions()).toContain('mp3');
    expect((await upload('talks'))[0]).toBe(201);
  });

  it('takes recordings into a partition whose preset names a model, where no default is', async () => {
    const endpoint = { model_type: 'stt', endpoint: 'http://127.0.0.1:9/v1', model_name: 'whisper' };
    expect(await sendJson('POST', '/model-endpoints/', { ...endpoint, name: 'ears' })).toBe(201);
    const preset = { name: 'talks', preset_type: 'indexation', config: { stt: 'ears' } };
    expect(await sendJson('POST', '/presets/', preset)).toBe(201);
    expect((await gateway.call('POST', '/partition/talks')).status).toBe(201);
    expect(await sendJson('PATCH', '/partition/talks', { indexation_preset: 'talks' })).toBe(200);
    const path = (partition: string) => `/indexer/partition/${partition}/file/t`;
    const form = (text: string) => uploadForm(text, { filename: 'talk.mp3' });
    expect((await post(form('one'), path('talks'))).status).toBe(201);
    expect((await post(form('two'), path('others'))).status).toBe(415);
  });
});
