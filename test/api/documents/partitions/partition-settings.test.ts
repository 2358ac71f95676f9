import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sampleReport } from '../../../support/documents/sample-report.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, taskIdOf, uploadForm } from '../../support/uploads.js';
import { askJson } from '../../support/ask-json.js';
import { withEmbedders } from '../../support/with-embedders.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
let viewer: { token: string; userId: number };

beforeEach(async () => {
  gateway = await startGateway({ adapt: withEmbedders({ second: 'vector_second' }) });
  ada = gateway.addUser('ada');
  viewer = gateway.addUser('viewer');
  await gateway.call('POST', '/partition/one', { token: ada.token });
  gateway.addMember(viewer.userId, 'one', 'viewer');
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = ada.token) {
  return askJson(gateway, method, path, { body, token });
}

function DOMAIN(code: string) {
  return {
    detail: expect.stringMatching(new RegExp(String.raw`^\[${code}\]: `)),
    extra: expect.objectContaining({ request_id: expect.any(String) }),
  };
}

describe('GET /partition/{partition}/config', () => {
  it('is for viewers, and shows the presets resolved', async () => {
    const [status, body] = await ask('GET', '/partition/one/config', undefined, viewer.token);
    expect(status).toBe(200);
    expect(body).toEqual({
      name: 'one',
      description: '',
      embedder: 'builtin-hash',
      dimension: null,
      document_count: 0,
      indexation_preset: 'default',
      retrieval_preset: 'default',
      chat_history_depth: 4,
      chat_llm: null,
      generation_prompt_names: {},
      indexed_embedders: [],
      created_at: expect.any(String),
      indexation_pipeline: expect.objectContaining({
        chunking: { name: 'recursive_splitter', chunk_size: 512, chunk_overlap_rate: 0.2 },
      }),
      retrieval_pipeline: expect.objectContaining({
        type: 'single',
        top_k: 50,
        top_n: 10,
        similarity_threshold: null,
      }),
    });
    await indexText(gateway, { partition: 'one', fileId: 'a', token: ada.token }, ['text']);
    const builtin = await gateway.adapters.endpoints.get('embedder', 'builtin-hash');
    expect((await ask('GET', '/partition/one/config'))[1]).toMatchObject({
      dimension: 1024,
      document_count: 1,
      indexed_embedders: [
        {
          embedder: 'builtin-hash',
          model_name: 'builtin/hash-1024',
          dimension: 1024,
          file_count: 1,
          vector_field: builtin?.vector_field,
        },
      ],
    });
    // A restored store may hold files of an endpoint that is not registered.
    await gateway.adapters.files.renameEmbedder('builtin-hash', 'gone');
    expect((await ask('GET', '/partition/one/config'))[1].indexed_embedders).toEqual([
      { embedder: 'gone', model_name: null, dimension: null, file_count: 1, vector_field: null },
    ]);
    expect((await ask('GET', '/partition/none/config'))[0]).toBe(404);
  });
});

describe('PATCH /partition/{partition}', () => {
  it('is for owners', async () => {
    expect(await ask('PATCH', '/partition/one', { description: 'x' }, viewer.token)).toEqual([
      403,
      { detail: "Role 'owner' required on partition 'one'" },
    ]);
    expect((await ask('PATCH', '/partition/none', { description: 'x' }))[0]).toBe(404);
  });

  it('changes what is given, and the list shows it', async () => {
    const patch = {
      description: 'Zürich – déjà vu',
      indexation_preset: 'legal',
      retrieval_preset: 'hyde',
      chat_history_depth: 7,
      chat_llm: 'builtin-extractive',
    };
    const [status, body] = await ask('PATCH', '/partition/one', patch);
    expect([status, body]).toEqual([200, expect.objectContaining(patch)]);
    expect(body.indexation_pipeline.chunking).toMatchObject({ chunk_size: 1024, chunk_overlap_rate: 0.25 });
    expect(body.retrieval_pipeline.type).toBe('hyde');
    expect((await ask('GET', '/partition/'))[1].partitions).toEqual([expect.objectContaining(patch)]);
    expect((await ask('PATCH', '/partition/one', { chat_llm: null }))[1]).toMatchObject({
      ...patch,
      chat_llm: null,
    });
    for (const description of ['', null]) {
      await ask('PATCH', '/partition/one', { description: 'old' });
      expect((await ask('PATCH', '/partition/one', { description }))[1].description).toBe('');
    }
    const prompts = { generation_prompt_names: { sys_prompt: null } };
    expect((await ask('PATCH', '/partition/one', prompts))[1].generation_prompt_names).toEqual({});
  });

  it('refuses nothing at all, unknown fields and bad values', async () => {
    for (const body of [
      {},
      { name: 'x' },
      { description: 'x', extra: 1 },
      { chat_history_depth: 0 },
      { chat_history_depth: '4' },
      { embedder: null },
      { generation_prompt_names: { other: 'x' } },
      [],
      null,
    ])
      expect([body, (await ask('PATCH', '/partition/one', body))[0]]).toEqual([body, 422]);
    const untyped = await gateway.call('PATCH', '/partition/one', { token: ada.token, body: '{}' });
    expect(untyped.status).toBe(422);
  });

  it.each([
    [{ embedder: 'nothing' }, 'MODEL_ENDPOINT_NOT_FOUND'],
    [{ embedder: 'builtin-extractive' }, 'MODEL_ENDPOINT_NOT_FOUND'],
    [{ chat_llm: 'builtin-hash' }, 'MODEL_ENDPOINT_NOT_FOUND'],
    [{ indexation_preset: 'hyde' }, 'PRESET_NOT_FOUND'],
    [{ retrieval_preset: 'constructor' }, 'PRESET_NOT_FOUND'],
    [{ generation_prompt_names: { sys_prompt: 'mine' } }, 'PROMPT_NOT_FOUND'],
  ])('refuses %j, which names nothing', async (body, code) => {
    expect(await ask('PATCH', '/partition/one', { description: 'new', ...body })).toEqual([
      422,
      DOMAIN(code),
    ]);
    // All or nothing.
    expect((await ask('GET', '/partition/one/config'))[1].description).toBe('');
  });

  it('takes the embedder `default`, also of a page that creates a partition with it', async () => {
    await ask('PATCH', '/partition/one', { embedder: 'second' });
    const patch = {
      description: '',
      embedder: 'default',
      chat_llm: null,
      chat_history_depth: 4,
      indexation_preset: 'default',
      retrieval_preset: 'default',
    };
    const [status, body] = await ask('PATCH', '/partition/one', patch);
    expect([status, body]).toEqual([200, expect.objectContaining({ ...patch, embedder: 'builtin-hash' })]);
    await indexText(gateway, { partition: 'one', fileId: 'a', token: ada.token }, ['text']);
    // It names what the partition has, and so changes nothing.
    expect((await ask('PATCH', '/partition/one', { embedder: 'default' }))[0]).toBe(200);
    expect((await ask('PATCH', '/partition/one', { chat_llm: 'default' }))[0]).toBe(200);
  });

  it('takes an endpoint that is called `default` by its name, whichever is the default', async () => {
    const { endpoints } = gateway.adapters;
    const builtin = await endpoints.get('embedder', 'builtin-hash');
    await endpoints.save({ ...builtin!, name: 'default', vector_field: 'vector_default' });
    expect((await ask('PATCH', '/partition/one', { embedder: 'default' }))[1].embedder).toBe('default');
    expect((await ask('PATCH', '/partition/one', { embedder: 'builtin-hash' }))[0]).toBe(200);
  });

  it('takes no alias where nothing is the default', async () => {
    await gateway.adapters.endpoints.moveDefault('embedder', 'builtin-hash', null);
    expect(await ask('PATCH', '/partition/one', { embedder: 'default' })).toEqual([
      422,
      DOMAIN('MODEL_ENDPOINT_NOT_FOUND'),
    ]);
  });

  it('takes another embedder only while nothing is indexed or on its way', async () => {
    const change = { embedder: 'second' };
    const upload = await gateway.call('POST', '/indexer/partition/one/file/a', {
      body: uploadForm(),
      token: ada.token,
    });
    expect(await ask('PATCH', '/partition/one', change)).toEqual([409, DOMAIN('INDEXING_IN_PROGRESS')]);
    await gateway.call('DELETE', `/indexer/task/${await taskIdOf(upload)}`, { token: ada.token });
    await indexText(gateway, { partition: 'one', fileId: 'a', token: ada.token }, ['text']);
    expect(await ask('PATCH', '/partition/one', change)).toEqual([
      409,
      DOMAIN('PARTITION_HAS_INDEXED_FILES'),
    ]);
    // The same one is no change.
    expect((await ask('PATCH', '/partition/one', { embedder: 'builtin-hash' }))[0]).toBe(200);
    await gateway.call('DELETE', '/indexer/partition/one/file/a', { token: ada.token });
    expect((await ask('PATCH', '/partition/one', change))[1]).toMatchObject(change);
  });

  it('is refused while a swap is at work', async () => {
    expect((await ask('POST', '/partition/one/embedder-swap', { embedder: 'second' }))[0]).toBe(202);
    const { adapters } = gateway;
    const record = (await adapters.partitions.get('one'))!;
    const swap = { swap_id: 'swap', source: 'builtin-hash', target: 'second' };
    await adapters.partitions.beginSwap(record, swap);
    expect(await ask('PATCH', '/partition/one', { embedder: 'second' })).toEqual([
      409,
      DOMAIN('EMBEDDER_SWAP_IN_PROGRESS'),
    ]);
    expect((await ask('PATCH', '/partition/one', { description: 'words' }))[0]).toBe(200);
  });

  it('takes the change back for an upload that was admitted meanwhile', async () => {
    const { adapters } = gateway;
    const update = adapters.partitions.update.bind(adapters.partitions);
    adapters.partitions.update = async (...args) => {
      const first = args[2]?.embedder === 'builtin-hash';
      if (first)
        await adapters.files.admitFirst({
          fileKey: 'k',
          partition: 'one',
          partitionKey: 'one',
          fileId: 'late',
          userId: ada.userId,
          taskId: 't',
          generation: 99,
        });
      return update(...args);
    };
    expect(await ask('PATCH', '/partition/one', { embedder: 'second' })).toEqual([
      409,
      DOMAIN('INDEXING_IN_PROGRESS'),
    ]);
    expect((await ask('GET', '/partition/one/config'))[1].embedder).toBe('builtin-hash');
  });
});

describe('GET /partition/{partition}?degraded_stage=', () => {
  it('finds the files of which a stage failed', async () => {
    for (const fileId of ['a', 'b']) {
      const response = await gateway.call('POST', `/indexer/partition/one/file/${fileId}`, {
        body: uploadForm(fileId),
        token: ada.token,
      });
      const task = await gateway.adapters.tasks.get(await taskIdOf(response));
      if (task === null) throw new Error('no task');
      await gateway.adapters.files.publish(task.file_key, task.task_id, {
        ...task.upload,
        generation: task.generation,
        task_id: task.task_id,
        metadata: {},
        embedder: 'builtin-hash',
        relationship_id: null,
        parent_id: null,
        chunk_count: 0,
        indexed_at: new Date(),
        degraded_stages: fileId === 'a' ? ['caption', 'parse'] : [],
        ...(fileId === 'a' ? { parse_report: sampleReport({ degraded: true, reasons: ['cut off'] }) } : {}),
      });
    }
    const ids = (body: { files: { file_id: string }[] }) => body.files.map(({ file_id }) => file_id);
    expect(ids((await ask('GET', '/partition/one?degraded_stage=caption'))[1])).toEqual(['a']);
    expect(ids((await ask('GET', '/partition/one?degraded_stage=topic_tag'))[1])).toEqual([]);
    expect(ids((await ask('GET', '/partition/one?limit=1'))[1])).toEqual(['a']);
    expect(ids((await ask('GET', '/partition/one?degraded_stage=parse'))[1])).toEqual(['a']);
    expect((await ask('GET', '/partition/one?degraded_stage=embed'))[0]).toBe(422);
    const [, a] = await ask('GET', '/partition/one/file/a');
    expect(a).toMatchObject({ degraded: true, parse_report: { parser: 'text', reasons: ['cut off'] } });
    const [, b] = await ask('GET', '/partition/one/file/b');
    expect([b]).toEqual([{ metadata: expect.anything() as unknown, documents: [] }]);
  });
});
