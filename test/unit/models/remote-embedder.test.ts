import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Embedder } from '../../../activities/ports/models.js';
import { modelEnvironment, openModels } from '../../support/model-server/open-models.js';
import type { OpenedModels } from '../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import type { ScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import { scriptedVector } from '../../support/model-server/scripted-vector.js';
import { until } from '../../support/until.js';

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `text number ${index}`);
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}

describe.each(['ollama', 'openai'] as const)('an embedder behind the %s dialect', (provider) => {
  let server: ScriptedModelServer;
  let opened: OpenedModels;
  let embedder: Embedder;
  const defaults = { windowWords: 400, maxBatch: 1000, apiKey: null, vector: scriptedVector };

  /** A fresh one, so that no breaker or batch size of another test plays a part. */
  const open = async (environment: Record<string, string> = {}): Promise<Embedder> => {
    Object.assign(server.models, defaults);
    server.reset();
    await opened?.close();
    opened = await openModels({ ...modelEnvironment(server, provider), ...environment });
    embedder = await opened.registry.embedder('default');
    server.reset();
    return embedder;
  };
  const sizes = (): number[] => server.asked('embed').map(({ body }) => [body['input']].flat().length);

  beforeAll(async () => {
    server = await startScriptedModelServer();
  });
  afterEach(() => server.reset());
  afterAll(async () => {
    await opened.close();
    await server.close();
  });

  test('sends batches of the configured size, in parallel, and answers in order', async () => {
    await open({ EMBEDDER_BATCH_SIZE: '8', EMBEDDER_CONCURRENCY: '3' });
    const vectors = await embedder.embed(texts(50), { kind: 'document' });
    expect(sizes().sort((a, b) => b - a)).toEqual([8, 8, 8, 8, 8, 8, 2]);
    const [alone = []] = await embedder.embed(['text number 37'], { kind: 'document' });
    expect(dot(alone, vectors[37]!)).toBeCloseTo(1, 9);
  });

  test('halves a batch that is refused, and comes back to the full size later', async () => {
    await open({ EMBEDDER_BATCH_SIZE: '16', EMBEDDER_CONCURRENCY: '1' });
    server.models.maxBatch = 5;
    expect(await embedder.embed(texts(20), { kind: 'document' })).toHaveLength(20);
    expect(sizes().slice(0, 3)).toEqual([16, 8, 4]);
    expect(
      sizes()
        .filter((size) => size <= 5)
        .reduce((a, b) => a + b),
    ).toBe(20);
    server.models.maxBatch = 1000;
    await embedder.embed(texts(400), { kind: 'document' });
    expect(sizes().at(-2)).toBe(16);
  });

  test('a text that is too long is split, and its neighbours stay in one batch size', async () => {
    await open({ EMBEDDER_BATCH_SIZE: '8', EMBEDDER_CONCURRENCY: '1' });
    server.models.windowWords = 10;
    const long = Array.from({ length: 25 }, (_, index) => `w${index}`).join(' ');
    const vectors = await embedder.embed([...texts(7), long, ...texts(8)], { kind: 'document' });
    expect(vectors).toHaveLength(16);
    expect(dot(vectors[7]!, vectors[7]!)).toBeCloseTo(1, 9);
    const said = server.asked('embed').flatMap(({ body }) => body['input'] as string[]);
    for (let index = 0; index < 25; index += 1)
      expect(
        said.some((text) => text.split(/\s+/).length <= 10 && text.split(/\s+/).includes(`w${index}`)),
      ).toBe(true);
    expect(sizes().at(-1)).toBe(8);
  });

  test('a text that is refused in every size is an error that no repetition cures', async () => {
    await open();
    server.always('embed', { kind: 'status', status: 400, body: '{"error":"no embeddings here"}' });
    await expect(embedder.embed(['some words '.repeat(40)], { kind: 'document' })).rejects.toMatchObject({
      code: 'EMBEDDING_RESPONSE_ERROR',
      retryable: false,
      message: expect.stringContaining('no embeddings here'),
    });
    expect(sizes().length).toBeLessThan(12);
  });

  describe('a text of which the model makes NaN', () => {
    const odd = 'The pump stands in the hall. The valve stands beside it.';
    const spoils = 'hall. The valve';
    const json = '{"error":"failed to encode response: json: unsupported value: NaN"}';

    test.each(['is answered with 500', 'has no numbers in its vector'])('%s: it is split', async (way) => {
      await open({ EMBEDDER_BATCH_SIZE: '4', EMBEDDER_CONCURRENCY: '1' });
      if (way.includes('500')) server.always('embed', { kind: 'status', status: 500, body: json }, spoils);
      else
        server.models.vector = (text, dimension) =>
          text.includes(spoils)
            ? new Array<number>(dimension).fill(Number.NaN)
            : scriptedVector(text, dimension);
      // More often than the breaker bears failures.
      for (let round = 0; round < 6; round += 1) {
        const vectors = await embedder.embed(['One.', odd, 'Two.'], { kind: 'document' });
        expect(vectors.map((vector) => Math.hypot(...vector).toFixed(6))).toEqual(Array(3).fill('1.000000'));
      }
    });

    test('is refused for itself where its parts are as well, and others are embedded', async () => {
      await open();
      server.always('embed', { kind: 'status', status: 500, body: json }, 'pump');
      for (let round = 0; round < 6; round += 1)
        await expect(embedder.embed(['A pump.'], { kind: 'query' })).rejects.toMatchObject({
          code: 'EMBEDDING_RESPONSE_ERROR',
          retryable: false,
        });
      expect(sizes()).toHaveLength(6);
      expect(await embedder.embed(['A valve.'], { kind: 'query' })).toHaveLength(1);
    });
  });

  test('zeros are an error where the model answers them to every text, and else those of unknown words', async () => {
    await open();
    const zeros = (dimension: number) => new Array<number>(dimension).fill(0);
    server.models.vector = (text, dimension) =>
      /\p{sc=Han}/u.test(text) ? zeros(dimension) : scriptedVector(text, dimension);
    expect(await embedder.embed(['水泵'], { kind: 'document' })).toEqual([zeros(48)]);
    server.models.vector = (_text, dimension) => zeros(dimension);
    await expect(embedder.embed(['A pump.', 'A valve.'], { kind: 'document' })).rejects.toMatchObject({
      code: 'EMBEDDING_RESPONSE_ERROR',
      message: expect.stringContaining('zeros'),
    });
    expect(await embedder.embed(['— —'], { kind: 'query' })).toEqual([zeros(48)]);
  });

  test('sends nothing for texts with nothing in them', async () => {
    await open();
    const vectors = await embedder.embed(['', '  \n'], { kind: 'query' });
    expect(vectors).toEqual([new Array(48).fill(0), new Array(48).fill(0)]);
    expect(sizes()).toEqual([]);
  });

  test.each([
    ['401', { kind: 'status', status: 401 }, 'INFERENCE_REFUSED', 502, false],
    ['403', { kind: 'status', status: 403 }, 'INFERENCE_REFUSED', 502, false],
    ['404', { kind: 'status', status: 404 }, 'EMBEDDING_API_ERROR', 503, true],
    [
      '429',
      { kind: 'status', status: 429, headers: { 'retry-after': '60' } },
      'EMBEDDING_API_ERROR',
      503,
      true,
    ],
    ['500', { kind: 'status', status: 500 }, 'EMBEDDING_API_ERROR', 503, true],
    ['a redirect', { kind: 'status', status: 302 }, 'EMBEDDING_RESPONSE_ERROR', 422, false],
    ['a page of HTML', { kind: 'html' }, 'EMBEDDING_RESPONSE_ERROR', 422, false],
    ['broken JSON', { kind: 'broken-json' }, 'EMBEDDING_RESPONSE_ERROR', 422, false],
    [
      'another JSON',
      { kind: 'status', status: 200, body: '{"a":1}' },
      'EMBEDDING_RESPONSE_ERROR',
      422,
      false,
    ],
    ['a cut connection', { kind: 'cut' }, 'EMBEDDING_API_ERROR', 503, true],
    ['another dimension', { kind: 'vectors', dimension: 47 }, 'EMBEDDING_RESPONSE_ERROR', 422, false],
    ['too few vectors', { kind: 'vectors', drop: 1 }, 'EMBEDDING_RESPONSE_ERROR', 422, false],
  ] as const)('%s has its row of the error table', async (_name, behaviour, code, status, retryable) => {
    await open();
    server.always('embed', behaviour);
    await expect(embedder.embed(['text'], { kind: 'document' })).rejects.toMatchObject({
      code,
      status,
      retryable,
      message: expect.stringContaining("'default'"),
    });
  });

  test('what passes by itself is not noticed', async () => {
    await open();
    server.next('embed', { kind: 'status', status: 503 }, { kind: 'cut' });
    expect(await embedder.embed(['text'], { kind: 'document' })).toHaveLength(1);
    expect(sizes()).toHaveLength(3);
  });

  test('a long Retry-After is passed on and not waited for', async () => {
    await open();
    server.always('embed', { kind: 'status', status: 429, headers: { 'retry-after': '60' } });
    await expect(embedder.embed(['text'], { kind: 'document' })).rejects.toMatchObject({
      retryAfterMs: 60_000,
    });
    expect(sizes()).toHaveLength(1);
  });

  test('a server that says nothing is given up, and smaller batches are tried', async () => {
    await open({ EMBEDDER_TIMEOUT: '1' });
    server.next('embed', { kind: 'silence' });
    expect(await embedder.embed(texts(4), { kind: 'document' })).toHaveLength(4);
    expect(sizes()).toEqual([4, 2, 2]);
    server.reset();
    server.always('embed', { kind: 'silence' });
    await expect(embedder.embed(['text'], { kind: 'document' })).rejects.toMatchObject({
      code: 'EMBEDDING_API_ERROR',
      status: 504,
      retryable: true,
    });
    await until('the server sees that nobody waits any more', async () =>
      server.asked('embed').every(({ aborted }) => aborted),
    );
  });

  test('an abort ends the request, and counts for nothing', async () => {
    await open();
    server.always('embed', { kind: 'silence' });
    for (let round = 0; round < 7; round += 1) {
      const controller = new AbortController();
      const refused = expect(
        embedder.embed(['text'], { kind: 'document', signal: controller.signal }),
      ).rejects.toThrow('enough');
      await until('the server was asked', async () => sizes().length > round);
      controller.abort(new Error('enough'));
      await refused;
    }
    await until('every request was dropped', async () =>
      server.asked('embed').every(({ aborted }) => aborted),
    );
    server.always('embed', null);
    expect(await embedder.embed(['text'], { kind: 'document' })).toHaveLength(1);
  });

  test('a server that fails again and again is left alone for a moment', async () => {
    await open();
    server.always('embed', { kind: 'status', status: 500 });
    for (let round = 0; round < 2; round += 1)
      await expect(embedder.embed(['text'], { kind: 'document' })).rejects.toMatchObject({ status: 503 });
    const asked = sizes().length;
    await expect(embedder.embed(['text'], { kind: 'document' })).rejects.toMatchObject({
      code: 'CIRCUIT_BREAKER_OPEN',
      status: 503,
      retryAfterMs: expect.any(Number),
    });
    expect(sizes()).toHaveLength(asked);
  });

  test('a key is sent, and never told', async () => {
    server.models.apiKey = null;
    const environment = {
      EMBEDDER_API_KEY: 'key-of-the-embedder',
      SECRETS_KEY: Buffer.from('a key of 32 bytes for the tests!').toString('base64'),
    };
    await open(environment);
    server.models.apiKey = 'key-of-the-embedder';
    expect(await embedder.embed(['text'], { kind: 'document' })).toHaveLength(1);
    server.models.apiKey = 'another';
    const refusal = await embedder.embed(['text'], { kind: 'document' }).catch((error: unknown) => error);
    expect(String(refusal)).not.toContain('key-of-the-embedder');
    expect(JSON.stringify(await opened.endpoints.list())).not.toContain('key-of-the-embedder');
  });
});

