import { describe, expect, test } from '@jest/globals';
import {
  assertMapping,
  chunkMapping,
  indexSettings,
  vectorMapping,
} from '../../../activities/stores/opensearch/mapping.js';
import { toSource } from '../../../activities/stores/opensearch/chunk-document.js';
import { connectOpenSearch } from '../../../activities/stores/opensearch/connect-opensearch.js';
import type { OpenSearchClient } from '../../../activities/stores/opensearch/connect-opensearch.js';
import { ensureSegmentSearch } from '../../../activities/stores/opensearch/segment-search.js';
import { AppError } from '../../../schemas/app-error.js';
import { AccessProblem } from '../../../schemas/engine-access.js';
import { createOpenSearchChunkStore } from '../../../activities/stores/opensearch/chunk-store.js';
import type { LooseBody } from '../../api/support/loose-body.js';
import { createFakeChunkStore } from '../../support/fakes/documents/fake-chunk-store.js';
import { chunkStoreContract } from './chunk-store.contract.js';
import { collect, sampleChunk, versionOfChunk } from '../samples.js';
import { fake, openSearch } from '../subject.js';

for (const subject of [fake(createFakeChunkStore), ...openSearch()]) chunkStoreContract(subject);

describe('mappings are checked before they are sent', () => {
  const withVector = (vector: object) => ({ properties: { ...chunkMapping.properties, vector } });

  test('ours pass', () => {
    expect(() => assertMapping(withVector(vectorMapping(1024)))).not.toThrow();
  });

  test.each([
    ['no method', { type: 'knn_vector', dimension: 3 }],
    ['another engine', { type: 'knn_vector', dimension: 3, method: { name: 'hnsw', engine: 'faiss' } }],
    ['no dimension', { ...vectorMapping(1), dimension: undefined }],
    ['dimension 0', vectorMapping(0)],
    ['dimension 16,001', vectorMapping(16_001)],
    ['a broken one', vectorMapping(1.5)],
    ['one inside an object', { properties: { deep: { type: 'knn_vector', dimension: 3 } } }],
  ])('refused: %s', (_name, vector) => {
    expect(() => assertMapping(withVector(vector))).toThrow();
  });
});

