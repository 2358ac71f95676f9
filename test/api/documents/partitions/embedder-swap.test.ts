import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../support/until.js';
import { askJson } from '../../support/ask-json.js';
import { ADMIN_TOKEN, startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';
import { withEmbedders } from '../../support/with-embedders.js';

const PATH = '/partition/one/embedder-swap';
let gateway: Gateway;
let ada: { token: string; userId: number };
let viewer: { token: string; userId: number };

beforeEach(async () => {
  gateway = await startGateway({ adapt: withEmbedders({ second: 'vector_second', fieldless: null }) });
  ada = gateway.addUser('ada');
  viewer = gateway.addUser('viewer');
  await gateway.call('POST', '/partition/one', { token: ada.token });
  gateway.addMember(viewer.userId, 'one', 'viewer');
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = ada.token) {
  return askJson(gateway, method, path, { body, token });
}

function admin(method: string, path: string, body?: unknown) {
  return ask(method, path, body, ADMIN_TOKEN);
}

function DOMAIN(code: string) {
  return {
    detail: expect.stringMatching(new RegExp(String.raw`^\[${code}\]: `)),
    extra: expect.objectContaining({ request_id: expect.any(String) }),
  };
}

async function swapOf() {
  const partition = (await gateway.adapters.partitions.get('one'))!;
  return (await gateway.adapters.embedderSwaps.latest(partition.partition_key))!;
}

describe('GET /partition/{partition}/embedders', () => {
  it('tells owners the names that can be chosen, and nothing else of the endpoints', async () => {
    const [status, body] = await ask('GET', '/partition/one/embedders');
    expect([status, body]).toEqual([
      200,
      {
        embedders: [
          { name: 'builtin-hash', dimension: 1024, is_default: true },
          { name: 'second', dimension: 1024, is_default: false },
        ],
      },
    ]);
    expect((await ask('GET', '/partition/one/embedders', undefined, viewer.token))[0]).toBe(403);
    expect((await ask('GET', '/partition/none/embedders'))[0]).toBe(404);
  });
});

describe('GET /partition/{partition}/embedder-swap', () => {
  it('is for viewers, and null when there never was one', async () => {
    expect(await ask('GET', PATH, undefined, viewer.token)).toEqual([200, null]);
  });

  it('answers the last one, and nothing of a deleted partition of this name', async () => {
    await ask('POST', PATH, { embedder: 'second', min_overlap: 0.5 });
    const { swap_id } = await swapOf();
    const figures = { sampled: 3, overlap: 0.7, known_item_before: 1, known_item_after: 0.9 };
    await gateway.adapters.embedderSwaps.report(swap_id, {
      phase: 'measuring',
      files_total: 4,
      files_done: 4,
      chunks_over_window: 1,
      figures,
    });
    expect(await ask('GET', PATH, undefined, viewer.token)).toEqual([
      200,
      {
        swap_id,
        partition: 'one',
        source_embedder: 'builtin-hash',
        target_embedder: 'second',
        status: 'running',
        phase: 'measuring',
        files_total: 4,
        files_done: 4,
        chunks_over_window: 1,
        min_overlap: 0.5,
        min_known_item: null,
        question_set: null,
        min_ndcg: null,
        figures: { ...figures, questions: null },
        error: null,
        error_code: null,
        started_by: String(ada.userId),
        started_at: expect.any(String),
        updated_at: expect.any(String),
        finished_at: null,
      },
    ]);
    const listed = async () => (await ask('GET', '/partition/', undefined, viewer.token))[1];
    expect(await listed()).toMatchObject({
      partitions: [{ partition: 'one', embedder_swap: (await ask('GET', PATH))[1] }],
    });
    const gone = (await gateway.adapters.partitions.markDeleted('one'))!;
    await gateway.adapters.partitions.removeDeleted(gone);
    await gateway.call('POST', '/partition/one', { token: ada.token });
    expect(await ask('GET', PATH)).toEqual([200, null]);
    expect((await ask('GET', '/partition/'))[1]).toMatchObject({ partitions: [{ embedder_swap: null }] });
  });
});

describe('POST /partition/{partition}/embedder-swap', () => {
  it('is for owners, and begins one', async () => {
    expect((await ask('POST', PATH, { embedder: 'second' }, viewer.token))[0]).toBe(403);
    const [status, body] = await ask('POST', PATH, { embedder: 'second', min_known_item: 0.5 });
    expect(status).toBe(202);
    expect(body).toMatchObject({ status: 'running', target_embedder: 'second', min_known_item: 0.5 });
    expect(gateway.workflows.swapped).toEqual(['one to second']);
    expect(await ask('POST', PATH, { embedder: 'second' })).toEqual([
      409,
      DOMAIN('EMBEDDER_SWAP_IN_PROGRESS'),
    ]);
    expect((await swapOf()).swap_id).toBe(body.swap_id);
  });

  it('takes a question set of the partition as a gate', async () => {
    const body = { embedder: 'second', question_set: 'main', min_ndcg: 0.4 };
    expect(await ask('POST', PATH, body)).toEqual([404, DOMAIN('QUESTION_SET_NOT_FOUND')]);
    const content = '{"question":"Why?","relevant":["a"]}';
    await ask('POST', '/evaluation/partition/one/question-sets/main', { format: 'jsonl', content });
    const [status, swap] = await ask('POST', PATH, body);
    expect([status, swap]).toEqual([202, expect.objectContaining({ question_set: 'main', min_ndcg: 0.4 })]);
    expect(await swapOf()).toMatchObject({ question_set: 'main', min_ndcg: 0.4 });
  });

  it.each([
    [{ embedder: 'default' }, 422, 'EMBEDDER_ALIAS_NOT_ALLOWED'],
    [{ embedder: 'nobody' }, 422, 'MODEL_ENDPOINT_NOT_FOUND'],
    [{ embedder: 'fieldless' }, 409, 'EMBEDDER_VECTOR_FIELD_MISSING'],
    [{ embedder: 'builtin-hash' }, 409, 'CONFLICT'],
  ])('refuses %j', async (body, status, code) => {
    expect(await ask('POST', PATH, body)).toEqual([status, DOMAIN(code)]);
    expect(gateway.workflows.swapped).toEqual([]);
    expect(await ask('GET', PATH)).toEqual([200, null]);
  });

  it.each([
    {},
    { embedder: '' },
    { embedder: 'second', min_overlap: 2 },
    { embedder: 'second', min_ndcg: 0.5 },
    { embedder: 'second', other: 1 },
  ])('answers 422 to %j', async (body) => {
    expect((await ask('POST', PATH, body))[0]).toBe(422);
  });

  it('begins nothing while Temporal is away', async () => {
    gateway.workflows.state.away = true;
    expect((await ask('POST', PATH, { embedder: 'second' }))[0]).toBeGreaterThanOrEqual(500);
    expect(await ask('GET', PATH)).toEqual([200, null]);
  });
});

describe('DELETE /partition/{partition}/embedder-swap', () => {
  it('is for owners, and 409 without one', async () => {
    expect(await ask('DELETE', PATH)).toEqual([409, DOMAIN('EMBEDDER_SWAP_NOT_RUNNING')]);
    await ask('POST', PATH, { embedder: 'second' });
    expect((await ask('DELETE', PATH, undefined, viewer.token))[0]).toBe(403);
  });

  it('answers what came of it', async () => {
    await ask('POST', PATH, { embedder: 'second' });
    const { swap_id } = await swapOf();
    const answered = ask('DELETE', PATH);
    await until('the cancel is asked for', async () => gateway.workflows.swapped.includes('cancel'));
    await gateway.adapters.embedderSwaps.finish(swap_id, { status: 'cancelled', error: null });
    expect(await answered).toEqual([200, expect.objectContaining({ swap_id, status: 'cancelled' })]);
    expect(await ask('DELETE', PATH)).toEqual([409, DOMAIN('EMBEDDER_SWAP_NOT_RUNNING')]);
  });

  it('ends one whose workflow was terminated', async () => {
    const { partitions } = gateway.adapters;
    await ask('POST', PATH, { embedder: 'second' });
    const { swap_id } = await swapOf();
    const swap = { swap_id, source: 'builtin-hash', target: 'second' };
    await partitions.beginSwap((await partitions.get('one'))!, swap);
    gateway.workflows.swapping.clear();
    expect((await ask('DELETE', PATH))[1]).toMatchObject({ status: 'cancelled' });
    expect((await partitions.get('one'))?.swap).toBeNull();
  });
});

describe('/admin/embedder-swaps', () => {
  const body = { source: 'builtin-hash', target: 'second', concurrency: 3 };

  it('is for administrators', async () => {
    expect((await ask('GET', '/admin/embedder-swaps'))[0]).toBe(403);
    expect((await ask('POST', '/admin/embedder-swaps', body))[0]).toBe(403);
  });

  it('begins with every partition of an embedder, and lists the swaps', async () => {
    expect(await admin('POST', '/admin/embedder-swaps', body)).toEqual([
      202,
      { source: 'builtin-hash', target: 'second', partitions: 1 },
    ]);
    expect(gateway.workflows.swapped).toEqual(['all of builtin-hash to second, 3 at a time']);
    await ask('POST', PATH, { embedder: 'second' });
    const [status, { swaps }] = await admin('GET', '/admin/embedder-swaps');
    expect([status, swaps.length, swaps[0].partition]).toEqual([200, 1, 'one']);
  });

  it.each([
    [{ ...body, target: 'default' }, 422],
    [{ ...body, target: 'nobody' }, 422],
    [{ ...body, target: 'fieldless' }, 409],
    [{ ...body, source: 'second' }, 409],
    [{ ...body, concurrency: 0 }, 422],
    [{}, 422],
  ])('refuses %j', async (given, status) => {
    expect((await admin('POST', '/admin/embedder-swaps', given))[0]).toBe(status);
    expect(gateway.workflows.swapped).toEqual([]);
  });
});

describe('what names a partition on the way to another embedder', () => {
  const mark = async () => {
    const { partitions } = gateway.adapters;
    const swap = { swap_id: 'swap', source: 'builtin-hash', target: 'second' };
    await partitions.beginSwap((await partitions.get('one'))!, swap);
  };

  it('moves no file into it', async () => {
    await gateway.call('POST', '/partition/two', { token: ada.token });
    await indexText(gateway, { partition: 'two', fileId: 'a', token: ada.token }, ['text']);
    await mark();
    const form = new FormData();
    form.set('metadata', JSON.stringify({ partition: 'one' }));
    const answer = await gateway.call('PATCH', '/indexer/partition/two/file/a', {
      body: form,
      token: ada.token,
    });
    expect([answer.status, await answer.json()]).toEqual([409, DOMAIN('EMBEDDER_SWAP_IN_PROGRESS')]);
  });
});
