import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import type { Worker } from 'node:worker_threads';
import type { Reranker } from '../../../../activities/ports/models.js';
import { openModels } from '../../../support/model-server/open-models.js';
import type { OpenedModels } from '../../../support/model-server/open-models.js';
import {
  countingGraph,
  scoreOf,
  wordPieceTokenizer,
  writeCountingModel,
} from '../../../support/onnx/counting-model.js';
import type { CountingModel } from '../../../support/onnx/counting-model.js';
import { until } from '../../../support/until.js';

let folder: string;
let models: OpenedModels | undefined;
const after: (() => void)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tamis-onnx-'));
});
afterEach(async () => {
  for (const undo of after.splice(0)) undo();
  await models?.close();
  models = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function open(
  environment: Record<string, string> = {},
  onnx: { idleMs?: number; graceMs?: number } = {},
): Promise<Reranker> {
  models = await openModels(
    {
      MODELS_DIR: join(folder, 'models'),
      RERANKER_PROVIDER: 'onnx',
      RERANKER_MODEL: 'counting',
      ...environment,
    },
    { onnx },
  );
  return (await models.registry.reranker())!;
}

/** A reranker whose model is this one. */
async function openCounting(
  model: CountingModel = {},
  files: Parameters<typeof writeCountingModel>[2] = {},
  environment: Record<string, string> = {},
): Promise<Reranker> {
  await writeCountingModel(join(folder, 'models/counting'), model, files);
  return open(environment);
}

/** Those that were started since. */
function watchThreads(onStart: (worker: Worker) => void = () => undefined) {
  const started: Worker[] = [];
  const onWorker = (worker: Worker): void => {
    started.push(worker);
    onStart(worker);
  };
  // Jest's own `process` tells nothing of threads.
  const real = runInThisContext('process') as NodeJS.Process;
  real.on('worker', onWorker);
  after.push(() => real.off('worker', onWorker));
  return started;
}

function hasEnded(worker: Worker): boolean {
  return worker.threadId === -1;
}

function close(scores: number[]): unknown[] {
  return scores.map((score) => expect.closeTo(score, 5));
}

describe('a reranker without a server', () => {
  test('scores each text in its place, 0 to 1', async () => {
    const reranker = await openCounting();
    expect(reranker).toMatchObject({ endpointName: 'default', modelName: 'counting' });
    const texts = ['boiler', 'oil and water of the pump', 'the oil filter', ''];
    expect(await reranker.rerank('oil pump water', texts, {})).toEqual(close([0, 3, 1, 0].map(scoreOf)));
    expect(await reranker.rerank('oil', [], {})).toEqual([]);
    expect(await reranker.rerank('', ['oil'], {})).toEqual(close([scoreOf(0)]));
  });

  test('scores a text alone as it does among others, in one batch or many', async () => {
    const words = ['pump', 'oil', 'water', 'filter', 'engine', 'boiler', 'coupling'];
    const texts = Array.from({ length: 70 }, (_, index) =>
      Array.from({ length: 1 + (index % 13) }, (_, word) => words[(index + word * word) % words.length]).join(
        ' ',
      ),
    );
    const reranker = await openCounting();
    const together = await reranker.rerank('pump oil boiler engine', texts, {});
    const alone = [];
    for (const text of texts) alone.push(...(await reranker.rerank('pump oil boiler engine', [text], {})));
    expect(together).toEqual(alone);
    expect(new Set(together).size).toBeGreaterThan(3);
  });

  test('reads accents, scripts without spaces and pictures as its tokenizer does', async () => {
    const reranker = await openCounting();
    const texts = ['L’ÉLÈVE de l’École', 'noël déjà-vu', '東京の天気', 'go 🙂 on', 'eleve'];
    expect(await reranker.rerank('élève école', texts, {})).toEqual(close([2, 0, 0, 0, 1].map(scoreOf)));
    expect(await reranker.rerank('天気 🙂', texts, {})).toEqual(close([0, 0, 2, 1, 0].map(scoreOf)));
  });

  test('cuts off what is longer than the model takes, of the longer one first', async () => {
    const reranker = await openCounting();
    // 64 tokens, of which three are special and two the question's: 59 are the text's.
    const filler = (count: number) => 'water '.repeat(count);
    const texts = [`${filler(58)}pump`, `${filler(59)}pump`, `${filler(100_000)}pump`];
    expect(await reranker.rerank('oil pump', texts, {})).toEqual(close([1, 0, 0].map(scoreOf)));
    // Both longer than half: 30 for the question, 31 for the text.
    const question = `${'boiler '.repeat(29)}oil pump`;
    const long = ['oil', 'pump'].map((word) => `${filler(30)}${word} ${filler(40)}`);
    expect(await reranker.rerank(question, long, {})).toEqual(close([1, 0].map(scoreOf)));
  });

  test('of two labels takes the probability of the second', async () => {
    const reranker = await openCounting({ labels: 2 });
    expect(await reranker.rerank('oil pump', ['oil pump', 'water'], {})).toEqual(close([2, 0].map(scoreOf)));
  });

  test('feeds a model only what it asks for', async () => {
    // It takes the question's own tokens for the text's.
    const reranker = await openCounting({ typeInput: false });
    expect(await reranker.rerank('oil', ['water'], {})).toEqual(close([scoreOf(2)]));
  });

  test('answers several calls at once, each with its own', async () => {
    const reranker = await openCounting({ steps: 1000 });
    const words = ['oil', 'pump', 'water', 'filter', 'engine', 'boiler'];
    const answers = await Promise.all(words.map((word) => reranker.rerank(word, words, {})));
    for (const [index, scores] of answers.entries())
      expect(scores).toEqual(close(words.map((_, place) => scoreOf(place === index ? 1 : 0))));
  });

  test.each([
    ['model.onnx', 'model.onnx'],
    ['onnx/model_quantized.onnx', 'onnx/model_quantized.onnx'],
    ['model_int8.onnx', 'model_int8.onnx'],
  ])('takes %s where there is no onnx/model.onnx', async (_, file) => {
    const reranker = await openCounting({}, { 'onnx/model.onnx': null, [file]: countingGraph() });
    expect(await reranker.rerank('oil', ['oil'], {})).toEqual(close([scoreOf(1)]));
  });

  test('uses the plain graph rather than the quantised one, and the files as they are now', async () => {
    const reranker = await openCounting({}, { 'onnx/model_quantized.onnx': 'damaged' });
    expect(await reranker.rerank('oil', ['oil'], {})).toEqual(close([scoreOf(1)]));
    await writeCountingModel(join(folder, 'models/counting'), { labels: 3 });
    await expect(reranker.rerank('oil', ['oil'], {})).rejects.toThrow('3 labels');
    await writeCountingModel(join(folder, 'models/counting'), { labels: 2 });
    expect(await reranker.rerank('oil', ['oil'], {})).toEqual(close([scoreOf(1)]));
  });
});

describe('a call that nobody waits for', () => {
  test('is left between two products, and the next one is answered', async () => {
    // The longest text would never end; whoever leaves before must not have it computed.
    await writeCountingModel(join(folder, 'models/counting'), { three: 'endless', steps: 20_000 }, LONG);
    const reranker = await open();
    await reranker.rerank('oil', ['oil'], {});
    const texts = Array.from({ length: 30 }, () => 'water '.repeat(400));
    const leaving = new AbortController();
    const asked = reranker.rerank('oil pump filter', [...texts, `oil pump filter ${'water '.repeat(430)}`], {
      signal: leaving.signal,
    });
    setTimeout(() => leaving.abort(new Error('gone')), 100);
    await expect(asked).rejects.toThrow('gone');
    expect(await reranker.rerank('oil', ['oil'], {})).toEqual(close([scoreOf(1)]));
  });

  test('and does not stop computing ends the thread; the next call starts another', async () => {
    await writeCountingModel(join(folder, 'models/counting'), { three: 'endless' });
    // Loading takes some seconds too: calls that time out for that would have the server left alone for half a minute.
    const reranker = await open({ RERANKER_TIMEOUT: '10' }, { graceMs: 200 });
    await expect(reranker.rerank('oil pump filter', ['oil pump filter'], {})).rejects.toMatchObject({
      code: 'INFERENCE_TIMEOUT',
      status: 504,
    });
    const again = await until('another thread answers', () =>
      reranker.rerank('oil', ['oil'], {}).catch(() => null),
    );
    expect(again).toEqual(close([scoreOf(1)]));
  });

  test('leaves a call that waits behind it to be answered by another thread', async () => {
    const threads = watchThreads();
    await writeCountingModel(join(folder, 'models/counting'), { three: 'endless' });
    const reranker = await open({}, { graceMs: 200 });
    await reranker.rerank('oil', ['oil'], {});
    const signal = AbortSignal.timeout(1500);
    const endless = reranker.rerank('oil pump filter', ['oil pump filter'], { signal });
    const behind = reranker.rerank('oil', ['oil'], {});
    await expect(endless).rejects.toThrow();
    expect(await behind).toEqual(close([scoreOf(1)]));
    await until('the thread was ended', async () => hasEnded(threads[0]!));
    expect(await reranker.rerank('oil', ['oil'], {})).toEqual(close([scoreOf(1)]));
  });
});

const LONG = {
  'config.json': { model_type: 'bert', max_position_embeddings: 512 },
  'tokenizer_config.json': { model_max_length: 512 },
};

describe('what of a model cannot be used is said by', () => {
  async function failure(reranker: Reranker): Promise<unknown> {
    const [ranking, check] = await Promise.allSettled([
      reranker.rerank('oil', ['oil'], {}),
      models!.registry.check('reranker', 'default'),
    ]);
    expect(ranking).toEqual(check);
    return (ranking as PromiseRejectedResult).reason;
  }

  test.each<[string, CountingModel, Parameters<typeof writeCountingModel>[2], RegExp]>([
    ['a missing tokenizer', {}, { 'tokenizer.json': null }, /'counting' has no file tokenizer.json/],
    ['a missing config', {}, { 'config.json': null }, /'counting' has no file config.json/],
    [
      'a missing graph',
      {},
      { 'onnx/model.onnx': null },
      /'counting' has no file onnx\/model.onnx or model.onnx/,
    ],
    [
      'weights apart',
      {},
      { 'onnx/model.onnx_data': 'x' },
      /keeps its weights apart \(onnx\/model.onnx_data\)/,
    ],
    [
      'a damaged graph',
      {},
      { 'onnx/model.onnx': countingGraph().subarray(0, 900) },
      /its ONNX file cannot be loaded/,
    ],
    [
      'no graph at all',
      {},
      { 'onnx/model.onnx': 'version https://git-lfs' },
      /its ONNX file cannot be loaded/,
    ],
    ['broken JSON', {}, { 'config.json': '{' }, /its config.json cannot be read/],
    ['JSON of another kind', {}, { 'tokenizer.json': '7' }, /its tokenizer.json holds no object/],
    ['a tokenizer of nobody', {}, { 'tokenizer.json': { model: {} } }, /its tokenizer.json cannot be read/],
    [
      'a tokenizer that joins no pairs',
      {},
      { 'tokenizer.json': { ...wordPieceTokenizer(), post_processor: null } },
      /does not say how to join two texts/,
    ],
    [
      'an embedder',
      { output: 'last_hidden_state' },
      {},
      /no cross-encoder: it has the outputs last_hidden_state/,
    ],
    ['three labels', { labels: 3 }, {}, /it has 3 labels instead of 1 or 2/],
    ['an unknown input', { extraInput: 'position_ids' }, {}, /an input 'position_ids'/],
    [
      'a window without room',
      {},
      { 'tokenizer_config.json': { model_max_length: 4 } },
      /4 tokens, which hold no pair/,
    ],
  ])('%s', async (_, model, files, message) => {
    const reason = await failure(await openCounting(model, files));
    expect(reason).toMatchObject({ code: 'INFERENCE_ERROR', message: expect.stringMatching(message) });
    expect(reason).toMatchObject({ message: expect.stringMatching(/^Model endpoint 'default': /) });
  });

  test('its name, where MODELS_DIR has no such folder, or is none', async () => {
    const missing = await open();
    await mkdir(join(folder, 'models'));
    expect(await failure(missing)).toMatchObject({
      message: expect.stringContaining("no folder 'counting'"),
    });
    await rm(join(folder, 'models'), { recursive: true });
    expect(await failure(missing)).toMatchObject({
      message: expect.stringContaining('MODELS_DIR names no folder'),
    });
  });

  test('what it gives for a text that is no number', async () => {
    const reranker = await openCounting({ three: 'not-a-number' });
    await expect(reranker.rerank('oil pump filter', ['oil', 'oil pump filter'], {})).rejects.toMatchObject({
      code: 'LLM_PARSING_ERROR',
      message: expect.stringContaining('gives no number for a text'),
    });
    expect(await reranker.rerank('oil', ['water'], {})).toEqual([
      expect.closeTo(1 / (1 + Math.exp(-Math.SQRT2)), 5),
    ]);
  });
});

describe('nothing outside MODELS_DIR is read', () => {
  test.each(['..', '.', '../secret', 'a/b', '/etc', 'a\\b', '', '.hidden', 'x\0', 'counting/'])(
    'by %j',
    async (name) => {
      await writeCountingModel(join(folder, 'secret'));
      await writeCountingModel(join(folder, 'models/counting'));
      await open();
      const stored = (await models!.endpoints.get('reranker', 'default'))!;
      await models!.endpoints.save({ ...stored, model_name: name });
      const reranker = (await models!.registry.reranker())!;
      await expect(reranker.rerank('oil', ['oil'], {})).rejects.toMatchObject({
        message: expect.stringContaining('cannot be the name of a folder in MODELS_DIR'),
      });
    },
  );

  test('by a folder that is a link out, nor by a file that is one', async () => {
    await writeCountingModel(join(folder, 'secret'));
    await mkdir(join(folder, 'models'));
    await symlink(join(folder, 'secret'), join(folder, 'models/counting'));
    const linked = await open();
    await expect(linked.rerank('oil', ['oil'], {})).rejects.toThrow('not a folder inside MODELS_DIR');
    await rm(join(folder, 'models/counting'));
    await writeCountingModel(join(folder, 'models/counting'), {}, { 'config.json': null });
    await symlink(join(folder, 'secret/config.json'), join(folder, 'models/counting/config.json'));
    await expect(linked.rerank('oil', ['oil'], {})).rejects.toThrow('config.json of the model');
  });

  test('but links inside it are followed, as a cache of the hub has them', async () => {
    await writeCountingModel(join(folder, 'models/models--x/snapshots/1'));
    await symlink('models--x/snapshots/1', join(folder, 'models/counting'));
    await cp(join(folder, 'models'), join(folder, 'real'), { recursive: true, verbatimSymlinks: true });
    await rm(join(folder, 'models'), { recursive: true });
    await symlink(join(folder, 'real'), join(folder, 'models'));
    expect(await (await open()).rerank('oil', ['oil'], {})).toEqual(close([scoreOf(1)]));
  });
});

test('a file as MODELS_DIR is no folder', async () => {
  await writeFile(join(folder, 'models'), '');
  await expect((await open()).rerank('oil', ['oil'], {})).rejects.toThrow('MODELS_DIR names no folder');
});

describe('its thread', () => {
  test('is started by the first call, ended when nobody has asked for a while, and started again', async () => {
    const threads = watchThreads();
    await writeCountingModel(join(folder, 'models/counting'));
    const reranker = await open({}, { idleMs: 100 });
    expect(threads).toHaveLength(0);
    expect(await reranker.rerank('oil', ['oil'], {})).toEqual(close([scoreOf(1)]));
    expect(threads).toHaveLength(1);
    await until('the thread has ended', async () => hasEnded(threads[0]!));
    // That it is well is known: a probe of readiness loads nothing.
    await models!.registry.check('reranker', 'default');
    expect(threads).toHaveLength(1);
    expect(await reranker.rerank('oil', ['oil'], {})).toEqual(close([scoreOf(1)]));
    expect(threads).toHaveLength(2);
  });

  test('may break down: the call is made again in another one', async () => {
    const threads = watchThreads();
    const reranker = await openCounting({ steps: 20_000 }, LONG);
    await models!.registry.check('reranker', 'default');
    const asked = reranker.rerank(
      'oil',
      ['oil', ...Array.from({ length: 10 }, () => 'water '.repeat(400))],
      {},
    );
    await threads[0]!.terminate();
    expect((await asked)[0]).toBeCloseTo(scoreOf(1), 5);
    expect(threads).toHaveLength(2);
  });

  test('that breaks down every time fails the call and says so', async () => {
    const reranker = await openCounting();
    const threads = watchThreads((worker) => void worker.terminate());
    await expect(reranker.rerank('oil', ['oil'], {})).rejects.toMatchObject({
      code: 'INFERENCE_ERROR',
      message: expect.stringMatching(
        /^Model endpoint 'default': the thread of the model 'counting' ended \(exit \d\)$/,
      ),
    });
    expect(threads).toHaveLength(3);
  });

  test('ends with the service', async () => {
    const threads = watchThreads();
    const reranker = await openCounting();
    await reranker.rerank('oil', ['oil'], {});
    await models!.close();
    expect(hasEnded(threads[0]!)).toBe(true);
    await expect(reranker.rerank('oil', ['oil'], {})).rejects.toThrow('being stopped');
  });
});
