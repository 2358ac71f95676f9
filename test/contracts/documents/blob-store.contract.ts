import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { BlobInfo, BlobStore } from '../../../activities/ports/files.js';
import { collect } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

const MIB = 1024 * 1024;

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function bytesOf(source: Readable): Promise<Buffer> {
  return Buffer.concat((await collect(source)) as Buffer[]);
}

export function blobOf(overrides: Partial<Pick<BlobInfo, 'blobId' | 'fileKey' | 'taskId' | 'kind'>> = {}) {
  return {
    blobId: randomUUID(),
    kind: 'upload' as BlobInfo['kind'],
    fileKey: randomUUID(),
    generation: 1,
    taskId: randomUUID(),
    ...overrides,
  };
}

/** Bytes in fragments of any length. */
function inFragments(bytes: Buffer, size: number): Readable {
  return Readable.from(
    (function* () {
      for (let offset = 0; offset < bytes.length; offset += size) yield bytes.subarray(offset, offset + size);
    })(),
    { objectMode: false },
  );
}

/** What every blob store promises: there once complete, and not before. */
export function blobStoreContract(subject: Subject<BlobStore>): void {
  describe(`blob store (${subject.name})`, () => {
    const store = useSubject(subject);

    test.each([0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB, 3 * MIB + 12_345])('keeps %i bytes', async (size) => {
      const bytes = randomBytes(size);
      const blob = blobOf();
      expect(await store().write(blob, inFragments(bytes, 70_001))).toEqual({ size, sha256: sha256(bytes) });
      expect((await bytesOf(await store().read(blob.blobId))).equals(bytes)).toBe(true);
      expect(await store().info(blob.blobId)).toEqual({ ...blob, size, createdAt: expect.any(Date) });
    });

    test.each([0, 1, 5000, 65_535, 65_536, MIB, MIB + 1])(
      'keeps %i bytes that are no upload',
      async (size) => {
        const bytes = randomBytes(size);
        const blob = await written(bytes, { kind: 'chunks' });
        expect((await bytesOf(await store().read(blob.blobId))).equals(bytes)).toBe(true);
        const range = { start: 3, end: 4999 };
        expect((await bytesOf(await store().read(blob.blobId, range))).equals(bytes.subarray(3, 4999))).toBe(
          true,
        );
        expect(await store().info(blob.blobId)).toEqual({ ...blob, size, createdAt: expect.any(Date) });
        expect(await store().listByFile(blob.fileKey)).toEqual([
          { ...blob, size, createdAt: expect.any(Date) },
        ]);
        // Written once more, as a step that is repeated does.
        const again = randomBytes(MIB - Math.floor(size / 2));
        await store().write(blob, inFragments(again, 65_536));
        expect((await bytesOf(await store().read(blob.blobId))).equals(again)).toBe(true);
        await store().write(blob, inFragments(bytes, 65_536));
        expect((await bytesOf(await store().read(blob.blobId))).equals(bytes)).toBe(true);
        await store().remove(blob.blobId);
        await nothingIsLeft(blob.blobId);
        expect(await store().listByFile(blob.fileKey)).toEqual([]);
      },
    );

    test('reads ranges, across the parts it is kept in', async () => {
      const bytes = randomBytes(2 * MIB + 500);
      const { blobId } = await written(bytes);
      for (const [start, end] of [
        [0, 1],
        [MIB - 1, MIB + 1],
        [MIB, MIB],
        [MIB, 2 * MIB],
        [5, 2 * MIB + 100],
        [2 * MIB + 400, 99 * MIB],
        [99 * MIB, 100 * MIB],
      ] as const) {
        const range = await bytesOf(await store().read(blobId, { start, end }));
        expect(range.equals(bytes.subarray(start, end))).toBe(true);
      }
    });

    test('a reader may leave early', async () => {
      const { blobId } = await written(randomBytes(3 * MIB));
      const reader = await store().read(blobId);
      for await (const fragment of reader) {
        expect((fragment as Buffer).length).toBeGreaterThan(0);
        break;
      }
      expect(reader.destroyed).toBe(true);
    });

    test('knows nothing of a blob that is not there', async () => {
      await expect(store().read('none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(await store().info('none')).toBeNull();
      await store().remove('none');
      await store().assign('none', { fileKey: 'x', generation: 1 });
    });

    const nothingIsLeft = async (blobId: string) => {
      expect(await store().info(blobId)).toBeNull();
      await expect(store().read(blobId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(await store().removeIncomplete(new Date(Date.now() + 60_000))).toBe(0);
    };

    const written = async (bytes: Buffer, overrides: Parameters<typeof blobOf>[0] = {}) => {
      const blob = blobOf(overrides);
      await store().write(blob, inFragments(bytes, 65_536));
      return blob;
    };

    test('a source that is destroyed in the middle leaves nothing', async () => {
      const blob = blobOf();
      const source = new PassThrough();
      source.write(randomBytes(2 * MIB + 1));
      const writing = store().write(blob, source);
      setTimeout(() => source.destroy(), 100);
      await expect(writing).rejects.toThrow();
      await nothingIsLeft(blob.blobId);
    });

    test('a source that fails leaves nothing, and its error is the answer', async () => {
      const blob = blobOf();
      const source = new PassThrough();
      source.write(randomBytes(MIB));
      const writing = store().write(blob, source);
      setTimeout(() => source.destroy(new Error('the client has gone')), 50);
      await expect(writing).rejects.toThrow('the client has gone');
      const failed = new PassThrough();
      failed.destroy(new Error('gone before it began'));
      await expect(store().write(blob, failed)).rejects.toThrow('gone before it began');
      await nothingIsLeft(blob.blobId);
    });

    test('an abort leaves nothing, and its reason is the answer', async () => {
      const blob = blobOf();
      const source = new PassThrough();
      source.write(randomBytes(2 * MIB));
      const controller = new AbortController();
      const writing = store().write(blob, source, controller.signal);
      setTimeout(() => controller.abort(new Error('stop it')), 100);
      await expect(writing).rejects.toThrow('stop it');
      const late = store().write(blob, Readable.from([]), AbortSignal.abort(new Error('too late')));
      await expect(late).rejects.toThrow('too late');
      await nothingIsLeft(blob.blobId);
    });

    test('a blob is not there before it is complete', async () => {
      const blob = blobOf();
      const source = new PassThrough();
      source.write(randomBytes(2 * MIB));
      const writing = store().write(blob, source);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await store().info(blob.blobId)).toBeNull();
      // Older than nothing: a write under way is not taken for a dead one.
      expect(await store().removeIncomplete(new Date(Date.now() - 60_000))).toBe(0);
      source.end('end');
      expect((await writing).size).toBe(2 * MIB + 3);
      expect(await store().info(blob.blobId)).not.toBeNull();
    });

    test('writing a blob again replaces it', async () => {
      const blob = await written(Buffer.from('the first attempt, whose answer was lost'));
      const again = Buffer.from('the second attempt');
      expect(await store().write(blob, inFragments(again, 4))).toEqual({
        size: again.length,
        sha256: sha256(again),
      });
      expect((await bytesOf(await store().read(blob.blobId))).toString()).toBe('the second attempt');
      await nothingIsLeft('none');
    });

    test('two attempts at once never mix', async () => {
      const blob = blobOf();
      const versions = [randomBytes(2 * MIB), randomBytes(2 * MIB + 7)];
      await Promise.all(versions.map((bytes) => store().write(blob, inFragments(bytes, 50_000))));
      const kept = await bytesOf(await store().read(blob.blobId));
      expect(versions.some((bytes) => bytes.equals(kept))).toBe(true);
      await nothingIsLeft('none');
    });

    test('is assigned to a file, listed by it, scanned, and removed', async () => {
      const fileKey = randomUUID();
      const blob = await written(Buffer.from('words'), { fileKey: 'unassigned' });
      const other = await written(Buffer.from('other words'));
      await store().assign(blob.blobId, { fileKey, generation: 7 });
      const expected = { ...blob, fileKey, generation: 7, size: 5, createdAt: expect.any(Date) };
      expect(await store().listByFile(fileKey)).toEqual([expected]);
      const ids = (await collect(store().scan())).map(({ blobId }) => blobId);
      expect(ids).toEqual(expect.arrayContaining([blob.blobId, other.blobId]));
      await store().remove(blob.blobId);
      expect(await store().listByFile(fileKey)).toEqual([]);
      expect(await store().info(other.blobId)).not.toBeNull();
      await nothingIsLeft(blob.blobId);
    });
  });
}
