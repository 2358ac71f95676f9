import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createVectorStoreMigration } from '../../../activities/migrations/vector-store.js';
import type {
  ChunkIndexes,
  Migration,
  MigrationSlice,
  SliceControl,
} from '../../../activities/ports/migrations.js';
import type { ChunkStore } from '../../../activities/ports/chunks.js';
import { createChunkIndexes } from '../../../activities/stores/opensearch/chunk-indexes.js';
import { createOpenSearchChunkStore } from '../../../activities/stores/opensearch/chunk-store.js';
import { chunkMapping, indexSettings, vectorMapping } from '../../../activities/stores/opensearch/mapping.js';
import { AppError } from '../../../schemas/app-error.js';
import { chunkId } from '../../../schemas/documents/chunk-id.js';
import { AccessProblem } from '../../../schemas/engine-access.js';
import type { MigrationMode, MigrationPosition } from '../../../schemas/migrations/migrations.js';
import { BUILTIN_ENDPOINTS } from '../../../activities/models/builtin/builtin-endpoints.js';
import { createFakeModelEndpointStore } from '../../support/fakes/models/fake-model-endpoint-store.js';
import { createFakeFileStore } from '../../support/fakes/documents/fake-file-store.js';
import { createFakePartitionStore } from '../../support/fakes/documents/fake-partition-store.js';
import {
  openEngine,
  schemaTwoChunk,
  vectorOfChunk,
  writeSchemaTwoIndex,
  SCHEMA_TWO_DIMENSION,
} from '../../support/schema-two-index.js';
import { until } from '../../support/until.js';
import { seededRandom } from '../../support/seeded-random.js';
import { collect, sampleChunk, sampleVersion } from '../samples.js';

const describeOnEngine = process.env['TAMIS_FAKES_ONLY'] === '1' ? describe.skip : describe;
const BUILTIN = BUILTIN_ENDPOINTS.find(({ model_type: type }) => type === 'embedder')!;
const EVERYTHING = { kind: 'all', userId: 1 } as const;

let engine: ReturnType<typeof openEngine>;
let prefix: string;
let name: string;
let indexes: ChunkIndexes;
let store: ChunkStore;
let partitions: ReturnType<typeof createFakePartitionStore>;
let files: ReturnType<typeof createFakeFileStore>;
let endpoints: ReturnType<typeof createFakeModelEndpointStore>;
let migration: Migration;

beforeEach(() => {
  engine = openEngine();
  prefix = `tamis-test-${randomBytes(6).toString('hex')}-`;
  name = `${prefix}chunks-v3`;
  indexes = createChunkIndexes(engine.client, { indexPrefix: prefix });
  store = createOpenSearchChunkStore(engine.client, { indexPrefix: prefix });
  partitions = createFakePartitionStore();
  files = createFakeFileStore();
  endpoints = createFakeModelEndpointStore();
  migration = createVectorStoreMigration(indexes, { partitions, endpoints, files });
});
afterEach(async () => {
  await engine.client.request('DELETE', `/${prefix}*`);
  await engine.close();
});

function addEmbedder(embedder: string, field: string, dimension: number | null = SCHEMA_TWO_DIMENSION) {
  return endpoints.save({ ...BUILTIN, name: embedder, vector_field: field, dimension });
}

function control(overrides: Partial<SliceControl> = {}): SliceControl {
  return {
    signal: new AbortController().signal,
    isOver: () => true,
    pace: async () => {},
    reached: () => {},
    ...overrides,
  };
}

/** Slice after slice to the end; `between` runs before each. */
async function run(
  mode: MigrationMode = 'run',
  between: (position: MigrationPosition | null) => Promise<void> | void = () => {},
): Promise<MigrationSlice> {
  let slice: MigrationSlice | null = null;
  while (slice?.ended !== true) {
    await between(slice?.position ?? null);
    slice = await migration.slice(mode, slice?.position ?? null, control());
  }
  return slice;
}

