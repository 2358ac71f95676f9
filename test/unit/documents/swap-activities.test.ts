import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createSwapActivities } from '../../../activities/documents/swap-activities.js';
import type { SwapPosition, SwapSlice } from '../../../activities/documents/swap-activities.js';
import { createPublisher } from '../../../activities/documents/publish-version.js';
import { createEmbeddingActivities } from '../../../activities/documents/embedding-activities.js';
import type { SwapStart } from '../../../schemas/documents/embedder-swaps.js';
import type { TaskRecord } from '../../../schemas/documents/tasks.js';
import { AppError } from '../../../schemas/app-error.js';
import { plainSearch } from '../../support/plain-search.js';
import { activityBench, inActivity, refOf } from '../../support/activity-bench.js';
import { sampleQuestions } from '../../contracts/retrieval/evaluation-samples.js';
import type { ActivityBench } from '../../support/activity-bench.js';
import { createSwapEmbedders } from '../../support/documents/swap-embedders.js';
import { wholeChunks } from '../../support/whole-chunks.js';

let bench: ActivityBench;
let embedders: ReturnType<typeof createSwapEmbedders>;
let swapping: ReturnType<typeof createSwapActivities>;
let embedding: ReturnType<typeof createEmbeddingActivities>;

beforeEach(async () => {
  embedders = createSwapEmbedders();
  bench = await activityBench(undefined, {
    wrapModels: (plain) => ({
      ...plain,
      embedder: async (name) => embedders.get(name, await plain.embedder('builtin-hash')),
    }),
  });
  // A slice ends after one page of files.
  swapping = createSwapActivities({ adapters: bench, search: plainSearch(bench), sliceMs: 0 });
  const publish = createPublisher(bench, { keepUploads: true });
  embedding = createEmbeddingActivities({ adapters: bench, publish });
});

function parse(task: TaskRecord) {
  return inActivity(() => bench.documents.parseDocument(refOf(task))).result;
}

function embedAndPublish(task: TaskRecord) {
  return inActivity(() => embedding.embedDocument(refOf(task), { publish: true })).result;
}

async function index(fileId: string): Promise<TaskRecord> {
  const task = await bench.admit(fileId, `text of ${fileId}`);
  await parse(task);
  await embedAndPublish(task);
  return task;
}

async function begin(more: Partial<SwapStart> = {}): Promise<string> {
  const { partition, partition_key, embedder } = (await bench.partitions.get('library'))!;
  const swap: SwapStart = {
    swap_id: randomUUID(),
    partition,
    partition_key,
    source_embedder: embedder,
    target_embedder: 'turned',
    min_overlap: null,
    min_known_item: null,
    started_by: '1',
    ...more,
  };
  await inActivity(() => swapping.beginEmbedderSwap(swap)).result;
  return swap.swap_id;
}

function slice(swapId: string, position: SwapPosition | null): Promise<SwapSlice> {
  return inActivity(() => swapping.runEmbedderSwapSlice({ swapId, position })).result;
}

/** Slices until the swap comes to a phase, or is held back. */
async function runTo(swapId: string, phase: SwapPosition['phase'], from: SwapPosition | null = null) {
  let last: SwapSlice = { position: from!, held: null };
  do last = await slice(swapId, last.position);
  while (last.position.phase !== phase && last.held === null);
  return last;
}

async function fieldsOf({ file_key, generation }: TaskRecord): Promise<number[]> {
  const ids = (await bench.chunks.listByFile(file_key, generation)).map(({ chunk_id }) => chunk_id);
  return Promise.all(
    ['vector_builtin_hash', 'vector_turned'].map(
      async (field) => (await bench.chunks.getVectors(ids, field)).size,
    ),
  );
}

async function liveEmbedder(fileId: string) {
  return (await bench.files.get('library', fileId))?.live?.embedder;
}

function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );
}

