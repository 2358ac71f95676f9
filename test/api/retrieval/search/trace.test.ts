import { describe, expect, it, jest } from '@jest/globals';
import type { Embedder } from '../../../../activities/ports/models.js';
import { askJson } from '../../support/ask-json.js';
import type { LooseBody } from '../../support/loose-body.js';
import { contentsOf, searchStage } from '../../support/search-stage.js';
import { indexText, uploadForm } from '../../support/uploads.js';

const { start } = searchStage();

/** An embedder for which all texts are nearly alike, as they are for many a model: cosines of 0.95 and more. */
function nearlyAlike(asked: string[]): Embedder {
  return {
    endpointName: 'alike',
    modelName: 'alike',
    dimension: 3,
    vectorField: 'vector_alike',
    batchSize: 8,
    maxInputTokens: null,
    async embed(texts, { kind }) {
      if (kind === 'query') asked.push(...texts);
      return texts.map((text) => {
        const vector = [1, /turbine/.test(text) ? 0.1 : -0.1, 0.05];
        return vector.map((value) => value / Math.hypot(...vector));
      });
    },
  };
}

async function startTwoEmbedders(env: Record<string, string> = {}) {
  const asked: string[] = [];
  const alike = nearlyAlike(asked);
  const started = await start({
    env,
    adapt: (own) => ({
      ...own,
      models: {
        ...own.models,
        embedder: async (name) => (name === 'alike' ? alike : own.models.embedder(name)),
      },
    }),
  });
  const { gateway, ada } = started;
  const { token } = ada;
  await gateway.adapters.chunks.ensureSchema([alike]);
  for (const partition of ['plain', 'near-1', 'near-2']) {
    await gateway.call('POST', `/partition/${partition}`, { token });
    if (partition !== 'plain') await gateway.adapters.partitions.update(partition, { embedder: 'alike' });
  }
  const put = (partition: string, lines: string[]) =>
    indexText(gateway, { partition, fileId: partition, token }, lines);
  await put('plain', ['The turbine of the mill spins.', 'Nothing of interest.']);
  await put('near-1', ['Bread is baked at dawn.', 'Cheese ripens slowly.']);
  await put('near-2', ['A turbine too.']);
  return { ...started, asked };
}

describe('partitions with different embedders', () => {
  it('are searched with one embedding each, and compare', async () => {
    const { ask, asked } = await startTwoEmbedders();
    const [status, body] = await ask('/search?text=the%20turbine%20of%20the%20mill%20spins&top_k=10');
    expect(status).toBe(200);
    expect(asked).toEqual(['the turbine of the mill spins']);
    // Raw cosines of 0.95 do not put what says nothing of the kind before what says it.
    expect(contentsOf(body).slice(0, 2)).toEqual(['The turbine of the mill spins.', 'A turbine too.']);
    const bread = body.documents.find(({ content }: LooseBody) => content.startsWith('Bread'));
    expect(bread.metadata.vector_score).toBeGreaterThan(0.9);
    for (const { metadata } of body.documents) {
      expect(metadata.combined_score).toBeGreaterThanOrEqual(0);
      expect(metadata.combined_score).toBeLessThanOrEqual(1);
    }
  });
});

