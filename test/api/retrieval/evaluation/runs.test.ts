import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Measured } from '../../../../schemas/retrieval/evaluation.js';
import { sampleQuestions, sampleResult } from '../../../contracts/retrieval/evaluation-samples.js';
import { askJson } from '../../support/ask-json.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';

const RUNS = '/evaluation/partition/one/runs';

let gateway: Gateway;
let owner: { token: string; userId: number };
let editor: { token: string; userId: number };
let viewer: { token: string; userId: number };

beforeEach(async () => {
  gateway = await startGateway();
  owner = gateway.addUser('owner');
  editor = gateway.addUser('editor');
  viewer = gateway.addUser('viewer');
  await gateway.call('POST', '/partition/one', { token: owner.token });
  await gateway.call('POST', '/partition/two', { token: owner.token });
  gateway.addMember(editor.userId, 'one', 'editor');
  gateway.addMember(viewer.userId, 'one', 'viewer');
  await addSet('main', 3);
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = editor.token) {
  return askJson(gateway, method, path, { body, token });
}

async function keyOf(partition = 'one'): Promise<string> {
  return (await gateway.adapters.partitions.get(partition))!.partition_key;
}

async function addSet(name: string, count: number) {
  const set = { partition_key: await keyOf(), name, note: null, created_by: '1' };
  return gateway.adapters.questionSets.add(set, sampleQuestions(count), 9);
}

/** Starts a run and ends it, as the workflow would, with these results. */
async function finished(measures: Measured[], set = 'main') {
  const [status, { run_id: runId }] = await ask('POST', RUNS, { set });
  expect(status).toBe(202);
  const { evaluationRuns } = gateway.adapters;
  await evaluationRuns.record(
    runId,
    measures.map((one, index) => sampleResult(index, { measures: one })),
  );
  await evaluationRuns.finish(runId, {
    status: 'completed',
    error: null,
    summary: { failed: 0, measures: {}, search: { p50: 1, p95: 2 }, chat: null },
  });
  gateway.workflows.evaluating.clear();
  return runId as string;
}

function CODE(code: string) {
  return expect.objectContaining({ detail: expect.stringMatching(new RegExp(String.raw`^\[${code}\]: `)) });
}

describe('POST /evaluation/partition/{partition}/runs', () => {
  it('is for editors, and begins a run with the preset as it is now', async () => {
    expect((await ask('POST', RUNS, { set: 'main' }, viewer.token))[0]).toBe(403);
    await addSet('main', 2);
    const overrides = { top_k: 30, similarity_threshold: null, vector_weight: 0.2 };
    const [status, run] = await ask('POST', RUNS, {
      set: 'main',
      version: 1,
      label: 'first',
      chat: true,
      overrides,
    });
    expect([status, run]).toEqual([
      202,
      {
        run_id: expect.any(String),
        partition: 'one',
        set: 'main',
        version: 1,
        label: 'first',
        settings: { chat: true, top_k: 50, preset: null, overrides },
        status: 'running',
        questions_total: 3,
        questions_done: 0,
        summary: null,
        error: null,
        started_by: String(editor.userId),
        started_at: expect.any(String),
        updated_at: expect.any(String),
        finished_at: null,
      },
    ]);
    expect(gateway.workflows.evaluated).toEqual(['main v1 over one']);
    const stored = (await gateway.adapters.evaluationRuns.get(run.run_id))!;
    const preset = (await gateway.adapters.presets.get('retrieval', 'default'))!;
    expect(stored.config).toEqual({ ...preset.config, ...overrides });
  });

  it('begins one at a time', async () => {
    await ask('POST', RUNS, { set: 'main' });
    expect(await ask('POST', RUNS, { set: 'main' })).toEqual([409, CODE('EVALUATION_RUNNING')]);
    expect((await ask('GET', RUNS))[1].runs).toHaveLength(1);
  });

  it.each([
    [{ set: 'none' }, 404, 'QUESTION_SET_NOT_FOUND'],
    [{ set: 'main', version: 2 }, 404, 'QUESTION_SET_NOT_FOUND'],
    [{ set: 'main', preset: 'none' }, 422, 'PRESET_NOT_FOUND'],
    [{ set: 'main', overrides: { reranker: 'none' } }, 422, 'MODEL_ENDPOINT_NOT_FOUND'],
    [{ set: 'main', overrides: { hyde_prompt_name: 'none' } }, 422, 'PROMPT_NOT_FOUND'],
  ])('refuses %j', async (body, status, code) => {
    expect(await ask('POST', RUNS, body)).toEqual([status, CODE(code)]);
    expect(gateway.workflows.evaluated).toEqual([]);
  });

  it.each([
    {},
    { set: 'main', top_k: 0 },
    { set: 'main', overrides: { top_k: '5' } },
    { set: 'main', overrides: { vector_weight: 2 } },
    { set: 'main', a: 1 },
  ])('answers 422 to %j', async (body) => {
    expect((await ask('POST', RUNS, body))[0]).toBe(422);
  });

  it('begins nothing while Temporal is away', async () => {
    gateway.workflows.state.away = true;
    expect(await ask('POST', RUNS, { set: 'main' })).toEqual([503, CODE('SERVICE_UNAVAILABLE')]);
    expect(await ask('GET', RUNS)).toEqual([200, { runs: [] }]);
  });

  it('forgets the oldest beyond a hundred', async () => {
    const ids: string[] = [];
    for (let turn = 0; turn < 102; turn += 1) ids.push(await finished([]));
    const [, { runs }] = await ask('GET', RUNS);
    expect(runs).toHaveLength(100);
    expect((await ask('GET', `${RUNS}/${ids[1]}`))[0]).toBe(404);
    expect((await ask('GET', `${RUNS}/${ids[2]}`))[0]).toBe(200);
  });
});

describe('GET /evaluation/partition/{partition}/runs/{run_id} and its results', () => {
  it('answer those of this partition alone', async () => {
    const runId = await finished([{ mrr: 1 }, { mrr: 0.5 }, {}]);
    expect(await ask('GET', `${RUNS}/${runId}`)).toEqual([
      200,
      expect.objectContaining({ status: 'completed', questions_done: 3, finished_at: expect.any(String) }),
    ]);
    const results = [sampleResult(0, { measures: { mrr: 1 } }), sampleResult(1, { measures: { mrr: 0.5 } })];
    expect(await ask('GET', `${RUNS}/${runId}/results?limit=2`)).toEqual([200, { total: 3, results }]);
    const [, page] = await ask('GET', `${RUNS}/${runId}/results?offset=2`);
    expect(page.results).toEqual([sampleResult(2, { measures: {} })]);
    const foreign = `/evaluation/partition/two/runs/${runId}`;
    for (const [method, path] of [
      ['GET', foreign],
      ['GET', `${foreign}/results`],
      ['GET', `${foreign}/comparison?before=${runId}`],
      ['POST', `${foreign}/cancel`],
      ['DELETE', foreign],
    ] as const)
      expect(await ask(method, path, undefined, owner.token)).toEqual([404, CODE('EVALUATION_NOT_FOUND')]);
    expect((await ask('GET', `${RUNS}/${runId}`, undefined, viewer.token))[0]).toBe(403);
  });
});

describe('GET /evaluation/partition/{partition}/runs/{run_id}/comparison', () => {
  it('says what got better and what worse', async () => {
    const before = await finished([{ ndcg_10: 0.5, mrr: 1 }, { ndcg_10: 0.5 }, { ndcg_10: 1 }]);
    const after = await finished([{ ndcg_10: 1, mrr: 0.5 }, { ndcg_10: 0.25 }, { ndcg_10: 1 }]);
    const path = `${RUNS}/${after}/comparison?before=${before}`;
    const [status, body] = await ask('GET', path);
    expect([status, body]).toEqual([
      200,
      {
        before: expect.objectContaining({ run_id: before }),
        after: expect.objectContaining({ run_id: after }),
        questions: 3,
        only_before: 0,
        only_after: 0,
        measures: {
          ndcg_10: expect.objectContaining({ better: 1, worse: 1, same: 1 }),
          mrr: expect.objectContaining({ before: 1, after: 0.5, better: 0, worse: 1 }),
        },
        better: [expect.objectContaining({ question_id: 'q0', gain: 0.5 })],
        worse: [expect.objectContaining({ question_id: 'q1', gain: -0.25 })],
      },
    ]);
    const [, byRank] = await ask('GET', `${path}&measure=mrr&limit=1`);
    expect([byRank.better, byRank.worse.length]).toEqual([[], 1]);
    expect((await ask('GET', `${path}&measure=luck`))[0]).toBe(422);
    expect((await ask('GET', `${RUNS}/${after}/comparison`))[0]).toBe(422);
    expect((await ask('GET', `${RUNS}/${after}/comparison?before=none`))[0]).toBe(404);
  });
});

describe('POST /evaluation/partition/{partition}/runs/{run_id}/cancel', () => {
  it('ends a run that no workflow is at work on any more', async () => {
    const [, { run_id: runId }] = await ask('POST', RUNS, { set: 'main' });
    gateway.workflows.evaluating.clear();
    expect((await ask('POST', `${RUNS}/${runId}/cancel`, undefined, viewer.token))[0]).toBe(403);
    expect(await ask('POST', `${RUNS}/${runId}/cancel`)).toEqual([
      200,
      expect.objectContaining({ status: 'cancelled', error: null }),
    ]);
    expect(await ask('POST', `${RUNS}/${runId}/cancel`)).toEqual([409, CODE('EVALUATION_NOT_RUNNING')]);
  });

  it('leaves the run alone that was begun since', async () => {
    const [, { run_id: terminated }] = await ask('POST', RUNS, { set: 'main' });
    gateway.workflows.evaluating.clear();
    const [, { run_id: next }] = await ask('POST', RUNS, { set: 'main' });
    expect(await ask('POST', `${RUNS}/${terminated}/cancel`)).toEqual([
      200,
      expect.objectContaining({ run_id: terminated, status: 'cancelled' }),
    ]);
    expect([...gateway.workflows.evaluating.values()]).toEqual([next]);
    expect((await ask('GET', `${RUNS}/${next}`))[1]).toMatchObject({ status: 'running' });
  });

  it('tells the workflow, and answers what came of it', async () => {
    const [, { run_id: runId }] = await ask('POST', RUNS, { set: 'main' });
    const asked = ask('POST', `${RUNS}/${runId}/cancel`);
    while (!gateway.workflows.evaluated.includes('cancel')) await new Promise(setImmediate);
    await gateway.adapters.evaluationRuns.finish(runId, { status: 'cancelled', error: null, summary: null });
    expect((await asked)[1]).toMatchObject({ status: 'cancelled' });
  });
});

describe('DELETE /evaluation/partition/{partition}/runs/{run_id}', () => {
  it('removes a run that has ended', async () => {
    const runId = await finished([{ mrr: 1 }]);
    expect(await ask('DELETE', `${RUNS}/${runId}`)).toEqual([204, '']);
    expect((await ask('GET', `${RUNS}/${runId}`))[0]).toBe(404);
    const [, { run_id: running }] = await ask('POST', RUNS, { set: 'main' });
    expect(await ask('DELETE', `${RUNS}/${running}`)).toEqual([409, CODE('EVALUATION_RUNNING')]);
  });

  it('and so does the deletion of its partition', async () => {
    const runId = await finished([{ mrr: 1 }]);
    await ask('DELETE', '/partition/one', undefined, owner.token);
    expect(await gateway.adapters.evaluationRuns.get(runId)).toBeNull();
    expect(await gateway.adapters.evaluationRuns.results(runId, 0, 9)).toEqual([]);
  });
});
