import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { SearchLegHit } from '../../../../activities/ports/chunks.js';
import type { Embedder } from '../../../../activities/ports/models.js';
import { createSearchService } from '../../../../activities/retrieval/search/search-service.js';
import type { SearchRequest } from '../../../../activities/retrieval/search/search-types.js';
import { inScope } from '../../../../schemas/documents/users.js';
import type { FileRecord, StoredChunk } from '../../../../schemas/documents/documents.js';
import type { PartitionRecord } from '../../../../schemas/documents/partitions.js';
import { makeChunk, makeFile, makePartition, makeVersion, scopeOf } from '../fixtures.js';

interface World {
  words?: () => Promise<SearchLegHit[]>;
  embedding?: () => Promise<void>;
  /** Best first, as the engine would rank them in both legs. */
  chunks: StoredChunk[];
  files: FileRecord[];
  partitions: PartitionRecord[];
  candidates?: number;
  /** Cosine by place in the ranking. */
  cosine?: (index: number) => number;
  /** Cosine by id when the question was moved towards the best hit; without it no feedback is wanted. */
  feedback?: (id: string) => number;
  /** Whether a chunk is deleted by the time that it is read. */
  gone?: (id: string) => boolean;
}

/** Expansion, workspaces and reranking are asked for through the API: see `test/api/`. */
function nobodyAsks(): never {
  throw new Error('not asked for');
}

function setUp(world: World) {
  const embedded: string[] = [];
  const asked: {
    partitions: readonly string[] | 'all';
    vectorField: string;
    size: number;
    withoutGenerations?: readonly number[];
  }[] = [];
  const embedder = (name: string): Embedder => ({
    endpointName: name,
    modelName: name === 'builtin-hash' ? 'builtin/hash-1024' : name,
    dimension: 1,
    vectorField: `vector_${name}`,
    batchSize: 1,
    maxInputTokens: null,
    embed: async (texts) => {
      await world.embedding?.();
      embedded.push(`${name}: ${texts.join('|')}`);
      return texts.map(() => [1]);
    },
  });
  const readable = (ids: readonly string[]) =>
    new Map(
      world.chunks
        .filter(({ chunk_id: id }) => ids.includes(id) && world.gone?.(id) !== true)
        .map((chunk) => [chunk.chunk_id, chunk]),
    );
  const service = createSearchService({
    chunks: {
      searchWords: world.words ?? (async () => []),
      searchHybrid: async ({ partitions, vectorField, size, fileKey, withoutGenerations, lexical }) => {
        await lexical;
        asked.push({ partitions, vectorField, size, ...(withoutGenerations && { withoutGenerations }) });
        const found = world.chunks.filter(
          (chunk) =>
            (partitions === 'all' || partitions.includes(chunk.partition)) &&
            (fileKey === undefined || chunk.file_key === fileKey) &&
            withoutGenerations?.includes(chunk.generation) !== true,
        );
        const leg = (score: (index: number) => number): SearchLegHit[] =>
          found.slice(0, size).map((chunk, index) => ({ chunk, score: score(index) }));
        return {
          lexical: leg((index) => 100 - index),
          dense: leg(world.cosine ?? ((index) => 0.9 - index / 1000)),
        };
      },
      getMany: async (ids) => readable(ids),
      getVectors: async (ids) => new Map(ids.map((id) => [id, [1]])),
      similarities: async (ids, { read = [] }) => ({
        cosines: new Map(ids.map((id) => [id, world.feedback?.(id) ?? 0])),
        chunks: readable(read),
      }),
      listByFile: nobodyAsks,
    },
    files: {
      getMany: async (keys) =>
        new Map(
          world.files.filter(({ file_key }) => keys.includes(file_key)).map((file) => [file.file_key, file]),
        ),
      get: nobodyAsks,
      listRelated: nobodyAsks,
      listWorkspaceKeys: nobodyAsks,
    },
    workspaces: { find: nobodyAsks },
    partitions: {
      list: async (scope) => world.partitions.filter(({ partition }) => inScope(scope, partition)),
    },
    models: { embedder: async (name) => embedder(name), reranker: nobodyAsks },
    settings: {
      candidates: world.candidates ?? 50,
      similarityThreshold: 0,
      rerankOnError: 'fail',
      feedback: world.feedback !== undefined,
    },
  });
  const search = async (over: Partial<SearchRequest> = {}) =>
    service.search({ scope: scopeOf('public'), partitions: 'all', text: 'pumps', topK: 5, ...over });
  return { search, embedded, asked };
}

