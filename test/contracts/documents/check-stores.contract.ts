import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { checkStores, DRIFT_KINDS } from '../../../activities/documents/clean-up/check-stores.js';
import type { Adapters } from '../../../activities/ports/adapters.js';
import { sampleChunk, sampleTask, sampleUpload, sampleVersion, times, versionOfChunk } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

export type CheckedStores = Pick<
  Adapters,
  'partitions' | 'files' | 'tasks' | 'quotas' | 'claims' | 'blobs' | 'chunks'
>;

const FIELD = 'vector_small';
const PARTITION = 'library';

/** The checker finds nothing in a healthy state, and each kind of drift where it was planted. */
export function checkStoresContract(subject: Subject<CheckedStores>): void {
  describe(`store checker (${subject.name})`, () => {
    const stores = useSubject(subject);
    let generation = 0;
    let key: string | undefined;
    beforeAll(async () => {
      await stores().chunks.ensureSchema([{ vectorField: FIELD, dimension: 2 }]);
      const made = await stores().partitions.create({ partition: PARTITION, embedder: 'small', ownerId: 1 });
      key = made.partition_key;
    }, 60_000);
    const partitionKey = (): string => key ?? '';

    const check = (deduplicate = true) => checkStores(stores(), { deduplicate });
    const kinds = async () => (await check()).map(({ kind }) => kind).sort();

    const putChunks = (fileKey: string, ofGeneration: number, count: number, from = 0) =>
      stores().chunks.put(
        times(count, (index) => ({
          chunk: sampleChunk({ file_key: fileKey, generation: ofGeneration, position: from + index }),
          vector: [1, 0],
        })),
        FIELD,
      );

    const chunkVersionOf = ({ file_key, generation }: { file_key: string; generation: number }) =>
      versionOfChunk(sampleChunk({ file_key, generation }));

    const writeBlob = (blobId: string, kind: 'upload' | 'chunks', taskId: string, words: string) =>
      stores().blobs.write(
        { blobId, kind, fileKey: 'unassigned', generation: 0, taskId },
        Readable.from([words]),
      );

    /** Admits a file or a new version of one, as the gateway does. */
    const admit = async (fileKey: string = randomUUID(), fileId = `file-${fileKey}`) => {
      generation += 1;
      const words = `the bytes of generation ${generation}`;
      const upload = sampleUpload({
        size_bytes: words.length,
        content_sha256: createHash('sha256').update(words).digest('hex'),
      });
      const file = { file_key: fileKey, partition: PARTITION, file_id: fileId };
      const task = sampleTask({ ...file, generation, upload });
      const taskId = task.task_id;
      await writeBlob(upload.upload_id, 'upload', taskId, words);
      await stores().tasks.insert(task);
      const replaced = await stores().files.admitReplacement({ fileKey, taskId, generation });
      if (replaced.outcome === 'gone')
        await stores().files.admitFirst({
          fileKey,
          partition: PARTITION,
          partitionKey: partitionKey(),
          fileId,
          userId: 1,
          taskId,
          generation,
        });
      await stores().claims.claim({
        partition: PARTITION,
        digest: upload.content_sha256,
        fileKey,
        fileId,
        taskId,
      });
      return task;
    };

    /** A file that is indexed, published and cleaned up after. */
    const indexed = async () => {
      const task = await admit();
      await putChunks(task.file_key, task.generation, 3);
      await stores().chunks.publish(chunkVersionOf(task), 3);
      const version = { ...task.upload, generation: task.generation, task_id: task.task_id, chunk_count: 3 };
      await stores().files.publish(task.file_key, task.task_id, sampleVersion(version));
      await stores().tasks.finish(task.task_id, 'COMPLETED');
      await stores().tasks.markCleaned(task.file_key, task.generation);
      return task;
    };

    /** Undoes what a test planted, so that the next one starts from a healthy state. */
    const removeFile = async (task: { file_key: string; file_id: string }) => {
      for (const { task_id, upload } of await stores().tasks.listByFile(task.file_key)) {
        await stores().blobs.remove(upload.upload_id);
        await stores().claims.release([task_id]);
        await stores().tasks.remove(task_id);
      }
      await stores().chunks.deleteFile(task.file_key);
      await stores().claims.releaseFiles([task.file_key]);
      await stores().files.markDeleted(PARTITION, task.file_id);
      await stores().files.removeTombstone(task.file_key);
    };

    test('finds nothing in a healthy state, work in progress included', async () => {
      const live = await indexed();
      const first = await admit();
      await stores().quotas.reserve({ userId: 1, taskId: first.task_id, room: 1, turn: 0 });
      await putChunks(first.file_key, first.generation, 2);
      await writeBlob(`${first.task_id}.chunks`, 'chunks', first.task_id, 'chunk list');
      const replaced = await indexed();
      const second = await admit(replaced.file_key, replaced.file_id);
      await putChunks(second.file_key, second.generation, 1);
      expect(await check()).toEqual([]);
      await stores().blobs.remove(`${first.task_id}.chunks`);
      await stores().quotas.release([first.task_id]);
      for (const task of [live, first, replaced]) await removeFile(task);
      expect(await check()).toEqual([]);
    });

    /** Each plants its drift in an indexed file, and answers how to take away what `removeFile` does not. */
    type Task = Awaited<ReturnType<typeof indexed>>;
    // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- most have nothing to take away
    const planted: Record<string, [string[], (task: Task) => Promise<void | (() => Promise<void>)>]> = {
      'a lost chunk': [
        ['chunk-count'],
        async (task) => {
          await stores().chunks.deleteFile(task.file_key);
          await putChunks(task.file_key, task.generation, 2);
          await stores().chunks.publish(chunkVersionOf(task), 2);
        },
      ],
      'all chunks lost': [
        ['chunk-count'],
        async (task) => {
          await stores().chunks.deleteFile(task.file_key);
        },
      ],
      'a chunk too many': [['chunk-count'], (task) => putChunks(task.file_key, task.generation, 1, 3)],
      'chunks of an old generation': [
        ['stale-chunks'],
        (task) => putChunks(task.file_key, task.generation - 1, 1),
      ],
      'chunks of an unknown file': [
        ['orphan-chunks'],
        async () => {
          const fileKey = randomUUID();
          await putChunks(fileKey, 1, 1);
          return async () => {
            await stores().chunks.deleteFile(fileKey);
          };
        },
      ],
      'a lost upload': [['upload-missing'], (task) => stores().blobs.remove(task.upload.upload_id)],
      'an upload of another size': [
        ['upload-size'],
        async (task) => {
          await stores().blobs.remove(task.upload.upload_id);
          await writeBlob(task.upload.upload_id, 'upload', task.task_id, 'short');
        },
      ],
      'an upload without an owner': [
        ['orphan-blob'],
        async () => {
          await writeBlob('stray-upload', 'upload', randomUUID(), 'words');
          return () => stores().blobs.remove('stray-upload');
        },
      ],
      'a chunk list left behind': [
        ['orphan-blob'],
        async (task) => {
          await writeBlob('stray-list', 'chunks', task.task_id, 'chunk list');
          return () => stores().blobs.remove('stray-list');
        },
      ],
      'a claim of a task that is gone': [
        ['orphan-claim'],
        async (task) => {
          const { partition, file_key: fileKey, file_id: fileId } = task;
          await stores().claims.claim({ partition, digest: 'x', fileKey, fileId, taskId: 'gone' });
        },
      ],
      'a claim of a file that is gone': [
        ['orphan-claim'],
        async () => {
          const fileKey = randomUUID();
          const claim = { partition: PARTITION, digest: 'y', fileKey, fileId: 'gone', taskId: 'gone' };
          await stores().claims.claim(claim);
          return () => stores().claims.releaseFiles([fileKey]);
        },
      ],
      'a lost claim': [['unclaimed-digest'], (task) => stores().claims.releaseFiles([task.file_key])],
      'a task nobody cleaned up after': [
        ['uncleaned-task'],
        async (task) => {
          const failed = sampleTask({ file_key: task.file_key, state: 'FAILED', finished_at: new Date() });
          await stores().tasks.insert(failed);
        },
      ],
      'an active task its file does not wait for': [
        ['stray-task'],
        (task) => stores().tasks.insert(sampleTask({ file_key: task.file_key })),
      ],
      'a file that waits for a missing task': [
        ['pending-task-lost'],
        async (task) => {
          const next = { fileKey: task.file_key, taskId: randomUUID(), generation: (generation += 1) };
          await stores().files.admitReplacement(next);
        },
      ],
      'a file that waits for an ended task': [
        ['pending-task-lost', 'uncleaned-task'],
        async (task) => {
          const next = await admit(task.file_key, task.file_id);
          await stores().tasks.finish(next.task_id, 'CANCELLED');
        },
      ],
      'a place in a quota that no file will take': [
        ['orphan-reservation'],
        async ({ task_id: taskId }) => {
          const { turn } = await stores().quotas.pending(1);
          await stores().quotas.reserve({ userId: 1, taskId, room: 9, turn });
          return () => stores().quotas.release([taskId]);
        },
      ],
      'chunks that may not say what their file says': [
        ['unsettled-chunks'],
        ({ file_key }) => stores().files.announce(file_key, 'token'),
      ],
      'a file of a partition that is gone': [
        ['stray-file', 'unclaimed-digest'],
        async ({ file_key }) => {
          const file = (await stores().files.getMany([file_key])).get(file_key)!;
          const to = { partition: 'nowhere', partition_key: 'none' };
          await stores().files.change({ file, token: 't', live: file.live, metadataPatch: null, to });
          await stores().files.confirmChunkUpdates(file_key, file.revision + 1, ['t']);
          return async () => {
            await stores().files.markDeleted('nowhere', file.file_id);
            await stores().files.removeTombstone(file_key);
          };
        },
      ],
      'a partition whose deletion was cut short': [
        ['deleted-partition'],
        async () => {
          const made = { partition: 'half-deleted', embedder: 'small', ownerId: 1 };
          const record = await stores().partitions.create(made);
          await stores().partitions.markDeleted('half-deleted');
          return () => stores().partitions.removeDeleted(record);
        },
      ],
      'a deleted file nobody cleaned up after': [
        ['orphan-blob', 'orphan-chunks', 'orphan-claim', 'tombstone'],
        async (task) => {
          await stores().files.markDeleted(PARTITION, task.file_id);
        },
      ],
    };

    test.each(Object.keys(planted))('finds %s', async (name) => {
      const [expected, plant] = planted[name] ?? [];
      const task = await indexed();
      const bystander = await indexed();
      const cleanUp = await plant?.(task);
      expect(await kinds()).toEqual(expected);
      await cleanUp?.();
      for (const each of [task, bystander]) await removeFile(each);
      expect(await check()).toEqual([]);
    });

    test('claims are not asked for when deduplication is off', async () => {
      const task = await indexed();
      await stores().claims.releaseFiles([task.file_key]);
      expect(await check(false)).toEqual([]);
      await removeFile(task);
    });

    test('every kind of drift has been planted', () => {
      expect(new Set(Object.values(planted).flatMap(([expected]) => expected))).toEqual(new Set(DRIFT_KINDS));
    });
  });
}