async function rawSources(index: string): Promise<Map<string, Record<string, unknown>>> {
  const answer = await engine.client.request<{
    hits: { hits: { _id: string; _source: Record<string, unknown> }[] };
  }>('POST', `/${index}/_search`, { body: { size: 10_000 } });
  return new Map(answer.hits.hits.map(({ _id, _source }) => [_id, _source]));
}

async function indexNames(): Promise<[string, boolean][]> {
  return (await indexes.list()).map(({ index, live }) => [index.slice(prefix.length), live]);
}

describeOnEngine('vector-store: schema 2 → 3', () => {
  const CHUNKS = 1_250;
  const given = { chunks: CHUNKS, partitions: ['letters', 'laws', 'unknown'], chunksPerFile: 7 };

  beforeEach(async () => {
    await writeSchemaTwoIndex(engine.client, name, given);
    await addEmbedder('first', 'vector_first');
    await addEmbedder('second', 'vector_second');
    await partitions.create({ partition: 'letters', embedder: 'first', ownerId: 1 });
    await partitions.create({ partition: 'laws', embedder: 'second', ownerId: 1 });
  });

  test('each vector goes to the field of its partition, the traps are counted, searches are back at once', async () => {
    const search = () =>
      store.searchHybrid({
        scope: EVERYTHING,
        partitions: ['letters'],
        text: 'mill',
        vector: vectorOfChunk(3),
        vectorField: 'vector_first',
        size: 5,
      });
    await expect(store.ensureSchema([])).rejects.toMatchObject({ code: 'VDB_SCHEMA_MIGRATION_REQUIRED' });
    await expect(search()).rejects.toMatchObject({ code: 'VDB_SCHEMA_MIGRATION_REQUIRED' });
    expect(await migration.pending()).toEqual({
      what: expect.stringContaining('schema 2'),
      amount: CHUNKS,
      dark: ['searches', 'uploads'],
      obstacle: null,
    });

    const numbers = Array.from({ length: CHUNKS }, (_, number) => number);
    const partitionOf = (number: number) => schemaTwoChunk(number, given).partition;
    const traps = {
      chunks_of_unknown_partitions: numbers.filter((number) => partitionOf(number) === 'unknown').length,
      chunks_without_vector: 0,
      chunks_with_folded_section_ids: numbers.filter((number) => number % 100 === 0).length,
      chunks_with_integers_beyond_64_bits: numbers.filter((number) => number % 1_000 === 0).length,
    };
    const dry = await run('dry_run');
    expect(dry.figures).toEqual({ chunks: CHUNKS, ...traps });
    expect(await indexNames()).toEqual([['chunks-v3', true]]);

    const { figures, done, total } = await run();
    expect([done, total]).toEqual([CHUNKS, CHUNKS]);
    expect(figures).toMatchObject({ ...traps, chunks_verified: CHUNKS });
    expect(await indexNames()).toEqual([
      ['chunks-v3', false],
      ['chunks-v3-2', true],
    ]);
    expect((await search()).dense).toHaveLength(5);
    expect(await migration.pending()).toBeNull();

    const sources = await rawSources(`${prefix}chunks`);
    expect(sources.size).toBe(CHUNKS);
    for (const number of numbers) {
      const chunk = schemaTwoChunk(number, given);
      const source = sources.get(chunkId(chunk.file_key, chunk.generation, chunk.position))!;
      const vectors = Object.entries(source).filter(([field]) => field.startsWith('vector'));
      const field = { letters: 'vector_first', laws: 'vector_second', unknown: null }[chunk.partition];
      expect(vectors).toEqual(field == null ? [] : [[field, vectorOfChunk(number)]]);
      expect(source['section_id']).toBe(number % 100 === 0 ? number : chunk.position);
    }
    // As text: a number of JavaScript would hide that it was rounded.
    const raw = await fetch(`${process.env['OPENSEARCH_URL']}/${prefix}chunks/_search?size=5&q=position:1`);
    expect(await raw.text()).toContain('"integer":9007199254740993');
  }, 60_000);

  test('a verification finds what is lost, changed or without a vector, and nothing where all is well', async () => {
    await run();
    const version = (generation: number) => ({
      fileKey: `file-${generation - 1}`,
      generation,
      taskId: `task-${generation}`,
    });
    // File numbers go round the partitions: 0 and 3 are of `letters`, 1 of `laws`.
    for (const generation of [1, 2, 4]) {
      const { fileKey, taskId } = version(generation);
      const partition = generation === 2 ? 'laws' : 'letters';
      await files.admitFirst({
        ...version(generation),
        partition,
        partitionKey: partition,
        fileId: fileKey,
        userId: 1,
      });
      const live = {
        task_id: taskId,
        generation,
        chunk_count: given.chunksPerFile,
        embedder: partition === 'laws' ? 'second' : 'first',
      };
      await files.publish(fileKey, taskId, sampleVersion(live));
    }
    const all = {
      chunks: CHUNKS,
      partitions: 2,
      partitions_being_swapped: 0,
      chunks_without_vector: 0,
      files_compared: 3,
      chunks_missing: 0,
      vectors_differing: 0,
    };
    const good = await run('verify');
    expect(good).toMatchObject({ done: CHUNKS, total: CHUNKS, figures: all });
    expect(good.figures['vectors_compared']).toBeGreaterThan(600);
    expect(await indexNames()).toEqual([
      ['chunks-v3', false],
      ['chunks-v3-2', true],
    ]);

    const damage = (fileKey: string, generation: number, script: string) =>
      engine.client.request('POST', `/${prefix}chunks/_update_by_query`, {
        body: {
          query: { bool: { filter: [{ term: { file_key: fileKey } }, { term: { generation } }] } },
          script: { lang: 'painless', source: script },
        },
        query: { refresh: true },
      });
    await damage('file-0', 1, "ctx._source.remove('vector_first')");
    await damage('file-1', 2, 'ctx._source.vector_second = [9, 9, 9, 9]');
    await store.deleteFile('file-3');
    const seen: MigrationSlice[] = [];
    await expect(
      (async () => {
        for (let position: MigrationPosition | null = null; ;) {
          const slice: MigrationSlice = await migration.slice('verify', position, control());
          seen.push(slice);
          ({ position } = slice);
        }
      })(),
    ).rejects.toMatchObject({
      code: 'MIGRATION_NOT_VERIFIED',
      message: expect.stringMatching(
        /7 chunks of the partition letters have no vector of first.*1 files .* letters\/file-3 \(0 of 7\).*another vector/s,
      ),
    });
    // The figures are recorded before the run fails.
    expect(seen.at(-1)!.figures).toMatchObject({ chunks_without_vector: 7, chunks_missing: 7 });
    expect(seen.at(-1)!.figures['vectors_differing']).toBeGreaterThan(0);
    await migration.abandon('verify', seen.at(-1)!.position);
    expect(await indexNames()).toHaveLength(2);
  }, 60_000);

  test('a verification of an index of another shape fails', async () => {
    await expect(run('verify')).rejects.toMatchObject({ code: 'MIGRATION_NOT_VERIFIED' });
  });

  test('says what stands in its way, and runs once it is gone', async () => {
    await partitions.create({ partition: 'notes', embedder: 'gone', ownerId: 1 });
    const obstacle = expect.stringContaining('The partition notes uses the embedder gone');
    expect(await migration.pending()).toMatchObject({ obstacle });
    await expect(run()).rejects.toMatchObject({ code: 'MIGRATION_NOT_POSSIBLE', message: obstacle });
    await addEmbedder('gone', 'vector_gone', 9);
    expect(await migration.pending()).toMatchObject({
      obstacle: expect.stringContaining('gives vectors of 9 numbers'),
    });
    await addEmbedder('gone', 'vector_gone', null);
    expect((await run()).figures['chunks_verified']).toBe(CHUNKS);
  }, 60_000);

  test('a run that is given up leaves the index as it was', async () => {
    await expect(store.ensureSchema([])).rejects.toMatchObject({ code: 'VDB_SCHEMA_MIGRATION_REQUIRED' });
    let slice: MigrationSlice | null = null;
    while (slice?.position.phase !== 'switching')
      slice = await migration.slice('run', slice?.position ?? null, control());
    expect(slice.cancellable).toBe(false);
    await indexes.blockWrites(name, true);
    const turnedAway: unknown = await store.deleteFile('file-0').catch((error: unknown) => error);
    expect(turnedAway).toMatchObject({ code: 'VDB_CONNECTION_ERROR' });
    expect((turnedAway as AppError).cause).not.toBeInstanceOf(AccessProblem);
    await migration.abandon('run', slice.position);
    await migration.abandon('run', slice.position);
    expect(await indexNames()).toEqual([['chunks-v3', true]]);
    expect(await migration.pending()).toMatchObject({ amount: CHUNKS });
    expect(await store.deleteFile('file-0')).toBe(given.chunksPerFile);
  }, 60_000);

  test('a run that is given up while it copies leaves no copy at work, and no index', async () => {
    const { position } = await migration.slice('run', null, control());
    const { source, target } = position as unknown as { source: string; target: string };
    const copies = async (): Promise<number> => {
      const { nodes = {} } = await engine.client.request<{
        nodes?: Record<string, { tasks: Record<string, { description?: string }> }>;
      }>('GET', '/_tasks', { query: { actions: '*reindex', detailed: true } });
      const tasks = Object.values(nodes).flatMap((node) => Object.values(node.tasks));
      return tasks.filter(({ description }) => description?.includes(target) === true).length;
    };
    const leaving = new AbortController();
    let ended = false;
    const copying = indexes
      .copy({ source, target, after: [], size: CHUNKS }, { fields: {}, signal: leaving.signal })
      .catch(() => undefined)
      .finally(() => (ended = true));
    await until('a copy is at work, or was', async () => ended || (await copies()) > 0, { everyMs: 5 });
    leaving.abort();
    await copying;
    await migration.abandon('run', position);
    expect(await copies()).toBe(0);
    expect(await indexNames()).toEqual([['chunks-v3', true]]);
    // As the engine makes one for a copy whose target is gone.
    await engine.client.request('PUT', `/${target}`, { body: {} });
    await run();
    expect((await indexNames()).map(([index]) => index)).toEqual(['chunks-v3', 'chunks-v3-3']);
  }, 60_000);

  test('a block that a run left which was ended from outside is gone once another begins', async () => {
    await expect(store.ensureSchema([])).rejects.toMatchObject({ code: 'VDB_SCHEMA_MIGRATION_REQUIRED' });
    await indexes.blockWrites(name, true);
    await expect(store.deleteFile('file-0')).rejects.toMatchObject({ code: 'VDB_CONNECTION_ERROR' });
    await migration.slice('run', null, control());
    expect(await store.deleteFile('file-0')).toBe(given.chunksPerFile);
  }, 60_000);

  test('has no way back: this release cannot write the old index', async () => {
    await run();
    await expect(run('rollback')).rejects.toMatchObject({ code: 'MIGRATION_NOT_POSSIBLE' });
    await expect(indexes.drop(`${name}-2`)).rejects.toMatchObject({ code: 'MIGRATION_NOT_POSSIBLE' });
    for (const none of ['other', `${name}-*`, `${name}-9*,${name}-2`, `${name}-*,*`])
      await expect(indexes.drop(none)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await indexes.drop(name);
    await expect(indexes.drop(name)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await indexNames()).toEqual([['chunks-v3-2', true]]);
  }, 60_000);
});

describeOnEngine('vector-store: a step of the present schema', () => {
  const FIELD = 'vector_small';
  const PARTITIONS = ['p', 'q', 'r', 's'];

  beforeEach(async () => {
    const { similarity: _ours, ...settings } = indexSettings;
    const integer = { type: 'integer' };
    await engine.client.request('PUT', `/${name}`, {
      body: {
        settings,
        mappings: {
          ...chunkMapping,
          _meta: { schema_version: 3 },
          properties: {
            ...chunkMapping.properties,
            section_id: integer,
            prev_section_id: integer,
            next_section_id: integer,
            [FIELD]: vectorMapping(3),
          },
        },
      },
    });
    await store.ensureSchema([{ vectorField: FIELD, dimension: 3 }]);
  });

  /** Files that come, are replaced, annotated and deleted at random; what must be there afterwards. */
  const createWriters = (seed: number) => {
    const random = seededRandom(seed);
    const files = new Map<
      string,
      { partition: string; generation: number; chunks: number; marked: boolean }
    >();
    const somewhere = (): string => PARTITIONS[Math.floor(random() * PARTITIONS.length)]!;
    let generation = 0;
    /** As an activity does: an engine that is away, or switching, is asked again. */
    const persist = async <T>(work: () => Promise<T>): Promise<T> => {
      for (;;)
        try {
          return await work();
        } catch (error) {
          if (!(error instanceof AppError && error.retryable)) throw error;
        }
    };
    const write = async (fileKey: string): Promise<void> => {
      const chunks = 1 + Math.floor(random() * 6);
      const mine = (generation += 1);
      const partition = somewhere();
      const parts = Array.from({ length: chunks }, (_, position) =>
        sampleChunk({
          partition,
          file_key: fileKey,
          generation: mine,
          position,
          published: false,
          text: `text ${position} of ${fileKey}`,
        }),
      );
      await persist(() =>
        store.put(
          parts.map((chunk) => ({ chunk, vector: [1, chunk.position, mine] })),
          FIELD,
        ),
      );
      await persist(() => store.publish({ partition, fileKey, generation: mine }, chunks));
      await persist(() => store.deleteGenerations(fileKey, { keep: [mine], upTo: mine }));
      files.set(fileKey, { partition, generation: mine, chunks, marked: false });
    };
    const step = async (): Promise<void> => {
      const fileKey = `file-${Math.floor(random() * 30)}`;
      const present = files.get(fileKey);
      const chance = random();
      if (present === undefined || chance < 0.5) return write(fileKey);
      if (chance < 0.75) {
        await persist(() => store.deleteFile(fileKey));
        files.delete(fileKey);
        return undefined;
      }
      const partition = somewhere();
      const words = {
        partition,
        relationship_id: 'marked',
        parent_id: null,
        metadata: [{ key: 'k', text: 'v' }],
      };
      await persist(() => store.annotate(fileKey, present.generation, present.chunks, words));
      files.set(fileKey, { ...present, partition, marked: true });
    };
    return { files, step };
  };

  const expectExactly = async (files: ReturnType<typeof createWriters>['files']): Promise<void> => {
    const counted = await collect(store.scanGenerations());
    expect(new Set(counted.map(({ fileKey, generation: at }) => `${fileKey}/${at}`))).toEqual(
      new Set([...files].map(([fileKey, { generation: at }]) => `${fileKey}/${at}`)),
    );
    for (const { fileKey, chunks, published } of counted)
      expect([fileKey, chunks, published]).toEqual([fileKey, files.get(fileKey)!.chunks, chunks]);
    for (const partition of PARTITIONS) {
      const own = [...files.values()].filter((file) => file.partition === partition);
      const chunks = own.reduce((sum, file) => sum + file.chunks, 0);
      expect([partition, await store.countChunks(EVERYTHING, partition)]).toEqual([
        partition,
        { chunks, published: chunks },
      ]);
    }
    for (const [fileKey, { partition, generation, marked }] of files) {
      const listed = await store.listWithVectors(fileKey, generation, {
        vectorField: FIELD,
        from: 0,
        limit: 10,
      });
      for (const { chunk, vector } of listed) {
        expect(vector?.map((value) => Math.round(value / vector[0]!))).toEqual([
          1,
          chunk.position,
          generation,
        ]);
        expect(chunk.partition).toBe(partition);
        expect(chunk.relationship_id).toBe(marked ? 'marked' : sampleChunk({}).relationship_id);
      }
    }
  };

  test.each([1, 2])(
    'what is written meanwhile arrives, and nothing else is left (%i)',
    async (seed) => {
      const writers = createWriters(seed);
      for (let count = 0; count < 12; count += 1) await writers.step();
      expect(await migration.pending()).toMatchObject({
        what: expect.stringContaining('step 1'),
        dark: [],
        obstacle: null,
      });
      let writing = true;
      let failed: unknown = null;
      const write = (async () => {
        while (writing) await writers.step();
      })().catch((error: unknown) => (failed = error));
      const { figures } = await run('run', async () => {
        await expect(
          store.searchHybrid({
            scope: EVERYTHING,
            partitions: ['p'],
            text: 'text',
            vector: [1, 0, 0],
            vectorField: FIELD,
            size: 5,
          }),
        ).resolves.toBeDefined();
      });
      for (let count = 0; count < 20; count += 1) await store.countChunks(EVERYTHING, 'p');
      writing = false;
      await write;
      expect(failed).toBeNull();
      expect(figures['chunks_verified']).toBeGreaterThan(0);
      expect((await indexes.list()).find(({ live }) => live)).toMatchObject({ step: 2 });
      await expectExactly(writers.files);

      // And back, with what was written since.
      for (let count = 0; count < 6; count += 1) await writers.step();
      await run('rollback');
      expect((await indexes.list()).find(({ live }) => live)).toMatchObject({ step: 1 });
      await expectExactly(writers.files);
      await writers.step();
      await expectExactly(writers.files);
      // And once more, now that the name is an alias.
      await run();
      expect((await indexes.list()).find(({ live }) => live)).toMatchObject({ step: 2 });
      await expectExactly(writers.files);
    },
    120_000,
  );

  test.each([
    [3, 5],
    [4, 1],
  ])(
    'an index of %i shards becomes one of %i while it is written, and goes back',
    async (before, after) => {
      const writers = createWriters(before);
      for (let count = 0; count < 20; count += 1) await writers.step();
      const ask = (shards: number): void => {
        indexes = createChunkIndexes(engine.client, { indexPrefix: prefix, shards });
        migration = createVectorStoreMigration(indexes, { partitions, endpoints, files });
      };
      const live = async () => (await indexes.list()).find((one) => one.live);
      ask(before);
      await run();
      expect(await live()).toMatchObject({ shards: before });
      await expectExactly(writers.files);
      expect(await migration.pending()).toBeNull();

      ask(after);
      expect(await migration.pending()).toMatchObject({
        what: `The index has ${before} shards; OPENSEARCH_INDEX_SHARDS asks for ${after}.`,
      });
      for (const mode of ['run', 'rollback'] as const) {
        let writing = true;
        let failed: unknown = null;
        const write = (async () => {
          while (writing) await writers.step();
        })().catch((error: unknown) => (failed = error));
        await run(mode);
        writing = false;
        await write;
        expect(failed).toBeNull();
        expect(await live()).toMatchObject({ shards: mode === 'run' ? after : before });
        await writers.step();
        await expectExactly(writers.files);
      }
    },
    120_000,
  );

  test.each(['copying', 'comparing'])(
    'an embedder that comes while it is %s is not lost',
    async (phase) => {
      const writers = createWriters(3);
      for (let count = 0; count < 5; count += 1) await writers.step();
      await run('run', async (position) => {
        if (position?.phase !== phase) return;
        await store.ensureSchema([{ vectorField: 'vector_new', dimension: 2 }]);
        const chunk = sampleChunk({ partition: 'p', file_key: 'late', position: 0 });
        await store.put([{ chunk, vector: [0, 1] }], 'vector_new');
        writers.files.set('late', { partition: 'p', generation: chunk.generation, chunks: 1, marked: false });
      });
      const ids = [chunkId('late', sampleChunk({}).generation, 0)];
      expect([...(await store.getVectors(ids, 'vector_new')).values()]).toEqual([[0, 1]]);
      const live = (await indexes.list()).find((one) => one.live)!;
      const fields = await indexes.vectorFields(live.index);
      expect(Object.fromEntries(fields.map(({ vectorField, unit }) => [vectorField, unit]))).toEqual({
        [FIELD]: false,
        vector_new: true,
      });
    },
    60_000,
  );

  test('a field that the target lacks is added to it, as for a rollback to an index of before it came', async () => {
    const target = `${name}-9`;
    const { context: _later, ...properties } = chunkMapping.properties;
    await engine.client.request('PUT', `/${target}`, {
      body: { settings: indexSettings, mappings: { ...chunkMapping, properties } },
    });
    const chunk = sampleChunk({ partition: 'p', position: 0 });
    await store.put([{ chunk, vector: [0, 1, 0], context: 'said of it' }], FIELD);
    const { signal } = new AbortController();
    expect((await indexes.copy({ source: name, target, after: -1, size: 100 }, { signal })).copied).toBe(1);
    await engine.client.request('POST', `/${target}/_refresh`);
    const [copy] = (await rawSources(target)).values();
    expect(copy).toMatchObject({ context: 'said of it', [FIELD]: [0, 1, 0] });
  });

  test('pages are small while the source is searched, and the index that is built is refreshed by nobody', async () => {
    const chunks = Array.from({ length: 4_400 }, (_, position) =>
      sampleChunk({ partition: 'p', file_key: 'long', position, text: `text ${position}` }),
    );
    await store.put(
      chunks.map((chunk) => ({ chunk, vector: [1, chunk.position, 1] })),
      FIELD,
    );
    const search = () =>
      store.searchHybrid({
        scope: EVERYTHING,
        partitions: ['p'],
        text: 'text',
        vector: [1, 0, 0],
        vectorField: FIELD,
        size: 5,
      });
    const refreshInterval = async (index: string) => {
      const path = `/${index}/_settings/index.refresh_interval`;
      const found = await engine.client.request<Record<string, { settings: { index: object } }>>('GET', path);
      return Object.values(found)[0]!.settings.index;
    };
    const sizesOf = async (beforePage: () => Promise<unknown>): Promise<number[]> => {
      const sizes: number[] = [];
      const watched: ChunkIndexes = {
        ...indexes,
        async copy(page, options) {
          sizes.push(page.size);
          expect(await refreshInterval(page.target)).toEqual({ refresh_interval: '-1' });
          await beforePage();
          return indexes.copy(page, options);
        },
      };
      migration = createVectorStoreMigration(watched, { partitions, endpoints, files });
      await run();
      return sizes;
    };
    const quiet = await sizesOf(async () => undefined);
    expect(new Set(quiet)).toEqual(new Set([2_000]));
    const { index: live } = (await indexes.list()).find((one) => one.live)!;
    expect(await refreshInterval(live)).toEqual({ refresh_interval: '250ms' });
    await indexes.drop(name);
    // A page tells of the searches before it, so that the third is the first to know.
    await engine.client.request('PUT', `/${live}/_mapping`, {
      body: { _meta: { schema_version: 3, step: 1 } },
    });
    const searched = await sizesOf(search);
    expect(searched.slice(0, 4)).toEqual([2_000, 2_000, 100, 100]);
    expect(await store.countChunks(EVERYTHING, 'p')).toMatchObject({ chunks: 4_400 });
  }, 120_000);

  test('any slice may be repeated, as after a crash', async () => {
    const writers = createWriters(7);
    for (let count = 0; count < 15; count += 1) await writers.step();
    let position: MigrationPosition | null = null;
    for (let ended = false; !ended;) {
      const first: MigrationSlice = await migration.slice('run', position, control());
      // The worker died before it could tell; only the start makes a new index, in place of the first.
      const again: MigrationSlice =
        position === null ? first : await migration.slice('run', position, control());
      ({ position, ended } = again);
      await writers.step();
    }
    await expectExactly(writers.files);
  }, 60_000);
});
