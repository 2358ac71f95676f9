import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Binary, ObjectId } from 'mongodb';
import {
  blobCollections,
  INLINE_BYTES,
} from '../../../activities/stores/mongo/documents/blob-collections.js';
import { createMongoBlobStore } from '../../../activities/stores/mongo/documents/blob-store.js';
import { createFakeBlobStore } from '../../support/fakes/documents/fake-blob-store.js';
import { blobOf, blobStoreContract } from './blob-store.contract.js';
import { until } from '../../support/until.js';
import { fake, mongo, openTestDatabase } from '../subject.js';

for (const subject of [fake(createFakeBlobStore), ...mongo(createMongoBlobStore)]) blobStoreContract(subject);

const MIB = 1024 * 1024;
const withRealStore = process.env['TAMIS_FAKES_ONLY'] === '1' ? describe.skip : describe;

withRealStore('blobs in GridFS', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  beforeAll(async () => {
    opened = await openTestDatabase();
  }, 60_000);
  afterAll(() => opened.close(), 60_000);

  /** What a gateway that was killed in the middle of an upload leaves. */
  const plantRemains = async (touchedAt: Date): Promise<ObjectId> => {
    const { chunks, writes } = blobCollections(opened.db);
    const filesId = new ObjectId();
    await writes.insertOne({
      _id: filesId,
      blob_id: filesId.toHexString(),
      touched_at: touchedAt,
      chunks: 32,
    });
    for (const n of [0, 1, 2])
      await chunks.insertOne({
        _id: new ObjectId(),
        files_id: filesId,
        n,
        data: new Binary(Buffer.from('x')),
      });
    return filesId;
  };

  test('keeps what is small in one document, and what is larger in chunks', async () => {
    const store = createMongoBlobStore(opened.db);
    const { files, chunks, writes } = blobCollections(opened.db);
    const small = [blobOf({ kind: 'chunks' }), blobOf()];
    const large = blobOf();
    for (const blob of small) await store.write(blob, Readable.from([Buffer.from('small')]));
    await store.write(large, Readable.from([randomBytes(INLINE_BYTES)]));
    expect(await files.countDocuments({})).toBe(3);
    expect(await writes.countDocuments({})).toBe(0);
    const owner = await files.findOne({ filename: large.blobId });
    expect(await chunks.distinct('files_id')).toEqual([owner!._id]);
    for (const { blobId } of [...small, large]) await store.remove(blobId);
    for (const collection of [files, chunks, writes])
      expect(await (collection as typeof files).countDocuments({})).toBe(0);
  });

  test('removes what a killed process left, and nothing that still grows', async () => {
    const store = createMongoBlobStore(opened.db);
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const dead = await plantRemains(minutesAgo(110));
    const slow = await plantRemains(minutesAgo(5));
    const { chunks, writes } = blobCollections(opened.db);
    expect(await store.removeIncomplete(minutesAgo(60))).toBe(1);
    expect(await chunks.countDocuments({ files_id: dead })).toBe(0);
    expect(await chunks.countDocuments({ files_id: slow })).toBe(3);
    expect(await store.removeIncomplete(minutesAgo(1))).toBe(1);
    expect(await chunks.countDocuments({})).toBe(0);
    expect(await writes.countDocuments({})).toBe(0);
  });

  test('a write that was taken for dead cannot complete', async () => {
    const store = createMongoBlobStore(opened.db);
    const blob = blobOf();
    let swept = 0;
    const source = Readable.from(
      (async function* () {
        yield randomBytes(2 * MIB);
        const { writes } = blobCollections(opened.db);
        await until('the write has begun', async () => (await writes.countDocuments({})) === 1);
        swept = await store.removeIncomplete(new Date(Date.now() + 60_000));
        yield randomBytes(MIB);
      })(),
      { objectMode: false },
    );
    await expect(store.write(blob, source)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    expect(swept).toBe(1);
    expect(await store.info(blob.blobId)).toBeNull();
    expect(await blobCollections(opened.db).chunks.countDocuments({})).toBe(0);
  });

  test('100 MB there and back in flat memory', async () => {
    const store = createMongoBlobStore(opened.db);
    const blob = blobOf();
    const chunk = randomBytes(64 * 1024);
    const count = 1_600;
    const expected = createHash('sha256');
    for (let index = 0; index < count; index += 1) expected.update(chunk);
    const digest = expected.digest('hex');

    const before = process.memoryUsage().rss;
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss - before)), 20);
    const source = Readable.from(
      (function* () {
        for (let index = 0; index < count; index += 1) yield chunk;
      })(),
      { objectMode: false },
    );
    expect(await store.write(blob, source)).toEqual({ size: count * chunk.length, sha256: digest });
    const hash = createHash('sha256');
    for await (const bytes of await store.read(blob.blobId)) hash.update(bytes as Buffer);
    clearInterval(watch);
    expect(hash.digest('hex')).toBe(digest);
    expect(peak).toBeLessThan(70 * MIB);
    await store.remove(blob.blobId);
    expect(await blobCollections(opened.db).chunks.countDocuments({})).toBe(0);
  }, 120_000);
});