describe('include_retrieval_trace', () => {
  it('is for administrators', async () => {
    const { ask } = await startTwoEmbedders();
    for (const path of ['/search', '/search/partition/plain'])
      expect(await ask(`${path}?text=x&include_retrieval_trace=true`)).toEqual([
        403,
        { detail: 'Admin privileges required' },
      ]);
  });

  it('tells legs, scores, weight, ranking, times and what was dropped', async () => {
    const { gateway, ada } = await startTwoEmbedders();
    const chief = gateway.addUser('chief', { is_admin: true });
    for (const partition of ['plain', 'near-1', 'near-2'])
      gateway.addMember(chief.userId, partition, 'viewer');
    const path = '/search?text=turbine&include_retrieval_trace=true&similarity_threshold=0.99';
    const [status, { retrieval_trace: trace, documents }] = await askJson(gateway, 'GET', path, chief);
    expect(status).toBe(200);
    expect(trace.groups.map(({ embedder, partitions }: LooseBody) => [embedder, partitions])).toEqual([
      ['alike', ['near-1', 'near-2']],
      ['builtin-hash', ['plain']],
    ]);
    const [alike] = trace.groups;
    expect(alike.similarity_threshold).toBe(0.99);
    expect(alike.dense.hits).toEqual([
      { id: expect.any(String), raw_score: expect.closeTo(1, 6), normalised_score: 1 },
    ]);
    expect(alike.dense.dropped).toHaveLength(2);
    expect(alike.dense.dropped[0]).toEqual({
      id: expect.any(String),
      raw_score: expect.closeTo(0.98, 2),
      reason: 'threshold',
    });
    expect(alike.lexical.hits).toHaveLength(1);
    const { id: best } = alike.dense.hits[0];
    expect(alike.feedback).toEqual({ from: best, scores: [{ id: best, score: expect.closeTo(1, 4) }] });
    expect(trace.groups[1].feedback).toBeNull();
    expect(trace.fusion.weight).toBeGreaterThan(0);
    expect(trace.fusion.ranking.map(({ id }: LooseBody) => id)).toEqual(
      documents.map(({ metadata }: LooseBody) => metadata._id),
    );
    expect(trace).toMatchObject({ schema_version: 1, rerank: null, expansion: null });
    expect(trace.times).toMatchObject({ retrieval: expect.any(Number) });

    // A version that its record does not know any more.
    const file = await gateway.adapters.files.get('near-2', 'near-2');
    await gateway.call('PUT', '/indexer/partition/near-2/file/near-2', {
      token: ada.token,
      body: uploadForm('A turbine at last.'),
    });
    await gateway.adapters.files.markDeleted('near-2', 'near-2', file?.file_key);
    const [, later] = await askJson(gateway, 'GET', `${path}&include_related=true`, chief);
    expect(later.retrieval_trace.groups[0].lexical.dropped).toEqual([
      { id: expect.any(String), raw_score: expect.any(Number), reason: 'generation' },
    ]);
    expect(later.retrieval_trace.expansion).toEqual({ related: [], ancestors: [] });
  });

  it('tells the words of the best hits, by which the others were moved', async () => {
    const { gateway, ada } = await startTwoEmbedders();
    await indexText(gateway, { partition: 'near-1', fileId: 'wheels', token: ada.token }, [
      'An undershot wheel turns in the brook.',
      'The undershot kind needs no weir.',
      'Weirs are built of stone.',
    ]);
    const chief = gateway.addUser('chief', { is_admin: true });
    gateway.addMember(chief.userId, 'near-1', 'viewer');
    const ask = async (query: string) => {
      const path = `/search/partition/near-1?text=wheel%20in%20the%20brook&include_retrieval_trace=true${query}`;
      const [status, body] = await askJson(gateway, 'GET', path, chief);
      expect(status).toBe(200);
      return body;
    };
    const { retrieval_trace: trace, documents } = await ask('');
    expect(trace.words.words).toContainEqual({ word: 'undershot', weight: expect.any(Number) });
    expect(trace.words.scores[0]).toEqual({ id: documents[0].metadata._id, score: 1 });
    expect(trace.words.ranking).toEqual(
      documents.map(({ metadata }: LooseBody) => ({
        id: metadata._id,
        score: expect.closeTo(metadata.combined_score, 5),
      })),
    );
    // The second has no word of the question but stop words.
    expect(contentsOf({ documents }).slice(0, 2)).toEqual([
      'An undershot wheel turns in the brook.',
      'The undershot kind needs no weir.',
    ]);
  });

  it('tells of no feedback where RETRIEVER_FEEDBACK is off', async () => {
    const { gateway } = await startTwoEmbedders({ RETRIEVER_FEEDBACK: 'false' });
    const chief = gateway.addUser('chief', { is_admin: true });
    gateway.addMember(chief.userId, 'near-1', 'viewer');
    const path = '/search?text=bread&include_retrieval_trace=true';
    const [status, { retrieval_trace: trace }] = await askJson(gateway, 'GET', path, chief);
    expect(status).toBe(200);
    expect(trace.groups).toHaveLength(1);
    expect(trace.groups[0].dense.hits).toHaveLength(2);
    expect(trace.groups[0].feedback).toBeNull();
    expect(trace.words).toBeNull();
  });

  it('tells of searches that ask nobody', async () => {
    const { gateway } = await start();
    const chief = gateway.addUser('chief', { is_admin: true });
    await gateway.call('POST', '/partition/empty', { token: chief.token });
    await askJson(gateway, 'POST', '/partition/empty/workspaces', {
      token: chief.token,
      body: { workspace_id: 'w' },
    });
    const path = '/search?text=x&workspace=w&include_retrieval_trace=true';
    const [status, body] = await askJson(gateway, 'GET', path, chief);
    expect([status, body.documents, body.retrieval_trace.groups]).toEqual([200, [], []]);
  });
});

