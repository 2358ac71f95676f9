import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ChunkStore } from '../../../activities/ports/chunks.js';
import type { StoredChunk } from '../../../schemas/documents/documents.js';
import { sampleChunk, times } from '../samples.js';
import { openSearch, useSubject } from '../subject.js';

const FIELD = 'vector_m';

for (const subject of openSearch())
  describe(`the order of hits (${subject.name})`, () => {
    const store = useSubject<ChunkStore>(subject);
    const partition = (): string => `p-${randomUUID()}`;
    const publish = async (
      chunks: readonly StoredChunk[],
      vectorOf: (chunk: StoredChunk) => number[] = () => [1, 0],
    ) => {
      await store().put(
        chunks.map((chunk) => ({ chunk: { ...chunk, published: true }, vector: vectorOf(chunk) })),
        FIELD,
      );
      await store().show();
    };
    const search = async (asked: string, text: string, size: number) => {
      const { lexical, dense } = await store().searchHybrid({
        scope: { kind: 'all', userId: 1 },
        partitions: [asked],
        text,
        vector: [1, 0],
        vectorField: FIELD,
        size,
      });
      const keys = (hits: typeof lexical) => hits.map(({ chunk }) => chunk.file_key);
      return { lexical, words: keys(lexical), vectors: keys(dense) };
    };
    beforeAll(() => store().ensureSchema([{ vectorField: FIELD, dimension: 2 }]), 60_000);

    test.each([
      ['one word', 'sieve', 5],
      ['words that stand side by side', 'sieve of brass wire', 5],
      ['more hits than there are', 'sieve of brass wire', 100],
    ])('of many that score the same, those come whose place is first: %s', async (_name, text, size) => {
      const name = partition();
      const alike = times(30, () =>
        sampleChunk({ partition: name, file_key: randomUUID(), text: 'A sieve of brass wire.' }),
      );
      const better = sampleChunk({
        partition: name,
        file_key: randomUUID(),
        text: 'Sieve by sieve: a sieve of brass wire.',
      });
      // In segments of their own, whose order is the engine's.
      for (const chunk of [...alike, better])
        await publish([chunk], (each) => (each === better ? [1, 0] : [1, 1]));
      const inPlace = [better.file_key, ...alike.map(({ file_key: key }) => key).sort()].slice(0, size);
      const { words, vectors } = await search(name, text, size);
      expect(words).toEqual(inPlace);
      expect(vectors.slice(1)).toEqual(inPlace.slice(1));
    });

    test('words side by side count more than the same apart', async () => {
      const name = partition();
      const [apart, together] = [
        'The race froze over in the long winter of that mill year.',
        'The mill race froze over in the long winter of that year.',
      ].map((text, place) => sampleChunk({ partition: name, file_key: `${place}-${randomUUID()}`, text }));
      await publish([apart!, together!]);
      const { lexical, words } = await search(name, 'where was the mill race', 2);
      expect(words).toEqual([together!.file_key, apart!.file_key]);
      expect(lexical[0]!.score).toBeGreaterThan(lexical[1]!.score);
    });

    test('stop words find something only where a question has no other words', async () => {
      const name = partition();
      const [about, stops] = ['The long winter.', 'To be or not to be.'].map((text) =>
        sampleChunk({ partition: name, file_key: randomUUID(), text }),
      );
      await publish([about!, stops!]);
      expect((await search(name, 'was the winter to be long', 5)).words).toEqual([about!.file_key]);
      expect((await search(name, 'to be or not to be', 5)).words).toEqual([stops!.file_key]);
    });
  });