describe('what only Ollama needs', () => {
  test('WordPiece texts are normalised, documents and queries alike; nothing is truncated by the server', async () => {
    const server = await startScriptedModelServer();
    const models = await openModels(modelEnvironment(server));
    try {
      const embedder = await models.registry.embedder('default');
      expect(embedder.maxInputTokens).toBe(512);
      server.reset();
      await embedder.embed(['Zürich – “café”'], { kind: 'document' });
      await embedder.embed(['Zürich – “café”'], { kind: 'query' });
      for (const { body, dialect } of server.asked('embed')) {
        expect(dialect).toBe('ollama');
        expect(body).toMatchObject({
          input: ['Zurich - "cafe"'],
          truncate: false,
          options: { num_ctx: 512 },
        });
      }
      expect(server.asked('embed')).toHaveLength(2);
    } finally {
      await models.close();
      await server.close();
    }
  });

  test('a model with another tokeniser gets its texts as they are; a window is capped by MAX_MODEL_LEN', async () => {
    const server = await startScriptedModelServer({ tokenizer: 't5', contextTokens: 8192 });
    const models = await openModels({ ...modelEnvironment(server), MAX_MODEL_LEN: '1000' });
    try {
      const embedder = await models.registry.embedder('default');
      expect(embedder.maxInputTokens).toBe(1000);
      server.reset();
      await embedder.embed(['Zürich'], { kind: 'document' });
      expect(server.asked('embed')[0]?.body).toMatchObject({ input: ['Zürich'], options: { num_ctx: 1000 } });
    } finally {
      await models.close();
      await server.close();
    }
  });

  test('threads are said in every call, the first one too: another number would load the model anew', async () => {
    const server = await startScriptedModelServer();
    const models = await openModels({ ...modelEnvironment(server), EMBEDDER_NUM_THREAD: '3' });
    try {
      const embedder = await models.registry.embedder('default');
      await embedder.embed(['a pump'], { kind: 'document' });
      expect(server.asked('embed').map(({ body }) => body)).toMatchObject([
        { options: { num_ctx: 512, num_thread: 3 } },
        { input: ['a pump'], options: { num_ctx: 512, num_thread: 3 } },
      ]);
    } finally {
      await models.close();
      await server.close();
    }
  });

  test('also when Ollama is asked in the OpenAI format', async () => {
    const server = await startScriptedModelServer();
    const models = await openModels(modelEnvironment(server, 'openai'));
    try {
      const embedder = await models.registry.embedder('default');
      server.reset();
      await embedder.embed(['Zürich'], { kind: 'document' });
      expect(server.asked('embed')[0]).toMatchObject({ dialect: 'openai', body: { input: ['Zurich'] } });
    } finally {
      await models.close();
      await server.close();
    }
  });
});
