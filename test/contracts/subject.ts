import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import type { Db } from 'mongodb';
import { ensureIndexes } from '../../activities/stores/mongo/ensure-indexes.js';
import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import { createOpenSearchChunkStore } from '../../activities/stores/opensearch/chunk-store.js';
import type { ChunkStore } from '../../activities/ports/chunks.js';
import { connectWatched } from '../support/mongo-rules/watched-connection.js';

/** A store that a contract suite runs on, and how to make a fresh one. */
export interface Subject<Store> {
  name: string;
  open(): Promise<{ store: Store; close(): Promise<void> }>;
}

/** Set on purpose only: a suite that silently skips the real store proves nothing. */
const fakesOnly = process.env['TAMIS_FAKES_ONLY'] === '1';

function required(variable: string): string {
  const value = process.env[variable];
  if (value === undefined || value === '')
    throw new Error(
      `${variable} is not set: run the suite through "npm test", or with TAMIS_FAKES_ONLY=1 on the fakes alone.`,
    );
  return value;
}

function randomName(prefix: string): string {
  return `${prefix}${randomBytes(6).toString('hex')}`;
}

export function fake<Store>(create: () => Store): Subject<Store> {
  return {
    name: 'fake',
    open: async () => ({ store: create(), close: async () => {} }),
  };
}

/**
 * A database of its own, dropped afterwards. Closing it fails when a command was sent that MongoDB 7 or 8 would refuse,
 * whatever the server of this run made of it.
 */
export async function openTestDatabase(): Promise<{ db: Db; close(): Promise<void> }> {
  const mongo = await connectWatched({ url: required('MONGODB_URL'), database: randomName('tamis-test-') });
  await ensureIndexes(mongo.db);
  const close = async (): Promise<void> => {
    await mongo.db.dropDatabase();
    await mongo.close();
    const refused = mongo.refused();
    if (refused.length > 0) throw new Error(`MongoDB would refuse:\n${refused.join('\n')}`);
  };
  let closed: Promise<void> | undefined;
  return {
    db: mongo.db,
    close: () => (closed ??= close()),
  };
}

/** An index prefix of its own, its index deleted afterwards. */
export async function openTestIndex(layout: { shards?: number } = {}): Promise<{
  store: ChunkStore;
  /** A request on the index itself. */
  request(method: string, path: string, body?: object): Promise<unknown>;
  close(): Promise<void>;
}> {
  const opensearch = connectOpenSearch({ url: required('OPENSEARCH_URL') });
  const indexPrefix = randomName('tamis-test-');
  return {
    store: createOpenSearchChunkStore(opensearch.client, { indexPrefix, ...layout }),
    request: (method, path, body) =>
      opensearch.client.request(
        method,
        `/${indexPrefix}chunks-v3${path}`,
        body === undefined ? {} : { body },
      ),
    async close() {
      await opensearch.client.request('DELETE', `/${indexPrefix}chunks-v3`, {
        query: { ignore_unavailable: true },
      });
      await opensearch.close();
    },
  };
}

export function mongo<Store>(create: (db: Db) => Store, name = 'MongoDB'): Subject<Store>[] {
  return fakesOnly
    ? []
    : [
        {
          name,
          async open() {
            const { db, close } = await openTestDatabase();
            return { store: create(db), close };
          },
        },
      ];
}

export function openSearch(): { name: string; open: () => ReturnType<typeof openTestIndex> }[] {
  return fakesOnly
    ? []
    : [
        { name: 'OpenSearch', open: () => openTestIndex() },
        { name: 'OpenSearch with five shards', open: () => openTestIndex({ shards: 5 }) },
      ];
}

/** Opens the subject around the tests of the enclosing `describe`; the answer gives the store inside a test. */
export function useSubject<Store>(subject: Subject<Store>): () => Store {
  let opened: Awaited<ReturnType<Subject<Store>['open']>> | undefined;
  beforeAll(async () => {
    opened = await subject.open();
  }, 60_000);
  afterAll(async () => {
    await opened?.close();
  }, 60_000);
  return () => {
    if (opened === undefined) throw new Error('the store was not opened');
    return opened.store;
  };
}