function otherReleases({ name, open }: ReturnType<typeof openSearch>[number]): void {
  describe(`an index of another release (${name})`, () => {
    const fields = [{ vectorField: 'v', dimension: 2 }];
    const openIndex = async () => {
      const opened = await open();
      const version = async (): Promise<unknown> => {
        const answer = (await opened.request('GET', '/_mapping')) as Record<string, LooseBody>;
        return Object.values(answer)[0].mappings._meta?.schema_version;
      };
      return { ...opened, version };
    };

    test('an older one is left as it is, and serves again once it is migrated', async () => {
      const { store, close, request, version } = await openIndex();
      await request('PUT', '', { mappings: { _meta: { schema_version: 2 }, dynamic: 'strict' } });
      const behind = { code: 'VDB_SCHEMA_MIGRATION_REQUIRED', details: { stored_schema_version: 2 } };
      await expect(store.ensureSchema(fields)).rejects.toMatchObject(behind);
      const search = () =>
        store.searchHybrid({
          scope: { kind: 'all', userId: 1 },
          partitions: 'all',
          text: 'x',
          vector: [1, 0],
          vectorField: 'v',
          size: 1,
        });
      await expect(store.requireSchema()).rejects.toMatchObject(behind);
      await expect(search()).rejects.toMatchObject(behind);
      await expect(store.put([], 'v')).rejects.toMatchObject(behind);
      expect(await store.get('any')).toBeNull();
      expect(await store.deleteFile('any')).toBe(0);
      expect(await version()).toBe(2);
      // What a migration ends with.
      await request('DELETE', '');
      await store.requireSchema();
      expect(await search()).toEqual({ lexical: [], dense: [] });
      expect(await version()).toBe(3);
      await close();
    });

    test('one that weighs words by the whole index weighs them by the partitions searched, also after a crash', async () => {
      const { store, close, request } = await openIndex();
      const { similarity: _, ...settings } = indexSettings;
      await request('PUT', '', { settings, mappings: chunkMapping });
      await store.ensureSchema(fields);
      const chunks = ['mill', 'stone'].map((text, position) =>
        sampleChunk({ partition: 'p', file_key: 'f', text, position }),
      );
      await store.put(
        chunks.map((chunk) => ({ chunk, vector: [1, 0] })),
        'v',
      );
      await store.publish(versionOfChunk(chunks[0]!), 2);
      const search = () =>
        store.searchHybrid({
          scope: { kind: 'all', userId: 1 },
          partitions: ['p'],
          text: 'mill',
          vector: [1, 0],
          vectorField: 'v',
          size: 2,
        });
      const found = await search();
      expect(found.lexical).toHaveLength(1);
      // Closed by a process that died before it opened the index again.
      await request('POST', '/_close');
      await Promise.all([1, 2, 3].map(() => store.ensureSchema(fields)));
      expect(await search()).toEqual(found);
      const answer = (await request('GET', '/_settings')) as Record<string, LooseBody>;
      expect(Object.values(answer)[0].settings.index.similarity.default.type).toBe('scripted');
      await close();
    }, 60_000);

    test('one that a single thread searched is searched by several', async () => {
      const { store, close, request } = await openIndex();
      await request('PUT', '', { settings: indexSettings, mappings: chunkMapping });
      const searchedBy = async (): Promise<LooseBody> => {
        const answer = (await request('GET', '/_settings')) as Record<string, LooseBody>;
        return Object.values(answer)[0].settings.index.search;
      };
      expect(await searchedBy()).toBeUndefined();
      await Promise.all([1, 2].map(() => store.ensureSchema(fields)));
      expect(await searchedBy()).toEqual({
        concurrent: { max_slice_count: '2' },
        concurrent_segment_search: { mode: 'all' },
      });
      await close();
    });

    test.each([
      ['an earlier release stored as they came', vectorMapping(2), [3, 4]],
      ['this release stores at unit length', vectorMapping(2, { unit: true }), [0.6, 0.8]],
    ])('vectors that %s are compared by their direction', async (_name, mapping, held) => {
      const { store, close, request } = await openIndex();
      await request('PUT', '', {
        settings: indexSettings,
        mappings: { ...chunkMapping, properties: { ...chunkMapping.properties, v: mapping } },
      });
      await store.ensureSchema(fields);
      const [stored, written, opposite] = [0, 1, 2].map((position) =>
        sampleChunk({ partition: 'p', file_key: 'f', position, published: true }),
      );
      const source = toSource({ chunk: stored!, vector: [1, 0] }, 'v');
      await request('PUT', `/_doc/${stored!.chunk_id}`, { ...source, v: held });
      await store.put([{ chunk: written!, vector: [0, 7] }], 'v');
      await store.put([{ chunk: opposite!, vector: [-5, 0] }], 'v');
      await store.show();
      const { dense } = await store.searchHybrid({
        scope: { kind: 'all', userId: 1 },
        partitions: ['p'],
        text: 'x',
        vector: [2, 0],
        vectorField: 'v',
        size: 3,
      });
      expect(dense.map(({ chunk, score }) => [chunk.position, score])).toEqual([
        [0, expect.closeTo(0.6)],
        [1, expect.closeTo(0)],
        [2, expect.closeTo(-1)],
      ]);
      await close();
    });

    test('one that is missing is named by whatever reads, and made anew before anything is written', async () => {
      const { store, close, request } = await openIndex();
      await store.ensureSchema(fields);
      await request('DELETE', '');
      const reads = [
        store.searchHybrid({
          scope: { kind: 'all', userId: 1 },
          partitions: 'all',
          text: 'x',
          vector: [1, 0],
          vectorField: 'v',
          size: 1,
        }),
        store.get('any'),
        store.listByFile('any', 1),
        store.countChunks({ kind: 'all', userId: 1 }, 'p'),
        collect(store.scanChunks([1])),
      ];
      for (const read of await Promise.allSettled(reads))
        expect(read).toMatchObject({
          status: 'rejected',
          reason: { code: 'VDB_COLLECTION_ERROR', status: 422 },
        });
      await expect(store.deleteFile('any')).rejects.toMatchObject({ code: 'VDB_ERROR', retryable: true });
      await store.ensureSchema(fields);
      expect(await store.get('any')).toBeNull();
      await close();
    });

    test('one that goes missing within a minute is made anew by what is written', async () => {
      const { store, close, request, version } = await openIndex();
      await store.ensureField(fields[0]!);
      await request('DELETE', '');
      await store.ensureField(fields[0]!);
      const chunk = sampleChunk({ partition: 'p', file_key: 'f', text: 'mill', position: 0 });
      await store.put([{ chunk, vector: [1, 0] }], 'v');
      await store.show();
      expect(await store.get(chunk.chunk_id)).toMatchObject({ text: 'mill' });
      expect(await version()).toBe(3);
      await close();
    });

    test('one without a version gets ours, and a newer one keeps its own', async () => {
      const { store, close, request, version } = await openIndex();
      await store.ensureSchema(fields);
      await request('PUT', '/_mapping', { _meta: {} });
      expect(await version()).toBeUndefined();
      await store.ensureSchema(fields);
      expect(await version()).toBe(3);
      await request('PUT', '/_mapping', { _meta: { schema_version: 4 } });
      await expect(store.ensureSchema(fields)).rejects.toMatchObject({ code: 'VDB_COLLECTION_ERROR' });
      expect(await version()).toBe(4);
      await close();
    });
  });
}