describe('GET /search/partition/{partition}/snapshot', () => {
  const path = '/search/partition/p/snapshot';
  const startFilled = async () => {
    const started = await start();
    const { gateway, ada } = started;
    await indexText(gateway, { partition: 'p', fileId: 'a', token: ada.token }, ['one', 'two']);
    await indexText(gateway, { partition: 'p', fileId: 'b', token: ada.token }, ['three']);
    await gateway.call('POST', '/indexer/partition/p/file/c', {
      token: ada.token,
      body: uploadForm('pending'),
    });
    return started;
  };

  it('is for administrators who are members', async () => {
    const { gateway, ada, ask } = await startFilled();
    expect(await ask(path, ada.token)).toEqual([403, { detail: 'Admin privileges required' }]);
    const chief = gateway.addUser('chief', { is_admin: true });
    expect(await ask(path, chief.token)).toEqual([403, { detail: "Access to partition 'p' forbidden" }]);
    expect((await ask('/search/partition/none/snapshot', chief.token))[0]).toBe(404);
    gateway.addMember(chief.userId, 'p', 'viewer');
    expect((await ask(path, chief.token))[0]).toBe(200);
  });

  it('tells what records and index hold', async () => {
    const { gateway, ask } = await startFilled();
    const chief = gateway.addUser('chief', { is_admin: true });
    gateway.addMember(chief.userId, 'p', 'viewer');
    const expected = {
      partition: 'p',
      embedder: 'builtin-hash',
      indexed_embedders: [expect.objectContaining({ embedder: 'builtin-hash', file_count: 2 })],
      files: 2,
      pending_files: 1,
      expected_chunks: 3,
      indexed_chunks: 3,
      published_chunks: 3,
      degraded_files: 0,
    };
    expect(await ask(path, chief.token)).toEqual([200, expected]);
    expect(await ask(`${path}?include_document_ids=true`, chief.token)).toEqual([
      200,
      { ...expected, document_ids: ['a', 'b'], document_ids_truncated: false },
    ]);
  });

  it('adds up all files without their records, also where more are there than are listed', async () => {
    const { gateway, ask } = await startFilled();
    const chief = gateway.addUser('chief', { is_admin: true });
    gateway.addMember(chief.userId, 'p', 'viewer');
    const { files } = gateway.adapters;
    const file = (await files.get('p', 'a'))!;
    const live = { ...file.live!, degraded_stages: ['caption' as const] };
    await files.change({ file, token: 'x', live, metadataPatch: null });
    const whole = [jest.spyOn(files, 'listLive'), jest.spyOn(files, 'pageLive')];
    const listed = jest
      .spyOn(files, 'listIds')
      .mockImplementation(async (_scope, _partition, limit) =>
        Array.from({ length: limit }, (_, index) => `file-${index}`),
      );
    const sums = { files: 2, expected_chunks: 3, degraded_files: 1 };
    expect(await ask(path, chief.token)).toEqual([200, expect.objectContaining(sums)]);
    expect(listed).not.toHaveBeenCalled();
    const [status, body] = await ask(`${path}?include_document_ids=true`, chief.token);
    expect([status, body]).toEqual([200, expect.objectContaining({ ...sums, document_ids_truncated: true })]);
    expect(body['document_ids']).toHaveLength(10_000);
    for (const spy of whole) expect(spy).not.toHaveBeenCalled();
  });

  it('is limited like a trace', async () => {
    const { gateway, ask } = await start({
      env: { RATE_LIMIT_ENABLED: 'true', RETRIEVAL_DIAGNOSTICS_RATE_LIMIT: '1/minute' },
    });
    const chief = gateway.addUser('chief', { is_admin: true });
    await gateway.call('POST', '/partition/p', { token: chief.token });
    expect((await ask(path, chief.token))[0]).toBe(200);
    expect((await ask(path, chief.token))[0]).toBe(429);
    expect((await ask('/search?text=x&include_retrieval_trace=y', chief.token))[0]).toBe(429);
  });
});