function chunkOf(file: FileRecord, position: number, over: Partial<StoredChunk> = {}): StoredChunk {
  return makeChunk({
    chunk_id: `${file.file_key}-${over.generation ?? file.live?.generation}-${position}`,
    file_key: file.file_key,
    file_id: file.file_id,
    partition: file.partition,
    generation: file.live?.generation ?? 1,
    position,
    ...over,
  });
}

function named(key: string, over: Partial<FileRecord> = {}): FileRecord {
  return makeFile({ file_key: key, file_id: `id-of-${key}`, ...over });
}

function idsOf(results: readonly { chunk: Pick<StoredChunk, 'chunk_id'> }[]): string[] {
  return results.map(({ chunk }) => chunk.chunk_id);
}

describe('createSearchService', () => {
  test('answers hits with their file, version and raw scores, best first', async () => {
    const file = named('a');
    const { search } = setUp({
      chunks: [chunkOf(file, 0), chunkOf(file, 1), chunkOf(file, 2)],
      files: [file],
      partitions: [makePartition('public')],
    });
    const results = await search({ topK: 2 });
    expect(idsOf(results)).toEqual(['a-1-0', 'a-1-1']);
    expect(results[0]).toMatchObject({
      file,
      version: file.live,
      score: 1,
      vectorScore: 0.9,
      lexicalScore: 100,
    });
  });

  test('never answers what is replaced, unpublished, deleted, unknown or elsewhere', async () => {
    const good = named('good', { live: makeVersion({ generation: 4 }) });
    const unpublished = named('unpublished', { live: null, pending_task: 'task-9' });
    const deleted = named('deleted', { deleted_at: new Date() });
    const moved = named('moved', { partition: 'secret' });
    const { search } = setUp({
      chunks: [
        chunkOf(good, 0, { generation: 3, text: 'old' }),
        chunkOf(good, 0, { generation: 5, text: 'not yet' }),
        chunkOf(unpublished, 0),
        chunkOf(deleted, 0),
        chunkOf(moved, 0, { partition: 'public' }),
        chunkOf(named('nobody'), 0),
        chunkOf(good, 0),
      ],
      files: [good, unpublished, deleted, moved],
      partitions: [makePartition('public'), makePartition('secret')],
    });
    expect(idsOf(await search())).toEqual(['good-4-0']);
    expect(idsOf(await search({ partitions: ['public', 'secret'] }))).toEqual(['good-4-0']);
  });

  test('answers a file that was moved under its new name only', async () => {
    const moved = named('moved', { partition: 'new' });
    const { search } = setUp({
      chunks: [chunkOf(moved, 0, { partition: 'old' })],
      files: [moved],
      partitions: [makePartition('old'), makePartition('new')],
    });
    const scope = scopeOf('old', 'new');
    expect(idsOf(await search({ scope, partitions: ['old'] }))).toEqual([]);
    expect((await search({ scope })).map(({ file }) => file.partition)).toEqual(['new']);
  });

  test('asks again without the generations that it had to drop', async () => {
    const live = named('live', { live: makeVersion({ generation: 2 }) });
    // The replaced version, not cleaned up yet, and the next one, published a moment before its record says so.
    const around = [1, 3].flatMap((generation) =>
      Array.from({ length: 300 }, (_, position) => chunkOf(live, position, { generation })),
    );
    const { search, asked, embedded } = setUp({
      chunks: [...around, ...Array.from({ length: 9 }, (_, position) => chunkOf(live, position))],
      files: [live],
      partitions: [makePartition('public')],
      candidates: 10,
    });
    expect(idsOf(await search())).toEqual([0, 1, 2, 3, 4].map((position) => `live-2-${position}`));
    expect(asked.map(({ withoutGenerations }) => withoutGenerations)).toEqual([undefined, [1], [1, 3]]);
    expect(embedded).toHaveLength(1);
  });

  test('asks again for a file that is hidden by its own dead version, though others fill the page', async () => {
    const hidden = named('hidden', { live: makeVersion({ generation: 2 }) });
    const others = Array.from({ length: 9 }, (_, index) => named(`other-${index}`));
    const { search } = setUp({
      chunks: [
        chunkOf(hidden, 0, { generation: 3 }),
        chunkOf(hidden, 0),
        ...others.map((file) => chunkOf(file, 0)),
      ],
      files: [hidden, ...others],
      partitions: [makePartition('public')],
      candidates: 1,
    });
    expect(idsOf(await search({ topK: 1 }))).toEqual(['hidden-2-0']);
  });

  test('finds a version that went live between the answer and the record', async () => {
    const live = named('live', { live: makeVersion({ generation: 2 }) });
    let calls = 0;
    const { search, asked } = setUp({
      // The engine sees the new version from its second call on; the record has it by the end of the first.
      get chunks() {
        calls += 1;
        return calls === 1 ? [chunkOf(live, 0, { generation: 1 })] : [chunkOf(live, 0)];
      },
      files: [live],
      partitions: [makePartition('public')],
    });
    expect(idsOf(await search())).toEqual(['live-2-0']);
    expect(asked).toHaveLength(2);
  });

  test('searches again when what it found is deleted before it is read, and finds what took its place', async () => {
    const file = named('live', { live: makeVersion({ generation: 1 }) });
    const flipped = named('live', { live: makeVersion({ generation: 2 }) });
    let replaced = false;
    const { search, asked } = setUp({
      get chunks() {
        return [chunkOf(replaced ? flipped : file, 0)];
      },
      get files() {
        return [replaced ? flipped : file];
      },
      partitions: [makePartition('public')],
      gone: (id) => {
        replaced = true;
        return id === 'live-1-0';
      },
    });
    expect(idsOf(await search())).toEqual(['live-2-0']);
    expect(asked).toHaveLength(2);
  });

  test('orders candidates by what the best hit says, and tells the raw cosine', async () => {
    const file = named('a');
    const { search } = setUp({
      chunks: [0, 1, 2, 3].map((position) => chunkOf(file, position)),
      files: [file],
      partitions: [makePartition('public', 'real')],
      feedback: (id) => (id === 'a-1-3' ? 0.99 : id === 'a-1-0' ? 0.9 : 0.1),
    });
    const results = await search({ topK: 3 });
    expect(idsOf(results)).toEqual(['a-1-3', 'a-1-0', 'a-1-1']);
    expect(results.map(({ vectorScore }) => vectorScore)).toEqual([0.897, 0.9, 0.899]);
  });

  test('asks for no feedback of the built-in embedder, nor where the dense leg found nothing near enough', async () => {
    const file = named('a');
    const world = {
      chunks: [chunkOf(file, 0), chunkOf(file, 1)],
      files: [file],
      feedback: (): number => {
        throw new Error('not asked for');
      },
    };
    const builtin = setUp({ ...world, partitions: [makePartition('public')] });
    expect(idsOf(await builtin.search())).toEqual(['a-1-0', 'a-1-1']);
    const real = setUp({ ...world, partitions: [makePartition('public', 'real')] });
    expect(idsOf(await real.search({ similarityThreshold: 1 }))).toEqual(['a-1-0', 'a-1-1']);
  });

  test('weighs vectors as the request says, and asks for no feedback where they weigh nothing', async () => {
    const file = named('a');
    const chunks = [0, 1].map((position) => chunkOf(file, position));
    let asked = 0;
    const { search, embedded } = setUp({
      chunks,
      files: [file],
      partitions: [makePartition('public', 'real')],
      feedback: (id) => {
        asked += 1;
        return id === 'a-1-1' ? 0.99 : 0.1;
      },
    });
    expect(idsOf(await search({ vectorWeight: 0 }))).toEqual(['a-1-0', 'a-1-1']);
    expect(asked).toBe(0);
    const results = await search({ vectorWeight: 1 });
    expect(idsOf(results)).toEqual(['a-1-1', 'a-1-0']);
    expect(results[0]?.score).toBe(1);
    // What a preset says, unless the request says otherwise.
    const settings = async () => ({ vectorWeight: 0 });
    const text = 'where is the mill of the village';
    const before = embedded.length;
    await search({ text, vectorWeight: 0.5 });
    expect(embedded).toHaveLength(before + 1);
    // The question, and what it is measured by.
    await search({ text });
    expect(embedded).toHaveLength(before + 3);
    expect(idsOf(await search({ settings }))).toEqual(['a-1-0', 'a-1-1']);
    expect(idsOf(await search({ settings, vectorWeight: 1 }))).toEqual(['a-1-1', 'a-1-0']);
  });

  test('answers the next best, and comes to an end, where a found chunk can never be read', async () => {
    const file = named('a');
    const { search, asked } = setUp({
      chunks: [0, 1, 2].map((position) => chunkOf(file, position)),
      files: [file],
      partitions: [makePartition('public')],
      gone: (id) => id === 'a-1-0',
    });
    expect(idsOf(await search({ topK: 2 }))).toEqual(['a-1-1', 'a-1-2']);
    expect(asked).toHaveLength(3);
  });

  test('finds a version that went live while the search was asking again without it', async () => {
    const file = named('live', { live: makeVersion({ generation: 1 }) });
    const flipped = named('live', { live: makeVersion({ generation: 2 }) });
    let calls = 0;
    const { search } = setUp({
      chunks: [chunkOf(file, 0, { generation: 2 }), chunkOf(file, 0)],
      get files() {
        calls += 1;
        return [calls === 1 ? file : flipped];
      },
      partitions: [makePartition('public')],
      candidates: 1,
    });
    expect(idsOf(await search({ topK: 1 }))).toEqual(['live-2-0']);
  });

  test('gives up after four rounds, and does not ask again for what has no live version', async () => {
    const live = named('live', { live: makeVersion({ generation: 900 }) });
    const stale = Array.from({ length: 500 }, (_, position) =>
      chunkOf(live, position, { generation: position + 1 }),
    );
    const world = { files: [live], partitions: [makePartition('public')], candidates: 10 };
    const many = setUp({ ...world, chunks: stale });
    expect(await many.search()).toEqual([]);
    expect(many.asked).toHaveLength(4);
    const gone = named('gone', { live: null });
    const few = setUp({
      ...world,
      files: [gone],
      chunks: stale.slice(0, 8).map((chunk) => ({ ...chunk, file_key: 'gone' })),
    });
    expect(await few.search()).toEqual([]);
    expect(few.asked).toHaveLength(1);
  });

  test('searches the words while the question is embedded', async () => {
    const file = named('a');
    let tell = (): void => {};
    const asked = new Promise<void>((resolve) => (tell = resolve));
    const { search } = setUp({
      chunks: [chunkOf(file, 0)],
      files: [file],
      partitions: [makePartition('public')],
      words: async () => {
        tell();
        return [];
      },
      embedding: () => asked,
    });
    expect(idsOf(await search())).toEqual(['a-1-0']);
  });

  test('tells why the words could not be searched, or first why the question was not embedded', async () => {
    const world = {
      chunks: [],
      files: [],
      partitions: [makePartition('public')],
      words: () => Promise.reject(new Error('no words')),
    };
    await expect(setUp(world).search()).rejects.toThrow('no words');
    const embedding = (): Promise<void> => Promise.reject(new Error('no vector'));
    await expect(setUp({ ...world, embedding }).search()).rejects.toThrow('no vector');
  });

  test('embeds once for each embedder and asks each for its partitions', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => named(name, { partition: name }));
    const { search, embedded, asked } = setUp({
      chunks: [chunkOf(a!, 0), chunkOf(b!, 0), chunkOf(c!, 0)],
      files: [a!, b!, c!],
      partitions: [makePartition('a', 'one'), makePartition('b', 'two'), makePartition('c', 'one')],
    });
    const results = await search({ scope: scopeOf('a', 'b', 'c') });
    expect(idsOf(results).sort()).toEqual(['a-1-0', 'b-1-0', 'c-1-0']);
    expect(embedded).toEqual(['one: pumps', 'two: pumps']);
    expect(asked).toEqual([
      { partitions: ['a', 'c'], vectorField: 'vector_one', size: 50 },
      { partitions: ['b'], vectorField: 'vector_two', size: 50 },
    ]);
  });

  test('drops partitions outside the scope, and asks nobody when none is left', async () => {
    const secret = named('s', { partition: 'secret' });
    const { search, embedded } = setUp({
      chunks: [chunkOf(secret, 0)],
      files: [secret],
      partitions: [makePartition('public'), makePartition('secret')],
    });
    expect(await search({ partitions: ['secret'] })).toEqual([]);
    expect(await search({ partitions: [] })).toEqual([]);
    expect(await search({ scope: scopeOf() })).toEqual([]);
    expect(embedded).toEqual([]);
    expect(idsOf(await search({ scope: { kind: 'all', userId: 1 } }))).toEqual(['s-1-0']);
  });

  test('applies the threshold to the dense leg only', async () => {
    const file = named('a');
    const { search } = setUp({
      chunks: [chunkOf(file, 0), chunkOf(file, 1)],
      files: [file],
      partitions: [makePartition('public')],
      cosine: (index) => (index === 0 ? 0.8 : 0.3),
    });
    const results = await search({ similarityThreshold: 0.5 });
    expect(results.map(({ vectorScore, lexicalScore }) => [vectorScore, lexicalScore])).toEqual([
      [0.8, 100],
      [null, 99],
    ]);
  });

  test('stays within one file when asked to', async () => {
    const [a, b] = [named('a'), named('b')];
    const { search } = setUp({
      chunks: [chunkOf(a, 0), chunkOf(b, 0)],
      files: [a, b],
      partitions: [makePartition('public')],
    });
    expect(idsOf(await search({ fileKey: 'b' }))).toEqual(['b-1-0']);
  });

  test('holds its promises for any mixture of versions', async () => {
    const file = fc.record({
      live: fc.option(fc.integer({ min: 1, max: 3 })),
      deleted: fc.boolean(),
      partition: fc.constantFrom('p', 'q', 'foreign'),
    });
    const hit = fc.record({
      file: fc.nat(5),
      generation: fc.integer({ min: 1, max: 3 }),
      position: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { minLength: 6, maxLength: 6 }),
        fc.array(hit, { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        async (states, hits, topK) => {
          const files = states.map(({ live, deleted, partition }, index) =>
            named(`f${index}`, {
              partition,
              // Numbers are global: no generation belongs to two files.
              live: live === null ? null : makeVersion({ generation: index * 10 + live }),
              deleted_at: deleted ? new Date() : null,
            }),
          );
          const chunks = hits.map(({ file: index, generation, position }) =>
            chunkOf(files[index]!, position, { generation: index * 10 + generation, partition: 'p' }),
          );
          const { search } = setUp({
            chunks,
            files,
            candidates: 8,
            partitions: ['p', 'q', 'foreign'].map((name) => makePartition(name)),
          });
          const results = await search({ scope: scopeOf('p', 'q'), topK });
          const good = new Set(
            chunks
              .filter(({ file_key, generation }) => {
                const owner = files.find((one) => one.file_key === file_key)!;
                return (
                  owner.live?.generation === generation && !owner.deleted_at && owner.partition !== 'foreign'
                );
              })
              .map(({ chunk_id }) => chunk_id),
          );
          for (const id of idsOf(results)) expect(good).toContain(id);
          expect(new Set(idsOf(results)).size).toBe(results.length);
          expect(results).toHaveLength(Math.min(topK, good.size));
        },
      ),
    );
  });
});