openSearch().forEach(otherReleases);

function keysOfClients({ name, open }: ReturnType<typeof openSearch>[number]): void {
  test(`whatever keys clients think of, mapping and cluster state stay as they are (${name})`, async () => {
    const { store, close, request } = await open();
    try {
      await store.ensureSchema([{ vectorField: 'v', dimension: 2 }]);
      const mapping = () => request('GET', '/_mapping');
      const before = await mapping();
      for (let file = 1; file <= 20; file += 1) {
        const metadata = Array.from({ length: 256 }, (_, index) => ({
          key: `key ${file}.${index}`,
          text: `value ${index}`,
        }));
        const chunk = sampleChunk({ generation: file, metadata });
        await store.put([{ chunk, vector: [1, file] }], 'v');
        await store.publish(versionOfChunk(chunk), 1);
      }
      expect(await mapping()).toEqual(before);
      const stats = (await request('GET', '/_stats/docs')) as LooseBody;
      expect(stats._all.primaries.docs.count).toBeLessThanOrEqual(20 * 257);
    } finally {
      await close();
    }
  }, 60_000);
}

openSearch().forEach(keysOfClients);

describe('an engine that is told to search by several threads', () => {
  const refusing = (error: unknown): OpenSearchClient => ({
    async request() {
      throw error;
    },
  });
  const notAllowed = new AccessProblem('OPENSEARCH_URL: this user may not do that.');

  test.each([
    ['does not know the setting', new AppError('VDB_ERROR')],
    ['allows nobody to set it', new AppError('VDB_CONNECTION_ERROR', undefined, { cause: notAllowed })],
  ])('goes on by one where it %s', async (_name, error) => {
    await expect(ensureSegmentSearch(refusing(error), 'chunks', {})).resolves.toBeUndefined();
  });

  test('is asked again where it was away', async () => {
    const away = new AppError('VDB_CONNECTION_ERROR');
    await expect(ensureSegmentSearch(refusing(away), 'chunks', {})).rejects.toBe(away);
  });
});

describe('an engine that is away', () => {
  test('is VDB_CONNECTION_ERROR, retryable', async () => {
    const connection = connectOpenSearch({ url: 'http://127.0.0.1:9' });
    const store = createOpenSearchChunkStore(connection.client, { indexPrefix: 'none-' });
    const away = { code: 'VDB_CONNECTION_ERROR', retryable: true };
    await expect(connection.ping()).rejects.toMatchObject(away);
    await expect(store.get('x')).rejects.toMatchObject(away);
    await expect(store.deleteFile('x')).rejects.toMatchObject(away);
    await connection.close();
  });
});
