import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ChunkStore } from '../../../activities/ports/chunks.js';
import type { FilterExpression } from '../../../activities/ports/filter.js';
import { matchesFilter } from '../../../activities/retrieval/filter/matches-filter.js';
import { parseFilter } from '../../../activities/retrieval/filter/parse-filter.js';
import { toVersionEntries } from '../../../activities/documents/metadata-entries.js';
import type { StoredChunk } from '../../../schemas/documents/documents.js';
import { createFakeChunkStore } from '../../support/fakes/documents/fake-chunk-store.js';
import { expression, facts, nested, versionFacts } from './random-filters.js';
import { sampleChunk, times, versionOfChunk } from '../samples.js';
import { fake, openSearch, useSubject } from '../subject.js';

const CHUNKS = 150;
const FIELD = 'vector_small';

for (const subject of [fake(createFakeChunkStore), ...openSearch()]) {
  describe(`filters (${subject.name})`, () => {
    const store = useSubject(subject);
    const partition = `p-${randomUUID()}`;
    const file_key = randomUUID();
    let chunks: StoredChunk[];
    beforeAll(async () => {
      chunks = fc
        .sample(fc.tuple(nested, facts, versionFacts), { numRuns: CHUNKS, seed: 20_260_301 })
        .map(([metadata, said, version], position) =>
          sampleChunk({
            partition,
            file_key,
            position,
            text: 'a sieve',
            ...said,
            metadata: toVersionEntries({ metadata, ...version }),
          }),
        );
      await store().ensureSchema([{ vectorField: FIELD, dimension: 3 }]);
      await store().put(
        chunks.map((chunk) => ({ chunk, vector: [1, chunk.position, 0] })),
        FIELD,
      );
      await store().publish(versionOfChunk(chunks[0]!), CHUNKS);
    }, 60_000);

    const find = async (
      filter: FilterExpression,
      overrides: Partial<Parameters<ChunkStore['searchHybrid']>[0]> = {},
    ) => {
      const { lexical, dense } = await store().searchHybrid({
        scope: { kind: 'all', userId: 1 },
        partitions: [partition],
        text: 'sieve',
        filter,
        vector: [1, 1, 0],
        vectorField: FIELD,
        size: CHUNKS,
        ...overrides,
      });
      return [lexical, dense].map((leg) => leg.map(({ chunk }) => chunk.position).sort((a, b) => a - b));
    };

    test('both legs mean by a filter what is written down', async () => {
      let selective = 0;
      await fc.assert(
        fc.asyncProperty(expression, async (filter) => {
          const expected = chunks.flatMap((chunk) => (matchesFilter(chunk, filter) ? chunk.position : []));
          if (expected.length > 0 && expected.length < CHUNKS) selective += 1;
          expect(await find(filter)).toEqual([expected, expected]);
        }),
        { numRuns: 250 },
      );
      // Filters that hold of all or of none would prove little.
      expect(selective).toBeGreaterThan(50);
    }, 60_000);

    test('the costliest filters and the longest texts fit into one query', async () => {
      const many = parseFilter(times(50, (index) => `owner != ${index}`).join(' or '));
      const words = times(300, (index) => `word${index} id-${index}.7`).join(' ');
      await find(many, { text: `sieve ${words}` });
      await find(parseFilter(`a in [${times(500, String).join(',')}]`));
      await find(parseFilter(`owner like "%${'ab'.repeat(128)}"`));
      await find(parseFilter(`owner like "%${times(15, () => 'a'.repeat(16)).join('%')}%"`));
      await find(parseFilter(`owner like "${'a'.repeat(256)}%"`));
      await find(parseFilter(`${'not '.repeat(32)}owner == 1`));
    });

    test('a chunk is found by its own id', async () => {
      const [first, second] = chunks.map(({ chunk_id }) => chunk_id);
      expect(await find(parseFilter(`_id == "${first}"`))).toEqual([[0], [0]]);
      expect(await find(parseFilter(`_id in ["${first}", "${second}", "*", 7]`))).toEqual([
        [0, 1],
        [0, 1],
      ]);
      for (const others of [`_id != "${first}"`, `_id not in ["${first}"]`, `not (_id == "${first}")`]) {
        const [lexical] = await find(parseFilter(others));
        expect([others, lexical?.length, lexical?.[0]]).toEqual([others, CHUNKS - 1, 1]);
      }
      expect(await find(parseFilter('_id == 1'))).toEqual([[], []]);
    });

    test('a literal cannot leave its place', async () => {
      for (const value of ['*', '?', 'a*', '\\*', '*" or 1', '} }', '%'])
        expect(
          await find({
            kind: 'compare',
            field: 'relationship_id',
            operator: '==',
            value: { kind: 'text', value },
          }),
        ).toEqual([[], []]);
      for (const part of ['*', 'a*c', '?bc', '\\'])
        expect(await find({ kind: 'like', field: 'relationship_id', pattern: [part, '', ''] })).toEqual([
          [],
          [],
        ]);
    });
  });
}