describe('a swap of the embedder', () => {
  it('gives every live chunk a second vector, and switches in one update', async () => {
    const tasks = [await index('a'), await index('b')];
    const id = await begin();
    const ready = await runTo(id, 'switching');
    expect(ready.position).toMatchObject({ done: 2, total: 2 });
    expect(ready.position.figures).toMatchObject({ sampled: 2, overlap: 1 });
    expect(await bench.partitions.get('library')).toMatchObject({
      embedder: 'builtin-hash',
      swap: { swap_id: id, target: 'turned' },
    });
    for (const task of tasks) expect(await fieldsOf(task)).toEqual([3, 3]);
    await runTo(id, 'done', ready.position);
    expect(await bench.partitions.get('library')).toMatchObject({
      embedder: 'turned',
      swap: null,
      swapped_from: ['builtin-hash'],
    });
    expect([await liveEmbedder('a'), await liveEmbedder('b')]).toEqual(['turned', 'turned']);
    expect(await bench.embedderSwaps.get(id)).toMatchObject({
      phase: 'done',
      files_done: 2,
      files_total: 2,
      figures: { overlap: 1 },
    });
  });

  it('makes no vector twice when a slice is repeated', async () => {
    await index('a');
    const id = await begin();
    await slice(id, null);
    await slice(id, null);
    await runTo(id, 'done');
    expect(embedders.state.embedded.get('turned')).toBe(3);
  });

  it('gives uploads both vectors while it is at work', async () => {
    const id = await begin();
    const late = await index('late');
    expect(await fieldsOf(late)).toEqual([3, 3]);
    expect(await liveEmbedder('late')).toBe('builtin-hash');
    await runTo(id, 'done');
    expect(await liveEmbedder('late')).toBe('turned');
  });

  it('keeps no upload waiting for a new embedder that is away, and comes to its chunks itself', async () => {
    const id = await begin();
    embedders.state.away.add('turned');
    const late = await index('late');
    expect(await fieldsOf(late)).toEqual([3, 0]);
    expect(await codeOf(slice(id, null))).toBe('EMBEDDING_API_ERROR');
    embedders.state.away.clear();
    await runTo(id, 'done');
    expect(await fieldsOf(late)).toEqual([3, 3]);
  });

  it('finds what comes up behind a pass', async () => {
    const id = await begin();
    const embedded = await runTo(id, 'measuring');
    embedders.state.away.add('turned');
    const late = await index('late');
    embedders.state.away.clear();
    await runTo(id, 'done', embedded.position);
    expect(await fieldsOf(late)).toEqual([3, 3]);
  });

  it('lets a task that began before the switch end after it, under the new embedder', async () => {
    const before = await bench.admit('before', 'text');
    const between = await bench.admit('between', 'another');
    for (const task of [before, between]) await parse(task);
    await inActivity(() => embedding.embedDocument(refOf(between))).result;
    const id = await begin();
    await runTo(id, 'done');
    await embedAndPublish(before);
    await inActivity(() => bench.documents.publishDocument(refOf(between), 3)).result.catch(() => undefined);
    expect(await liveEmbedder('before')).toBe('turned');
    expect((await fieldsOf(before))[1]).toBe(3);
  });

  it('lets a task that is read after the switch end, also when the former embedder is gone by then', async () => {
    const late = await bench.admit('late', 'text');
    await runTo(await begin(), 'done');
    embedders.state.gone.add('builtin-hash');
    await parse(late);
    await embedAndPublish(late);
    expect(await liveEmbedder('late')).toBe('turned');
    expect((await fieldsOf(late))[1]).toBe(3);
  });

  it('lets a copy that is begun after the switch end, also when the former embedder is gone by then', async () => {
    const source = await index('a');
    const copy = await bench.admitCopy('b', source);
    await runTo(await begin(), 'done');
    embedders.state.gone.add('builtin-hash');
    await inActivity(() => bench.copying.copyVersion(refOf(copy))).result;
    await inActivity(() => bench.documents.publishDocument(refOf(copy), 3)).result;
    expect(await liveEmbedder('b')).toBe('turned');
    expect((await fieldsOf(copy))[1]).toBe(3);
  });

  it('makes the new vectors of what a model said of the chunks, too', async () => {
    const task = await index('a');
    const [first] = await wholeChunks(bench.chunks, task.file_key, task.generation);
    const { vectorField } = await bench.models.embedder('builtin-hash');
    const [vector] = (await bench.chunks.getVectors([first!.chunk_id], vectorField)).values();
    await bench.chunks.put(
      [{ chunk: first!, vector: vector!, context: 'the tide mill of Olhao' }],
      vectorField,
    );
    await runTo(await begin(), 'done');
    const texts = embedders.state.texts.get('turned')!;
    expect(texts.filter((text) => text.startsWith('the tide mill of Olhao'))).toHaveLength(1);
  });

  it('completes the vectors of a version that was embedded before the switch', async () => {
    const task = await bench.admit('between', 'text');
    await parse(task);
    await inActivity(() => embedding.embedDocument(refOf(task))).result;
    await runTo(await begin(), 'done');
    const publish = createPublisher(bench, { keepUploads: true });
    const { signal } = new AbortController();
    await inActivity(() => publish(refOf(task), 3, { signal })).result;
    expect(await fieldsOf(task)).toEqual([3, 3]);
    expect(await liveEmbedder('between')).toBe('turned');
  });

  it('is held back by an embedder that is worse than asked for', async () => {
    for (const fileId of ['a', 'b', 'c']) await index(fileId);
    const id = await begin({ target_embedder: 'bad', min_known_item: 0.9 });
    const { held, position } = await runTo(id, 'switching');
    expect(held).toMatch(/^The switch is held back: .*min_known_item.* stays with its embedder\.$/);
    expect(position.figures!.known_item_after).toBeLessThan(0.9);
    await inActivity(() => swapping.endEmbedderSwap({ swapId: id, status: 'failed', error: held })).result;
    expect(await bench.partitions.get('library')).toMatchObject({ embedder: 'builtin-hash', swap: null });
    expect(await bench.embedderSwaps.get(id)).toMatchObject({ status: 'failed', error: held });
  });

  it('asks a question set of both, and is held back where the new one answers it worse than asked for', async () => {
    for (const fileId of ['a', 'b', 'c']) await index(fileId);
    const { partition_key } = (await bench.partitions.get('library'))!;
    const set = { partition_key, name: 'main', note: null, created_by: '1' };
    const [, question] = sampleQuestions(2);
    const asks = (file_id: string) => ({
      ...question!,
      id: file_id,
      question: 'one',
      relevant: [{ file_id, passage: null, grade: 1 }],
    });
    await bench.questionSets.add(set, [...sampleQuestions(1), asks('b'), asks('missing')], 9);
    const id = await begin({ question_set: 'main', min_ndcg: 0.6 });
    const { held, position } = await runTo(id, 'switching');
    expect(held).toMatch(
      /^The switch is held back: the question set 'main' .*min_ndcg.* stays with its embedder\.$/,
    );
    const { questions } = position.figures!;
    expect(questions).toMatchObject({ count: 2 });
    for (const ndcg of [questions!.ndcg_before, questions!.ndcg_after]) {
      expect(ndcg).toBeGreaterThan(0.2);
      expect(ndcg).toBeLessThanOrEqual(0.5);
    }
    expect((await bench.embedderSwaps.get(id))!.figures).toEqual(position.figures);
    await inActivity(() => swapping.endEmbedderSwap({ swapId: id, status: 'failed', error: held })).result;

    const again = await begin({ question_set: 'main', min_ndcg: 0.2 });
    expect((await runTo(again, 'done')).held).toBeNull();
    expect((await bench.partitions.get('library'))?.embedder).toBe('turned');
  });

  it('fails where the question set is gone, and is held back where it can say nothing', async () => {
    await index('a');
    const gone = await begin({ question_set: 'none' });
    const measuring = (await slice(gone, null)).position;
    const through = (await slice(gone, measuring)).position;
    expect(await codeOf(slice(gone, through))).toBe('QUESTION_SET_NOT_FOUND');
    await inActivity(() => swapping.endEmbedderSwap({ swapId: gone, status: 'failed', error: 'gone' }))
      .result;
    const { partition_key } = (await bench.partitions.get('library'))!;
    const set = { partition_key, name: 'main', note: null, created_by: '1' };
    await bench.questionSets.add(set, sampleQuestions(1), 9);
    const mute = await begin({ question_set: 'main', min_ndcg: 0 });
    expect((await runTo(mute, 'switching')).held).toContain('no question that names relevant items');
  });

  it('completes at once in an empty partition', async () => {
    const id = await begin({ min_overlap: 1, min_known_item: 1 });
    expect((await runTo(id, 'done')).held).toBeNull();
    expect((await bench.partitions.get('library'))?.embedder).toBe('turned');
  });

  it('follows an endpoint that is renamed meanwhile', async () => {
    await index('a');
    const id = await begin({ target_embedder: 'new' });
    await bench.partitions.renameReference('swap.target', 'new', 'turned');
    await runTo(id, 'done');
    expect((await bench.partitions.get('library'))?.embedder).toBe('turned');
    expect(await liveEmbedder('a')).toBe('turned');
  });

  it('ends when the partition is deleted, also where another of its name was made', async () => {
    const id = await begin();
    await bench.partitions.markDeleted('library');
    expect(await codeOf(slice(id, null))).toBe('PARTITION_NOT_FOUND');
    const [gone] = await bench.partitions.listDeleted();
    await bench.partitions.removeDeleted(gone!);
    await bench.partitions.create({ partition: 'library', embedder: 'builtin-hash', ownerId: 1 });
    expect(await codeOf(slice(id, null))).toBe('PARTITION_NOT_FOUND');
    await inActivity(() => swapping.endEmbedderSwap({ swapId: id, status: 'failed', error: 'gone' })).result;
    expect((await bench.partitions.get('library'))?.embedder).toBe('builtin-hash');
  });

  it('takes the place of one that was broken off from outside', async () => {
    const broken = await begin();
    const id = await begin();
    expect(await bench.embedderSwaps.get(broken)).toMatchObject({ status: 'failed' });
    await runTo(id, 'done');
    expect(await codeOf(slice(broken, null))).toBe('EMBEDDER_SWAP_NOT_RUNNING');
  });

  it('begins on no other embedder than the one it is to replace', async () => {
    expect(await codeOf(begin({ source_embedder: 'another' }))).toBe('CONFLICT');
    expect((await bench.partitions.get('library'))?.swap).toBeNull();
  });
});
