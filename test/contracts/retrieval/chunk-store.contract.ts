import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ChunkStore, FoundChunk } from '../../../activities/ports/chunks.js';
import { parseFilter } from '../../../activities/retrieval/filter/parse-filter.js';
import { AppError } from '../../../schemas/app-error.js';
import type { StoredChunk } from '../../../schemas/documents/documents.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { collect, sampleChunk, times, versionOfChunk } from '../samples.js';
import { seededRandom } from '../../support/seeded-random.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

const FIELD = 'vector_small';
const EVERYTHING: Scope = { kind: 'all', userId: 1 };

function member(...partitions: string[]): Scope {
  return {
    kind: 'partitions',
    userId: 2,
    roles: Object.fromEntries(partitions.map((partition) => [partition, 'viewer' as const])),
  };
}

function withoutMetadata({ metadata: _, ...found }: StoredChunk): FoundChunk {
  return found;
}

/** What every chunk store promises: only published chunks, only inside the scope, each of them once. */
/** Of 200 distinct characters that are a word each, in runs with Latin and Katakana among them. */
const JAPANESE = times(
  200,
  (index) => `${index % 9 === 0 ? 'APIキー' : ''}${String.fromCodePoint(0x4e00 + 7 * index)}`,
).join('');

export function chunkStoreContract(subject: Subject<ChunkStore>): void {
  describe(`chunk store (${subject.name})`, () => {
    const store = useSubject(subject);
    beforeAll(() => store().ensureSchema([{ vectorField: FIELD, dimension: 3 }]), 60_000);

    const put = async (
      chunks: readonly StoredChunk[],
      vectorOf: (chunk: StoredChunk) => number[] = () => [1, 0, 0],
    ) => {
      await store().put(
        chunks.map((chunk) => ({ chunk, vector: vectorOf(chunk) })),
        FIELD,
      );
    };
    /** Chunks of one file in a partition of its own. */
    const chunksOf = (texts: readonly string[], overrides: Partial<StoredChunk> = {}): StoredChunk[] => {
      const common = { partition: `p-${randomUUID()}`, file_key: randomUUID(), ...overrides };
      return texts.map((text, position) => sampleChunk({ ...common, text, position }));
    };
    const publish = (chunks: readonly StoredChunk[]) =>
      store().publish(versionOfChunk(chunks[0] ?? sampleChunk()), chunks.length);
    const moverOf = (chunks: readonly StoredChunk[]) => (partition: string) => {
      const { file_key, generation } = chunks[0]!;
      const words = { partition, relationship_id: null, parent_id: null, metadata: [] };
      return store().annotate(file_key, generation, chunks.length, words);
    };
    const search = (overrides: Partial<Parameters<ChunkStore['searchHybrid']>[0]>) =>
      store().searchHybrid({
        scope: EVERYTHING,
        partitions: 'all',
        text: 'sieve',
        vector: [1, 0, 0],
        vectorField: FIELD,
        size: 10,
        ...overrides,
      });
    const ids = (hits: { chunk: Pick<StoredChunk, 'chunk_id'> }[]) => hits.map(({ chunk }) => chunk.chunk_id);

    test('the schema may be ensured again, at once, and grow; a field cannot change its length', async () => {
      await Promise.all(times(3, () => store().ensureSchema([{ vectorField: FIELD, dimension: 3 }])));
      await store().ensureSchema([{ vectorField: 'vector_other', dimension: 8 }]);
      await expect(store().ensureSchema([{ vectorField: FIELD, dimension: 4 }])).rejects.toMatchObject({
        code: 'VDB_SCHEMA_MIGRATION_REQUIRED',
      });
    });

    test('answers a chunk as it was put, published once it is', async () => {
      const [chunk] = chunksOf(['The sieve of a mill.'], {
        heading_path: ['Mills', 'Sieves'],
        page: 4,
        chunk_type: 'table',
        section_id: 3,
        prev_section_id: 2,
        next_section_id: null,
        relationship_id: 'letters',
        parent_id: 'letter-1',
        metadata: [
          { key: '$a.b', text: 'x' },
          { key: 'n', text: '1.5', number: 1.5 },
          { key: 'big', text: '9007199254740993', integer: '9007199254740993' },
          { key: 'd', text: '2026-01-02', date: '2026-01-02' },
          { key: 't', text: 'true', bool: true },
        ],
      });
      if (chunk === undefined) throw new Error('no chunk');
      await put([chunk]);
      await store().show();
      expect(await store().get(chunk.chunk_id)).toEqual(chunk);
      await publish([chunk]);
      expect(await store().get(chunk.chunk_id)).toEqual({ ...chunk, published: true });
      expect(await store().get('none')).toBeNull();
      expect([...(await store().getMany([chunk.chunk_id])).values()]).toEqual([
        withoutMetadata({ ...chunk, published: true }),
      ]);
    });

    test('finds what was put as published as soon as show answers', async () => {
      const chunks = chunksOf(['the mill by the river', 'the stone']).map((chunk) => ({
        ...chunk,
        published: true,
      }));
      await put(chunks);
      await store().show();
      const found = await search({ partitions: [chunks[0]!.partition], text: 'mill' });
      expect(found.lexical.map(({ chunk }) => chunk.chunk_id)).toEqual([chunks[0]!.chunk_id]);
      await expect(store().show(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    });

    test('finds published chunks only, as soon as publish answers', async () => {
      const chunks = chunksOf(['a sieve for flour', 'a sieve for sand']);
      await put(chunks);
      const { partition } = chunks[0] ?? sampleChunk();
      expect(await search({ partitions: [partition] })).toEqual({ lexical: [], dense: [] });
      await publish(chunks);
      const found = await search({ partitions: [partition] });
      expect(ids(found.lexical).sort()).toEqual(ids(chunks.map((chunk) => ({ chunk }))).sort());
      expect(ids(found.dense)).toHaveLength(2);
    });

    test('publishes more chunks than go into one request, and says how many are missing', async () => {
      const chunks = chunksOf(Array.from({ length: 1_201 }, (_, position) => `flour of sack ${position}`));
      await put(chunks);
      const { partition } = chunks[0]!;
      await publish(chunks);
      const counts = { chunks: chunks.length, published: chunks.length };
      expect(await store().countChunks(EVERYTHING, partition)).toEqual(counts);
      const found = await search({ partitions: [partition], text: '1200', size: 1 });
      expect(ids(found.lexical)).toEqual([chunks.at(-1)!.chunk_id]);
      const beyond = store().publish(versionOfChunk(chunks[0]!), chunks.length + 1_000);
      await expect(beyond).rejects.toMatchObject({ code: 'VDB_ERROR', details: { missing: 1_000 } });
    });

    test('words are searched before the vector is there, and their hits taken over', async () => {
      const chunks = chunksOf(['a sieve for flour', 'a stone']);
      await put(chunks);
      await publish(chunks);
      const { partition } = chunks[0]!;
      const asked = { scope: EVERYTHING, partitions: [partition], text: 'sieve', size: 10 };
      const lexical = await store().searchWords(asked);
      expect(ids(lexical)).toEqual([chunks[0]!.chunk_id]);
      const whole = await search({ partitions: [partition] });
      expect(whole.lexical).toEqual(lexical);
      expect(await search({ partitions: [partition], lexical: Promise.resolve([]) })).toEqual({
        ...whole,
        lexical: [],
      });
      for (const nothing of [{ partitions: [] }, { text: ' ' }, { fileKeys: [] }])
        expect(await store().searchWords({ ...asked, ...nothing })).toEqual([]);
      const failed = Promise.reject(new AppError('VDB_SEARCH_ERROR'));
      failed.catch(() => {});
      await expect(search({ partitions: [partition], lexical: failed })).rejects.toThrow(AppError);
    });

    test('a hit says where its chunk stands, and what a filter may ask', async () => {
      const chunk = {
        ...chunksOf(['a sieve for flour'])[0]!,
        page: 7,
        section_id: 0,
        prev_section_id: null,
        next_section_id: 1,
      };
      await put([chunk]);
      await publish([chunk]);
      const { chunk_id, file_key, generation, position, page, chunk_type, section_id, next_section_id } =
        chunk;
      const place = { chunk_id, file_key, generation, position };
      const plain = await search({ partitions: [chunk.partition] });
      for (const leg of [plain.lexical, plain.dense]) expect(leg.map((hit) => hit.chunk)).toEqual([place]);
      const filtered = await search({ partitions: [chunk.partition], filter: parseFilter('page == 7') });
      for (const leg of [filtered.lexical, filtered.dense])
        expect(leg.map((hit) => hit.chunk)).toMatchObject([
          { ...place, page, chunk_type, section_id, next_section_id },
        ]);
    });

    test('reads chunks by id, whatever is not there left out', async () => {
      const chunks = chunksOf(['a sieve for flour', 'a sieve for sand']);
      await put(chunks);
      await publish(chunks);
      const [one, two] = chunks.map((chunk) => withoutMetadata({ ...chunk, published: true }));
      expect(await store().getMany([])).toEqual(new Map());
      expect(await store().getMany([one!.chunk_id, 'nobody', two!.chunk_id, one!.chunk_id])).toEqual(
        new Map([
          [one!.chunk_id, one],
          [two!.chunk_id, two],
        ]),
      );
    });

    test('reads more chunks at once than a page of the engine holds', async () => {
      const chunks = chunksOf(times(1_100, (index) => `chunk ${index}`));
      await put(chunks);
      await publish(chunks);
      const wanted = ids(chunks.map((chunk) => ({ chunk })));
      const found = await store().getMany(wanted);
      expect([...found.keys()]).toEqual(wanted);
      expect(found.get(wanted[1_050]!)?.text).toBe('chunk 1050');
    });

    test('reads vectors, and compares chunks with one, by id', async () => {
      const chunks = chunksOf(['near', 'far', 'without', 'unpublished']);
      const vectors = [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 0],
        [1, 0, 0],
      ];
      await put(chunks, ({ position }) => vectors[position]!);
      await store().publish(versionOfChunk(chunks[0]!), 3);
      const all = [...ids(chunks.map((chunk) => ({ chunk }))), 'nobody'];
      const read = await store().getVectors(all.slice(0, 3), FIELD);
      expect([...read]).toEqual([
        [all[0], [1, 0, 0]],
        [all[1], [0, 1, 0]],
      ]);
      const compare = (asked: readonly string[], vector: readonly number[], read: readonly string[] = []) =>
        store().similarities(asked, { vector, vectorField: FIELD, read });
      const { cosines, chunks: none } = await compare(all, [3, 4, 0]);
      expect([...cosines.keys()].sort()).toEqual(all.slice(0, 2).sort());
      expect(cosines.get(all[0]!)).toBeCloseTo(0.6);
      expect(cosines.get(all[1]!)).toBeCloseTo(0.8);
      expect(none.size).toBe(0);
      expect((await compare([], [1, 0, 0])).cosines).toEqual(new Map());
      expect((await compare(all, [0, 0, 0])).cosines).toEqual(new Map());
      // What is read along is not compared, and comes also where nothing can be.
      const wanted = [all[2]!, 'nobody', all[2]!];
      for (const [asked, vector] of [
        [all, [3, 4, 0]],
        [all, [0, 0, 0]],
        [[], [1, 0, 0]],
      ] as const) {
        const along = (await compare(asked, vector, wanted)).chunks;
        expect(along).toEqual(await store().getMany([all[2]!]));
      }
    });

    test('brings vectors of the first hits by words along, where those are known', async () => {
      const chunks = chunksOf(['a mill by a brook', 'a mill wheel, a mill race', 'a barn']);
      await put(chunks, ({ position }) => [1, position, 0]);
      await publish(chunks);
      const request = {
        scope: EVERYTHING,
        partitions: [chunks[0]!.partition],
        text: 'mill',
        size: 10,
        vector: [1, 0, 0],
        vectorField: FIELD,
      };
      const lexical = store().searchWords(request);
      const byWords = ids(await lexical);
      expect(byWords).toHaveLength(2);
      const first = async (vectorsOf?: number) => {
        const { vectors } = await store().searchHybrid({
          ...request,
          lexical,
          ...(vectorsOf !== undefined && { vectorsOf }),
        });
        return vectors;
      };
      expect((await first())?.size ?? 0).toBe(0);
      for (const count of [1, 5])
        expect(await first(count)).toEqual(await store().getVectors(byWords.slice(0, count), FIELD));
    });

    test('compares each of many candidates, however near others are', async () => {
      const crowd = chunksOf(times(300, (index) => `crowd ${index}`));
      await put(crowd, () => [1, 0, 0]);
      await publish(crowd);
      const few = chunksOf(times(120, (index) => `few ${index}`));
      await put(few, ({ position }) => [0.1, position + 1, 1]);
      await publish(few);
      const wanted = ids(few.map((chunk) => ({ chunk })));
      const near = await store().similarities(wanted, { vector: [1, 0, 0], vectorField: FIELD });
      expect([...near.cosines.keys()].sort()).toEqual([...wanted].sort());
    });

    test('leaves out the generations that it is told to', async () => {
      const [one, two] = [chunksOf(['a sieve for flour']), chunksOf(['a sieve for sand'])];
      const later = two.map((chunk) => ({ ...chunk, generation: 2, partition: one[0]!.partition }));
      for (const chunks of [one, later]) {
        await put(chunks);
        await publish(chunks);
      }
      const request = { partitions: [one[0]!.partition] };
      expect((await search(request)).lexical).toHaveLength(2);
      const found = await search({ ...request, withoutGenerations: [2, 77] });
      for (const leg of [found.lexical, found.dense]) expect(ids(leg)).toEqual([one[0]!.chunk_id]);
    });

    test('finds within any number of files, and within none', async () => {
      const [one, two, three] = times(3, (index) =>
        chunksOf([`a sieve of file ${index}`], { partition: 'p-files' }),
      );
      for (const chunks of [one!, two!, three!]) {
        await put(chunks);
        await publish(chunks);
      }
      const keys = [one![0]!.file_key, three![0]!.file_key];
      const many = [...times(51_000, (index) => `no-file-${index}`), ...keys];
      for (const fileKeys of [keys, many]) {
        const { lexical, dense } = await search({ partitions: ['p-files'], fileKeys });
        for (const leg of [lexical, dense])
          expect(leg.map(({ chunk }) => chunk.file_key).sort()).toEqual([...keys].sort());
      }
      expect(await search({ partitions: ['p-files'], fileKeys: [] })).toEqual({ lexical: [], dense: [] });
    });

    test('counts what a partition holds, inside the scope', async () => {
      const chunks = chunksOf(['one', 'two', 'three']);
      await put(chunks);
      await store().publish(versionOfChunk(chunks[0]!), 2);
      const { partition } = chunks[0]!;
      expect(await store().countChunks(member(partition), partition)).toEqual({ chunks: 3, published: 2 });
      expect(await store().countChunks(member('other'), partition)).toEqual({ chunks: 0, published: 0 });
    });

    test('putting and publishing twice changes nothing, also in the wrong order', async () => {
      const chunks = chunksOf(times(5, (index) => `sieve number ${index}`));
      const { partition, file_key } = chunks[0] ?? sampleChunk();
      await Promise.all([put(chunks), put(chunks)]);
      await publish(chunks);
      await publish(chunks);
      // A late repetition of the write must not hide what has been published since.
      await put(chunks);
      await publish(chunks);
      expect((await search({ partitions: [partition] })).lexical).toHaveLength(5);
      const groups = (await collect(store().scanGenerations())).filter(({ fileKey }) => fileKey === file_key);
      expect(groups).toEqual([{ fileKey: file_key, generation: 1, chunks: 5, published: 5 }]);
    });

    test('what was put as published is found once publish answers', async () => {
      const chunks = chunksOf(['a sieve for flour', 'a sieve for sand'], { published: true });
      await put(chunks);
      await publish(chunks);
      const found = await search({ partitions: [chunks[0]!.partition] });
      expect(found.lexical).toHaveLength(2);
      expect(found.dense).toHaveLength(2);
    });

    test('publishing more than there is says how much is missing', async () => {
      const chunks = chunksOf(['one', 'two']);
      await put(chunks);
      await expect(store().publish(versionOfChunk(chunks[0]!), 5)).rejects.toMatchObject({
        code: 'VDB_ERROR',
        details: { missing: 3 },
      });
    });

    test('two tenants never see each other', async () => {
      const mine = chunksOf(['my secret sieve']);
      const theirs = chunksOf(['their secret sieve']);
      for (const chunks of [mine, theirs]) {
        await put(chunks);
        await publish(chunks);
      }
      const [me, them] = [mine[0]?.partition ?? '', theirs[0]?.partition ?? ''];
      const owners = new Map([...mine, ...theirs].map(({ file_key, partition }) => [file_key, partition]));
      const seen = async (overrides: Parameters<typeof search>[0]) => {
        const { lexical, dense } = await search({ size: 100, ...overrides });
        return new Set([...lexical, ...dense].map(({ chunk }) => owners.get(chunk.file_key)));
      };
      expect(await seen({ scope: member(me) })).toEqual(new Set([me]));
      expect(await seen({ scope: member(me), partitions: [me, them] })).toEqual(new Set([me]));
      expect(await seen({ scope: member(me), partitions: [them] })).toEqual(new Set());
      expect(await seen({ scope: member(), partitions: 'all' })).toEqual(new Set());
      expect(await seen({ scope: EVERYTHING, partitions: [] })).toEqual(new Set());
      expect(await seen({ scope: member('constructor'), partitions: [them, 'toString'] })).toEqual(new Set());
      expect(await seen({ scope: member(me, them), partitions: [me, them] })).toEqual(new Set([me, them]));
      const ofFile = { scope: member(me), fileKey: theirs[0]?.file_key ?? '' };
      expect(await seen(ofFile)).toEqual(new Set());
    });

    test('scores and order are the same, whatever stands in other partitions', async () => {
      const random = seededRandom(20);
      const WORDS = [
        'mill',
        'sieve',
        'stone',
        'flour',
        'water',
        'wheel',
        'grain',
        'zarquon',
        'blivet',
        'the',
      ];
      const sentence = () =>
        times(3 + Math.floor(random() * 12), () => WORDS[Math.floor(random() * WORDS.length)]!).join(' ');
      const vectorOf = () => times(3, () => random() - 0.5);
      const fill = async (count: number, overrides: Partial<StoredChunk>, published: boolean) => {
        const chunks = chunksOf(times(count, sentence), overrides);
        await put(chunks, vectorOf);
        if (published) await publish(chunks);
        return chunks;
      };
      const [own, second] = [`p-${randomUUID()}`, `p-${randomUUID()}`];
      await fill(40, { partition: own }, true);
      await fill(15, { partition: own, heading_path: ['Mills', 'The blivet'] }, true);
      await fill(130, { partition: second, filename: 'zarquon-4.txt' }, true);
      const questions = times(6, sentence).map((text) => ({ text, vector: vectorOf() }));
      questions.push({ text: 'stone', vector: [1, 0, 0] }, { text: 'zarquon-4 sieve-7', vector: [0, 1, 0] });
      const answers = async () => {
        const found = [];
        for (const question of questions)
          for (const partitions of [[own], [second], [own, second]])
            found.push(await search({ ...question, partitions, size: 20 }));
        return found;
      };
      const before = await answers();
      const others: StoredChunk[][] = [];
      for (let round = 0; round < 6; round += 1) {
        if (others.length > 1 && random() < 0.4) {
          const [gone] = others.splice(Math.floor(random() * others.length), 1);
          await store().deleteFile(gone![0]!.file_key);
        } else others.push(await fill(20 + Math.floor(random() * 100), {}, random() < 0.7));
        expect(await answers()).toEqual(before);
      }
    }, 120_000);

    test('a word that only others use weighs like one that nobody uses', async () => {
      const [foreign, word] = ['xyzzy', 'plugh'].map(
        (stem) => stem + randomUUID().slice(0, 8).replace(/\d/g, 'q'),
      );
      const [mine] = [chunksOf([`${foreign} of a mill`, `${word} of a mill`])];
      await put(mine);
      await publish(mine);
      const scores = async () => {
        const { lexical } = await search({
          partitions: [mine[0]!.partition],
          text: `${foreign} ${word}`,
        });
        return lexical.map(({ score }) => score);
      };
      const before = await scores();
      expect(before[0]).toBe(before[1]);
      const theirs = chunksOf(times(20, () => `${foreign} again`));
      await put(theirs);
      await publish(theirs);
      expect(await scores()).toEqual(before);
    });

    test('the filter does not eat up the candidates of the dense leg', async () => {
      const crowd = chunksOf(times(250, (index) => `crowd ${index}`));
      await put(crowd, () => [1, 0, 0]);
      await publish(crowd);
      const few = chunksOf(times(3, (index) => `few ${index}`));
      await put(few, (chunk) => [0.5, 0.1 * chunk.position, 1]);
      await publish(few);
      const { dense } = await search({ partitions: [few[0]?.partition ?? ''], size: 3 });
      expect(ids(dense)).toHaveLength(3);
    });

    test('scores are raw cosines, best first', async () => {
      const vectors = [
        [1, 0, 0],
        [1, 1, 0],
        [0, 1, 0],
        [-1, 0, 0],
      ];
      const chunks = chunksOf(vectors.map((_, index) => `direction ${index}`));
      await put(chunks, ({ position }) => vectors[position] ?? []);
      await publish(chunks);
      const { dense } = await search({ partitions: [chunks[0]?.partition ?? ''], vector: [2, 0, 0] });
      expect(dense.map(({ chunk }) => chunk.position)).toEqual([0, 1, 2, 3]);
      const expected = [1, Math.SQRT1_2, 0, -1];
      dense.forEach(({ score }, index) => expect(score).toBeCloseTo(expected[index] ?? NaN, 4));
    });

    test('words count in text, headings and file name, with and without accents', async () => {
      const [text, heading, name] = times(3, () => randomUUID());
      const partition = `p-${randomUUID()}`;
      const make = async (overrides: Partial<StoredChunk>) => {
        const [chunk] = chunksOf([overrides.text ?? 'nothing to see'], { partition, ...overrides });
        if (chunk === undefined) throw new Error('no chunk');
        await put([chunk]);
        await publish([chunk]);
        return chunk.file_key;
      };
      await make({ file_key: text ?? '', text: 'Le déjeuner est servi.' });
      await make({ file_key: heading ?? '', heading_path: ['Besoins', 'Gouvernance'] });
      await make({ file_key: name ?? '', filename: 'annual_report-2024.pdf' });
      const found = async (query: string) =>
        (await search({ partitions: [partition], text: query })).lexical.map(({ chunk }) => chunk.file_key);
      expect(await found('dejeuner')).toEqual([text]);
      expect(await found('gouvernance')).toEqual([heading]);
      expect(await found('report')).toEqual([name]);
      expect(await found('absent')).toEqual([]);
    });

    test.each([
      'クラウド',
      'スマートフォン',
      'ワークフロー',
      'การประชุมประจำปี',
      'ການປະຊຸມ',
      'សៀវភៅ',
      'စာအုပ်',
      '데이터',
      '料金',
    ])('a word is found as the index has it, whatever its script: %s', async (word) => {
      const partition = `p-${randomUUID()}`;
      const chunks = chunksOf([`2024 ${word} 2025`, 'nothing to see'], { partition });
      await put(chunks);
      await publish(chunks);
      const { lexical } = await search({ partitions: [partition], text: word });
      expect(ids(lexical)).toEqual([chunks[0]?.chunk_id]);
    });

    test.each([
      ['a paragraph of Japanese', JAPANESE],
      ['blanks', ' \n\t '],
      ['signs', '"AND (*:* OR ~^[{ \\ / && !!'],
      ['very many words', times(5_000, (index) => `word${index}`).join(' ')],
      ['one very long word', 'x'.repeat(50_000)],
      ['very many signs', '😀 '.repeat(3_000)],
      ['Chinese', '筛子'.repeat(2_000)],
      ['apostrophes', times(2_000, (index) => `l'avion${index}`).join(' ')],
    ])('takes %s for a query', async (_name, text) => {
      const { lexical } = await search({ text, partitions: [`p-${randomUUID()}`] });
      expect(lexical).toEqual([]);
    });

    test('a zero vector asks nothing, and a chunk with one is found by its words', async () => {
      const chunks = chunksOf(['wordless sieve']);
      await put(chunks, () => [0, 0, 0]);
      await publish(chunks);
      const partitions = [chunks[0]?.partition ?? ''];
      const found = await search({ partitions });
      expect(ids(found.lexical)).toHaveLength(1);
      expect(found.dense).toEqual([]);
      expect((await search({ partitions, vector: [0, 0, 0] })).dense).toEqual([]);
    });

    test('refuses a chunk with a wrong vector, not the engine', async () => {
      const [chunk] = chunksOf(['bad']);
      const bad = (vector: number[]) => store().put([{ chunk: chunk ?? sampleChunk(), vector }], FIELD);
      await expect(bad([1, 2])).rejects.toMatchObject({ code: 'VDB_INSERT_ERROR' });
      await expect(bad([1, NaN, 0])).rejects.toMatchObject({ code: 'VDB_INSERT_ERROR' });
      await expect(search({ vector: [1, 2] })).rejects.toMatchObject({ code: 'VDB_SEARCH_ERROR' });
    });

    test('stores the chunks of several documents at once, and refuses the bad one alone', async () => {
      const documents = ['one', 'two', 'three', 'four', 'bad', 'five'].map((text) => chunksOf([text]));
      const outcomes = await Promise.all(
        documents.map((chunks) =>
          put(chunks, ({ text }) => (text === 'bad' ? [1, 2] : [0, 1, 0])).then(
            () => 'stored',
            (error: unknown) => (error instanceof AppError ? error.code : String(error)),
          ),
        ),
      );
      expect(outcomes).toEqual(['stored', 'stored', 'stored', 'stored', 'VDB_INSERT_ERROR', 'stored']);
      await store().show();
      const [stored] = documents[5]!;
      expect((await store().get(stored!.chunk_id))?.text).toBe('five');
      expect(await store().get(documents[4]![0]!.chunk_id)).toBeNull();
    });

    test('takes long values and long words', async () => {
      const chunks = chunksOf([`${'y'.repeat(40_000)} sieve`], {
        filename: `${'z'.repeat(250)}.md`,
        relationship_id: 'r'.repeat(40_000),
        heading_path: ['h'.repeat(40_000)],
        metadata: [{ key: 'k'.repeat(40_000), text: 'é'.repeat(40_000) }],
      });
      await put(chunks);
      await publish(chunks);
      expect((await search({ partitions: [chunks[0]?.partition ?? ''] })).lexical).toHaveLength(1);
    });

    test('takes characters that are none, as parsers find them', async () => {
      const odd = 'half a pair \ud800, a zero \u0000, not a character \uffff';
      const chunks = chunksOf([`${odd} sieve`], {
        metadata: [{ key: 'odd', text: odd }],
        heading_path: [odd],
      });
      await put(chunks);
      await publish(chunks);
      const found = await search({ partitions: [chunks[0]?.partition ?? ''], text: `sieve ${odd}` });
      expect(found.lexical).toHaveLength(1);
    });

    test('an abort is answered with its reason', async () => {
      const signal = AbortSignal.abort(new Error('gone'));
      await expect(search({ signal })).rejects.toThrow('gone');
      await expect(store().put([{ chunk: sampleChunk(), vector: [1, 0, 0] }], FIELD, signal)).rejects.toThrow(
        'gone',
      );
    });

    test('lists a generation in order, as much as asked', async () => {
      const chunks = chunksOf(times(2_100, (index) => `part ${index}`));
      await put(chunks);
      await publish(chunks);
      const { file_key } = chunks[0] ?? sampleChunk();
      const positions = async (...asked: Parameters<ChunkStore['listByFile']>) =>
        (await store().listByFile(...asked)).map(({ position }) => position);
      expect(await positions(file_key, 1)).toEqual(times(2_100, (index) => index));
      expect(await positions(file_key, 1, 1_500)).toEqual(times(1_500, (index) => index));
      expect(await positions(file_key, 2)).toEqual([]);
    }, 60_000);

    test('scans the published chunks of generations in order, beyond one page, with their vectors', async () => {
      const first = 1_000_000_000 + Math.floor(Math.random() * 1e6) * 10;
      const generations = times(3, (index) => first + index);
      for (const [index, generation] of generations.entries()) {
        const chunks = chunksOf(times(index === 0 ? 450 : 2, String), { generation });
        await put(chunks, ({ position }) => (position === 1 ? [0, 0, 0] : [0.5, position, 0]));
        if (index < 2) await publish(chunks);
      }
      const found = await collect(store().scanChunks(generations, { vectorFields: ['vector_other', FIELD] }));
      expect(found.map(({ chunk }) => [chunk.generation, chunk.position])).toEqual([
        ...times(450, (position) => [generations[0], position]),
        ...times(2, (position) => [generations[1], position]),
      ]);
      expect(found[2]?.vector).toEqual([expect.closeTo(0.2425), expect.closeTo(0.9701), 0]);
      expect(found[1]?.vector).toBeNull();
      const plain = await collect(store().scanChunks(generations.slice(1)));
      expect(plain.map(({ vector }) => vector)).toEqual([null, null]);
      expect(await collect(store().scanChunks([]))).toEqual([]);
    }, 60_000);

    test('tells of what chunks hold for filters only where it is asked for', async () => {
      const generation = 3_000_000_000 + Math.floor(Math.random() * 1e6);
      const metadata = [{ key: 'shelf', text: 'upper' }];
      const chunks = chunksOf(['one', 'two', 'three'], { generation, metadata });
      await put(chunks);
      await publish(chunks);
      const { file_key } = chunks[0]!;
      for (const chunk of await store().listByFile(file_key, generation))
        expect(chunk).not.toHaveProperty('metadata');
      const scanned = await collect(store().scanChunks([generation], { pageSize: 2 }));
      expect(scanned.map(({ chunk }) => chunk.text)).toEqual(['one', 'two', 'three']);
      for (const { chunk } of scanned) expect(chunk).not.toHaveProperty('metadata');
      const whole = await collect(store().scanChunks([generation], { metadata: true }));
      expect(whole.map(({ chunk }) => chunk.metadata)).toMatchObject([metadata, metadata, metadata]);
    });

    test('adds vectors in another field, and scans those that have none there', async () => {
      await store().ensureField({ vectorField: 'vector_added', dimension: 2 });
      const generation = 2_000_000_000 + Math.floor(Math.random() * 1e6);
      const chunks = chunksOf(['one', 'two', 'three'], { generation });
      await put(chunks);
      await publish(chunks);
      const lacking = async () =>
        (await collect(store().scanChunks([generation], { withoutVector: 'vector_added' }))).map(
          ({ chunk }) => chunk.position,
        );
      expect(await lacking()).toEqual([0, 1, 2]);
      const vectorOf = (position: number, vector: number[]) => ({
        chunkId: chunks[position]?.chunk_id ?? 'gone',
        partition: chunks[0]!.partition,
        vector,
      });
      await store().addVectors(
        [vectorOf(0, [0, 1]), vectorOf(1, [0, 0]), vectorOf(7, [1, 0])],
        'vector_added',
      );
      await store().show();
      expect(await lacking()).toEqual([1, 2]);
      const ids = chunks.map(({ chunk_id }) => chunk_id);
      expect([...(await store().getVectors(ids, 'vector_added')).values()]).toEqual([[0, 1]]);
      expect((await store().getVectors(ids, FIELD)).size).toBe(3);
      const lengthsOf = async (vectorFields: string[]) =>
        (await collect(store().scanChunks([generation], { vectorFields }))).map(
          ({ vector }) => vector?.length,
        );
      const own = await lengthsOf([FIELD]);
      expect(await lengthsOf([FIELD, 'vector_added'])).toEqual(own);
      expect(await lengthsOf(['vector_added', FIELD])).toEqual([2, ...own.slice(1)]);
      expect((await store().get(ids[0]!))?.text).toBe('one');
      await expect(store().addVectors([vectorOf(2, [1, 2, 3])], 'vector_added')).rejects.toMatchObject({
        code: 'VDB_INSERT_ERROR',
      });
    });

    test('lists chunks with their vectors from a position on', async () => {
      const chunks = chunksOf(['one', 'two', 'three']);
      await put(chunks, ({ position }) => (position === 1 ? [0, 0, 0] : [0, position, 1]));
      await publish(chunks);
      const { file_key, generation } = chunks[0]!;
      const list = async (from: number, limit: number) =>
        (await store().listWithVectors(file_key, generation, { vectorField: FIELD, from, limit })).map(
          ({ chunk, vector }) => [chunk.text, vector],
        );
      expect(await list(0, 2)).toEqual([
        ['one', [0, 0, 1]],
        ['two', null],
      ]);
      const [[text, vector] = []] = await list(2, 10);
      expect([text, vector]).toEqual(['three', [0, expect.closeTo(0.8944), expect.closeTo(0.4472)]]);
      expect(await list(3, 10)).toEqual([]);
    });

    test('keeps what a model said of a chunk for those who make vectors of it, and shows it to nobody else', async () => {
      const [said, silent] = chunksOf(['sieve one', 'sieve two']);
      // Longer than a term of the index may be.
      const words = `A model said: ${'zzz '.repeat(10_000)}`;
      const entries = [
        { chunk: said!, vector: [0, 0, 1], context: words },
        { chunk: silent!, vector: [0, 0, 1], context: null },
      ];
      await store().put(entries, FIELD);
      await publish([said!, silent!]);
      const { file_key, generation, partition } = said!;
      const options = { vectorField: FIELD, from: 0, limit: 9 };
      const listed = await store().listWithVectors(file_key, generation, options);
      const scanned = (await collect(store().scanChunks([generation]))).filter(
        ({ chunk }) => chunk.file_key === file_key,
      );
      for (const held of [listed, scanned])
        expect(held.map(({ context }) => context?.length)).toEqual([words.length, undefined]);
      for (const { chunk } of [...listed, ...scanned]) expect(chunk).not.toHaveProperty('context');
      const read = await store().listByFile(file_key, generation);
      expect(JSON.stringify(read)).not.toContain('zzz');
      // Nothing is found by it.
      expect((await search({ partitions: [partition], text: 'model' })).lexical).toEqual([]);
    });

    test('rewrites what chunks say of their file, seen by searches when it answers', async () => {
      const chunks = chunksOf(['sieve one', 'sieve two']);
      await put(chunks);
      await publish(chunks);
      const { file_key, generation, partition: old } = chunks[0]!;
      const partition = `moved-${randomUUID()}`;
      const metadata = [
        { key: 'new', text: 'x'.repeat(9000) },
        { key: 'n', number: 1, integer: '1' },
      ];
      const words = { partition, relationship_id: 'group', parent_id: null, metadata };
      // One more than there are: what is missing is left out.
      await store().annotate(file_key, generation, 3, words);
      const { lexical, dense } = await search({ partitions: [partition] });
      for (const leg of [lexical, dense]) expect(leg).toHaveLength(2);
      const read = await store().get(lexical[0]!.chunk.chunk_id);
      expect(read).toMatchObject({ partition, relationship_id: 'group', published: true });
      expect(read?.metadata.map(({ key }) => key)).toEqual(['new', 'n']);
      expect((await search({ partitions: [old] })).lexical).toEqual([]);
      expect(await store().listByFile(file_key, generation)).toHaveLength(2);
    });

    test('a move takes vectors along, and what comes late finds the chunks where they are', async () => {
      await store().ensureField({ vectorField: 'vector_late', dimension: 2 });
      const chunks = chunksOf(times(5, (index) => `sieve ${index}`));
      await put(chunks, ({ position }) => [position, 1, 0]);
      await publish(chunks);
      const { file_key, generation } = chunks[0]!;
      const moveTo = moverOf(chunks);
      const partition = `moved-${randomUUID()}`;
      await moveTo(partition);
      // An attempt that died after the publication, and one that had read the chunks before the move.
      await publish(chunks);
      await store().addVectors(
        chunks.map(({ chunk_id, partition: old }) => ({ chunkId: chunk_id, partition: old, vector: [0, 1] })),
        'vector_late',
      );
      await store().show();
      const { lexical, dense } = await search({ partitions: [partition] });
      for (const leg of [lexical, dense]) expect(new Set(ids(leg)).size).toBe(5);
      const all = chunks.map(({ chunk_id }) => chunk_id);
      expect((await store().getVectors(all, 'vector_late')).size).toBe(5);
      const listed = await store().listWithVectors(file_key, generation, {
        vectorField: FIELD,
        from: 0,
        limit: 10,
      });
      expect(listed.map(({ vector }) => Math.round(vector![0]! / vector![1]!))).toEqual([0, 1, 2, 3, 4]);
      expect(await store().countChunks(EVERYTHING, partition)).toEqual({ chunks: 5, published: 5 });
      expect((await store().get(all[3]!))?.partition).toBe(partition);
    });

    test('moves at the same time lose no chunk, and the last one has them all, once', async () => {
      const chunks = chunksOf(times(40, (index) => `sieve ${index}`));
      await put(chunks);
      await publish(chunks);
      const { file_key, generation } = chunks[0]!;
      const moveTo = moverOf(chunks);
      for (let round = 0; round < 3; round += 1) {
        const places = times(4, (index) => `place-${index}-${randomUUID()}`);
        await Promise.all(places.map(moveTo));
        const last = places[round]!;
        await moveTo(last);
        const own = (await collect(store().scanGenerations())).filter(({ fileKey }) => fileKey === file_key);
        expect(own).toEqual([{ fileKey: file_key, generation, chunks: 40, published: 40 }]);
        expect(await store().countChunks(EVERYTHING, last)).toEqual({ chunks: 40, published: 40 });
        const read = await store().listByFile(file_key, generation);
        expect(read.map(({ position, partition }) => [position, partition])).toEqual(
          times(40, (position) => [position, last]),
        );
      }
    }, 60_000);

    test('deletes generations but the kept ones, and whole files', async () => {
      const [partition, file_key] = [`p-${randomUUID()}`, randomUUID()];
      const generation = (number: number, count: number) =>
        chunksOf(times(count, String), { partition, file_key, generation: number });
      for (const number of [1, 2, 3, 4]) await put(generation(number, number));
      const other = chunksOf(['another file']);
      await put(other);
      await publish(generation(2, 2));
      const left = async (key: string) =>
        (await collect(store().scanGenerations()))
          .filter(({ fileKey }) => fileKey === key)
          .map((group) => [group.generation, group.chunks, group.published])
          .sort();
      expect(await left(file_key)).toEqual([
        [1, 1, 0],
        [2, 2, 2],
        [3, 3, 0],
        [4, 4, 0],
      ]);
      expect(await store().deleteGenerations(file_key, { keep: [2], upTo: 3 })).toBe(4);
      expect(await store().deleteGenerations(file_key, { keep: [2], upTo: 3 })).toBe(0);
      expect(await left(file_key)).toEqual([
        [2, 2, 2],
        [4, 4, 0],
      ]);
      // Just written and not yet visible to a search, and deleted all the same.
      await put(generation(5, 3));
      expect(await store().deleteFile(file_key)).toBe(9);
      expect(await left(file_key)).toEqual([]);
      expect(await left(other[0]?.file_key ?? '')).toHaveLength(1);
    }, 60_000);

    test('the chunks belong to the record store that asked first, until they are gone or given away', async () => {
      const own = await subject.open();
      await own.store.ensureSchema([{ vectorField: FIELD, dimension: 3 }]);
      expect(await own.store.ownerOf('first')).toBe('first');
      // Nothing is lost with an index that holds nothing.
      expect(await own.store.ownerOf('second')).toBe('second');
      const [chunk] = chunksOf(['one']);
      await own.store.put([{ chunk: chunk!, vector: [1, 0, 0] }], FIELD);
      expect(await own.store.ownerOf('third')).toBe('second');
      expect(await own.store.ownerOf('second')).toBe('second');
      await own.store.giveTo('third');
      expect(await own.store.ownerOf('second')).toBe('third');
      await own.store.ensureSchema([{ vectorField: 'vector_later', dimension: 2 }]);
      expect(await own.store.ownerOf('second')).toBe('third');
      await own.store.deleteFile(chunk!.file_key);
      expect(await own.store.ownerOf('second')).toBe('second');
      await own.close();
    }, 60_000);
  });
}
