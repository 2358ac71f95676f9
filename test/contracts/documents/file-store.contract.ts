import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { FileStore } from '../../../activities/ports/files.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { sampleReport } from '../../support/documents/sample-report.js';
import { AWKWARD_METADATA, collect, sampleVersion, times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

const EVERYTHING: Scope = { kind: 'all', userId: 1 };

function admission(overrides: Partial<Parameters<FileStore['admitFirst']>[0]> = {}) {
  return {
    fileKey: randomUUID(),
    partition: `p-${randomUUID()}`,
    partitionKey: `key-${randomUUID()}`,
    fileId: 'guide',
    userId: 1,
    taskId: randomUUID(),
    generation: 1,
    ...overrides,
  };
}

/** What every file store promises: guarded transitions, each of which happens once. */
export function fileStoreContract(subject: Subject<FileStore>): void {
  describe(`file store (${subject.name})`, () => {
    const store = useSubject(subject);

    const admit = async (overrides: Parameters<typeof admission>[0] = {}) => {
      const input = admission(overrides);
      expect((await store().admitFirst(input)).outcome).toBe('admitted');
      return input;
    };
    const makeLive = async (overrides: Parameters<typeof admission>[0] = {}) => {
      const input = await admit(overrides);
      const version = sampleVersion({ generation: input.generation, task_id: input.taskId });
      await store().publish(input.fileKey, input.taskId, version);
      return { ...input, version };
    };

    describe('first admission', () => {
      test('inserts a record that waits for its task', async () => {
        const input = await admit();
        expect(await store().get(input.partition, input.fileId)).toMatchObject({
          file_key: input.fileKey,
          latest_generation: 1,
          live: null,
          pending_task: input.taskId,
          deleted_at: null,
        });
      });

      test('repeating it is harmless', async () => {
        const input = await admit();
        expect((await store().admitFirst(input)).outcome).toBe('admitted');
      });

      test('admits exactly one of 50 at once', async () => {
        const partition = `p-${randomUUID()}`;
        const answers = await Promise.all(
          times(50, (index) => store().admitFirst(admission({ partition, generation: index + 1 }))),
        );
        expect(answers.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(1);
        expect(answers.filter(({ outcome }) => outcome === 'pending')).toHaveLength(49);
      });

      test('meets a pending, then a live file', async () => {
        const { partition, fileKey, taskId } = await admit();
        expect(await store().admitFirst(admission({ partition }))).toMatchObject({
          outcome: 'pending',
          file: { file_key: fileKey },
        });
        await store().publish(fileKey, taskId, sampleVersion({ task_id: taskId }));
        expect(await store().admitFirst(admission({ partition, generation: 2 }))).toMatchObject({
          outcome: 'exists',
          file: { live: { task_id: taskId } },
        });
      });

      test('takes over after a failed first task, under the key of the record', async () => {
        const { partition, fileKey, taskId } = await admit();
        expect(await store().releasePending(fileKey, taskId)).toBe(true);
        expect(await store().admitFirst(admission({ partition, generation: 2 }))).toMatchObject({
          outcome: 'other-key',
          file: { file_key: fileKey },
        });
        const stale = admission({ partition, fileKey, generation: 1 });
        expect(await store().admitFirst(stale)).toEqual({ outcome: 'stale' });
        const takers = times(10, () => admission({ partition, fileKey, generation: 2, userId: 7 }));
        const answers = await Promise.all(takers.map((taker) => store().admitFirst(taker)));
        expect(answers.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(1);
        expect(await store().get(partition, 'guide')).toMatchObject({
          file_key: fileKey,
          latest_generation: 2,
          created_by: 7,
          workspaces: [],
          independent: true,
        });
      });

      test('never revives the key of a deleted file', async () => {
        const { partition, fileKey } = await makeLive();
        await store().markDeleted(partition, 'guide');
        await expect(
          store().admitFirst(admission({ partition, fileKey, generation: 9 })),
        ).rejects.toMatchObject({
          code: 'CONFLICT',
        });
      });
    });

    test('counts the files of a user, live and to become so, and knows whose tasks are live', async () => {
      const userId = 7_000 + Math.floor(Math.random() * 1e6);
      const live = await makeLive({ userId });
      const pending = await admit({ userId });
      const failed = await admit({ userId });
      await store().releasePending(failed.fileKey, failed.taskId);
      const deleted = await makeLive({ userId });
      await store().markDeleted(deleted.partition, 'guide');
      await admit({ userId: userId + 1 });
      expect((await store().countByUploader([userId])).get(userId)).toEqual({ files: 1, pending: 1 });
      await store().admitReplacement({ fileKey: live.fileKey, taskId: randomUUID(), generation: 99 });
      expect((await store().countByUploader([userId])).get(userId)).toEqual({ files: 1, pending: 1 });
      const asked = [live.taskId, pending.taskId, deleted.taskId, 'none'];
      expect(await store().liveTasks(asked)).toEqual([live.taskId]);
      expect(await store().liveTasks([])).toEqual([]);
    });

    describe('change', () => {
      const present = async (partition: string) => (await store().get(partition, 'guide'))!;

      test('writes what was read at the present revision only', async () => {
        const { partition, fileKey, version } = await makeLive();
        const file = await present(partition);
        const live = { ...version, metadata: { new: 'x' } };
        const change = { file, token: 't1', live, metadataPatch: null };
        expect(await store().change(change)).toBe('changed');
        expect(await store().change({ ...change, token: 't2' })).toBe('stale');
        expect(await present(partition)).toMatchObject({
          revision: file.revision + 1,
          live: { metadata: { new: 'x' }, task_id: version.task_id },
          chunk_updates: ['t1'],
        });
        const others = times(20, (index) => ({ file, token: `o${index}`, live, metadataPatch: null }));
        const now = await present(partition);
        const answers = await Promise.all(others.map((other) => store().change({ ...other, file: now })));
        expect(answers.filter((answer) => answer === 'changed')).toHaveLength(1);
        expect(await store().confirmChunkUpdates(fileKey, now.revision, ['t1'])).toBe(false);
        expect(await store().confirmChunkUpdates(fileKey, now.revision + 1, ['t1'])).toBe(true);
        expect((await present(partition)).chunk_updates).toHaveLength(1);
      });

      test('moves, unless the target has the id', async () => {
        const [here, there] = [await makeLive(), await makeLive()];
        const file = await present(here.partition);
        const move = (partition: string) =>
          store().change({
            file,
            token: 't',
            live: file.live,
            metadataPatch: null,
            to: { partition, partition_key: 'k' },
          });
        expect(await move(there.partition)).toBe('exists');
        const free = randomUUID();
        expect(await move(free)).toBe('changed');
        expect(await store().get(here.partition, 'guide')).toBeNull();
        expect(await present(free)).toMatchObject({ file_key: here.fileKey, partition_key: 'k' });
      });

      test('words that came while a task ran are merged by its publication', async () => {
        const { partition, fileKey, taskId } = await admit();
        const file = await present(partition);
        const metadataPatch = { $set: 'odd', big: 9007199254740993n, parent_id: 'p' };
        await store().change({ file, token: 't', live: null, metadataPatch });
        expect((await present(partition)).metadata_patch).toEqual(metadataPatch);
        const version = sampleVersion({ task_id: taskId, metadata: { kept: 1, big: 0 } });
        await store().publish(fileKey, taskId, version, partition);
        expect(await present(partition)).toMatchObject({
          live: { metadata: { kept: 1, ...metadataPatch }, parent_id: 'p' },
          metadata_patch: null,
          chunk_updates: ['t', taskId],
        });
      });

      test('chunks of another partition are noticed by the publication; a new version starts without a patch', async () => {
        const { partition, fileKey, taskId, version } = await makeLive();
        await store().confirmChunkUpdates(fileKey, (await present(partition)).revision, [taskId]);
        const next = randomUUID();
        const file = await present(partition);
        await store().change({ file, token: 't', live: version, metadataPatch: { lost: true } });
        await store().admitReplacement({ fileKey, taskId: next, generation: 2 });
        expect((await present(partition)).metadata_patch).toBeNull();
        await store().publish(fileKey, next, sampleVersion({ task_id: next, metadata: {} }), 'elsewhere');
        expect(await present(partition)).toMatchObject({
          chunk_updates: ['t', next],
          live: { metadata: {} },
        });
      });

      test('an announced update is found once it is old', async () => {
        const { partition, fileKey } = await makeLive();
        await store().announce(fileKey, 'token');
        await store().announce(fileKey, 'token');
        const unconfirmed = async (before: Date) =>
          (await store().listUnconfirmed(before, 1000)).filter(({ file_key }) => file_key === fileKey);
        expect(await unconfirmed(new Date(Date.now() - 60_000))).toEqual([]);
        expect(await unconfirmed(new Date(Date.now() + 60_000))).toMatchObject([
          { chunk_updates: ['token'] },
        ]);
        await store().confirmChunkUpdates(fileKey, (await present(partition)).revision, ['token']);
        expect(await unconfirmed(new Date(Date.now() + 60_000))).toEqual([]);
      });
    });

    test('deletes a partition by its key, and nothing of another one of that name', async () => {
      const [partition, partitionKey] = [randomUUID(), randomUUID()];
      const mine = { partition, partitionKey };
      const live = await makeLive({ ...mine, fileId: 'live' });
      const pending = await admit({ ...mine, fileId: 'pending' });
      await admit({ partition, partitionKey: 'another', fileId: 'other' });
      expect(await store().listPending(partitionKey)).toEqual([
        { fileKey: pending.fileKey, taskId: pending.taskId, generation: 1 },
      ]);
      await store().markPartitionDeleted(partitionKey);
      const tombstones = await store().listPartitionTombstones(partitionKey, 10);
      expect(new Set(tombstones.map(({ file_key }) => file_key))).toEqual(
        new Set([live.fileKey, pending.fileKey]),
      );
      expect(await store().listPartitionTombstones(partitionKey, 1)).toHaveLength(1);
      expect((await collect(store().scanPartitionTombstones(partitionKey))).sort()).toEqual(
        tombstones.map(({ file_key }) => file_key).sort(),
      );
      expect(await store().get(partition, 'live')).toBeNull();
      expect(await store().get(partition, 'other')).not.toBeNull();
      expect(await store().publish(pending.fileKey, pending.taskId, sampleVersion())).toEqual({
        outcome: 'superseded',
      });
    });

    describe('replacement', () => {
      test('names the task that it supersedes, and the last one admitted wins', async () => {
        const live = await makeLive();
        const [second, third] = [randomUUID(), randomUUID()];
        const { fileKey } = live;
        expect(await store().admitReplacement({ fileKey, taskId: second, generation: 2 })).toMatchObject({
          outcome: 'admitted',
          supersededTask: null,
          file: { pending_task: second, latest_generation: 2, live: { task_id: live.taskId } },
        });
        expect(await store().admitReplacement({ fileKey, taskId: third, generation: 3 })).toMatchObject({
          outcome: 'admitted',
          supersededTask: second,
        });
        expect(await store().publish(fileKey, second, sampleVersion({ task_id: second }))).toEqual({
          outcome: 'superseded',
        });
        const version = sampleVersion({ task_id: third, generation: 3 });
        expect(await store().publish(fileKey, third, version)).toEqual({
          outcome: 'published',
          previous: live.version,
          behind: false,
        });
        expect((await store().get(live.partition, 'guide'))?.live).toEqual(version);
      });

      test('refuses a smaller generation as stale', async () => {
        const { fileKey } = await makeLive({ generation: 5 });
        expect(await store().admitReplacement({ fileKey, taskId: randomUUID(), generation: 5 })).toEqual({
          outcome: 'stale',
        });
      });

      test('of 20 at once the greatest generation is left, and each supersedes another', async () => {
        const { fileKey, partition } = await makeLive();
        const inputs = times(20, (index) => ({ fileKey, taskId: `t-${index}`, generation: index + 2 }));
        const answers = await Promise.all(inputs.map((input) => store().admitReplacement(input)));
        const admitted = answers.flatMap((answer) => (answer.outcome === 'admitted' ? [answer] : []));
        expect(admitted.length + answers.filter(({ outcome }) => outcome === 'stale').length).toBe(20);
        expect(new Set(admitted.map(({ supersededTask }) => supersededTask)).size).toBe(admitted.length);
        expect(await store().get(partition, 'guide')).toMatchObject({
          pending_task: 't-19',
          latest_generation: 21,
        });
      });

      test('finds nothing to replace: never there, failed, deleted', async () => {
        const ask = (fileKey: string) =>
          store().admitReplacement({ fileKey, taskId: randomUUID(), generation: 99 });
        expect(await ask(randomUUID())).toEqual({ outcome: 'gone' });
        const failed = await admit();
        await store().releasePending(failed.fileKey, failed.taskId);
        expect(await ask(failed.fileKey)).toEqual({ outcome: 'gone' });
        const deleted = await makeLive();
        await store().markDeleted(deleted.partition, 'guide');
        expect(await ask(deleted.fileKey)).toEqual({ outcome: 'gone' });
      });
    });

    describe('publication', () => {
      test('happens once; repeating it says so', async () => {
        const { fileKey, taskId } = await admit();
        const version = sampleVersion({ task_id: taskId });
        const answers = await Promise.all(times(5, () => store().publish(fileKey, taskId, version)));
        expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
          'already',
          'already',
          'already',
          'already',
          'published',
        ]);
      });

      test('keeps metadata as the client sent it', async () => {
        const { partition } = await makeLive();
        const file = await store().get(partition, 'guide');
        expect(file?.live?.metadata).toEqual(AWKWARD_METADATA);
      });

      test('keeps what parsing reported, and leaves it out where it is not wanted', async () => {
        const { fileKey, taskId } = await admit();
        const version = sampleVersion({ task_id: taskId, parse_report: sampleReport() });
        await store().publish(fileKey, taskId, version);
        const whole = (await store().getMany([fileKey])).get(fileKey)!;
        expect(whole.live).toEqual(version);
        const without = (await store().getMany([fileKey], { reports: false })).get(fileKey)!;
        const { parse_report: _report, ...rest } = version;
        expect(without).toEqual({ ...whole, live: rest });
      });

      test('tells the partitions of files by their keys, those of tombstones too', async () => {
        const [live, gone] = [await makeLive(), await makeLive()];
        await store().markDeleted(gone.partition, 'guide');
        expect(await store().partitionsOf([live.fileKey, gone.fileKey, randomUUID(), live.fileKey])).toEqual(
          new Map([
            [live.fileKey, live.partition],
            [gone.fileKey, gone.partition],
          ]),
        );
        expect(await store().partitionsOf([])).toEqual(new Map());
      });

      test('never inserts, and never after a delete', async () => {
        const fileKey = randomUUID();
        const version = sampleVersion();
        expect(await store().publish(fileKey, version.task_id, version)).toEqual({ outcome: 'superseded' });
        expect((await store().getMany([fileKey])).size).toBe(0);
        const { partition, taskId, fileKey: deleted } = await admit();
        await store().markDeleted(partition, 'guide');
        expect(await store().publish(deleted, taskId, version)).toEqual({ outcome: 'superseded' });
      });

      test('a record that was read before is taken for the present one, unless it has changed since', async () => {
        const { fileKey, taskId } = await admit();
        const version = sampleVersion({ task_id: taskId });
        const known = (await store().getMany([fileKey])).get(fileKey)!;
        expect(await store().publish(fileKey, taskId, version, undefined, known)).toMatchObject({
          outcome: 'published',
        });
        expect(await store().publish(fileKey, taskId, version, undefined, known)).toEqual({
          outcome: 'already',
        });
        const cancelled = await admit();
        const before = (await store().getMany([cancelled.fileKey])).get(cancelled.fileKey)!;
        await store().releasePending(cancelled.fileKey, cancelled.taskId);
        const stale = sampleVersion({ task_id: cancelled.taskId });
        expect(await store().publish(cancelled.fileKey, cancelled.taskId, stale, undefined, before)).toEqual({
          outcome: 'superseded',
        });
      });

      test('a released task cannot publish', async () => {
        const { fileKey, taskId } = await admit();
        expect(await store().releasePending(fileKey, 'another')).toBe(false);
        expect(await store().releasePending(fileKey, taskId)).toBe(true);
        expect(await store().releasePending(fileKey, taskId)).toBe(false);
        expect(await store().publish(fileKey, taskId, sampleVersion({ task_id: taskId }))).toEqual({
          outcome: 'superseded',
        });
      });
    });

    describe('deletion', () => {
      test('frees the name at once and leaves a tombstone until it is removed', async () => {
        const live = await makeLive();
        expect(await store().markDeleted(live.partition, 'guide')).toMatchObject({
          live: live.version,
          deleted_at: null,
        });
        expect(await store().markDeleted(live.partition, 'guide')).toBeNull();
        expect(await store().get(live.partition, 'guide')).toBeNull();
        const again = await admit({ partition: live.partition, generation: 2 });
        expect((await store().listTombstones(1000)).map(({ file_key }) => file_key)).toContain(live.fileKey);
        const tombstone = (await store().getMany([live.fileKey])).get(live.fileKey);
        expect(tombstone).toMatchObject({ live: null, pending_task: null, deleted_at: expect.any(Date) });
        await store().removeTombstone(again.fileKey);
        await store().removeTombstone(live.fileKey);
        const left = await store().getMany([live.fileKey, again.fileKey]);
        expect([...left.keys()]).toEqual([again.fileKey]);
      });

      test('of 10 at once one deletes', async () => {
        const { partition } = await makeLive();
        const answers = await Promise.all(times(10, () => store().markDeleted(partition, 'guide')));
        expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
      });

      test('does not see a file whose first task failed', async () => {
        const { partition, fileKey, taskId } = await admit();
        await store().releasePending(fileKey, taskId);
        expect(await store().markDeleted(partition, 'guide')).toBeNull();
      });
    });

    test('lists and counts live files only, inside the scope', async () => {
      const partition = `p-${randomUUID()}`;
      const other = `p-${randomUUID()}`;
      for (const fileId of ['b', 'a', 'c']) await makeLive({ partition, fileId });
      await admit({ partition, fileId: 'pending' });
      await makeLive({ partition, fileId: 'deleted' });
      await store().markDeleted(partition, 'deleted');
      await makeLive({ partition: other });
      const mine: Scope = { kind: 'partitions', userId: 2, roles: { [partition]: 'viewer' } };
      const ids = async (...asked: Parameters<FileStore['listLive']>) =>
        (await store().listLive(...asked)).map(({ file_id }) => file_id);
      expect(await ids(mine, partition)).toEqual(['a', 'b', 'c']);
      expect(await ids(mine, partition, { limit: 2 })).toEqual(['a', 'b']);
      expect(await ids(mine, partition, { limit: 2, offset: 1 })).toEqual(['b', 'c']);
      expect(await ids(mine, partition, { offset: 3 })).toEqual([]);
      expect(await ids(mine, partition, { after: 'a' })).toEqual(['b', 'c']);
      expect(await ids(mine, partition, { after: 'a', limit: 1 })).toEqual(['b']);
      expect(await ids(mine, partition, { after: 'aa', degradedStage: 'caption' })).toEqual([]);
      expect(await ids(mine, partition, { after: 'c' })).toEqual([]);
      expect(await store().listIds(mine, partition, 5)).toEqual(['a', 'b', 'c']);
      expect(await store().listIds(mine, partition, 2)).toEqual(['a', 'b']);
      expect(await store().listIds(mine, other, 5)).toEqual([]);
      const names = await collect(store().scanNames(EVERYTHING, [partition, other, 'none']));
      expect(names.map(({ fileId }) => fileId).sort()).toEqual(['a', 'b', 'c', 'guide']);
      const [record] = await store().listLive(EVERYTHING, other);
      expect(names.find(({ fileId }) => fileId === 'guide')).toEqual({
        fileKey: record?.file_key,
        fileId: 'guide',
        filename: record?.live?.filename,
      });
      const seen = await collect(store().scanNames(mine, [partition, other]));
      expect(seen.map(({ fileId }) => fileId).sort()).toEqual(['a', 'b', 'c']);
      expect(await ids(EVERYTHING, other)).toEqual(['guide']);
      expect(await ids(mine, other)).toEqual([]);
      expect(await ids({ kind: 'partitions', userId: 2, roles: {} }, 'constructor')).toEqual([]);
      expect(await store().countLive([partition, other, 'none'])).toEqual(
        new Map([
          [partition, 3],
          [other, 1],
          ['none', 0],
        ]),
      );
      expect(await store().totalLive([partition, other, 'none'])).toEqual(
        new Map([
          [partition, { files: 3, chunks: 6 }],
          [other, { files: 1, chunks: 2 }],
          ['none', { files: 0, chunks: 0 }],
        ]),
      );
    });

    test('counts chunks of the live version alone, where the file is now', async () => {
      const [partition, other] = [`p-${randomUUID()}`, `p-${randomUUID()}`];
      const { fileKey } = await makeLive({ partition });
      const chunksOf = async () =>
        [...(await store().totalLive([partition, other])).values()].map(({ chunks }) => chunks);
      expect(await chunksOf()).toEqual([2, 0]);
      const taskId = randomUUID();
      await store().admitReplacement({ fileKey, taskId, generation: 9 });
      expect(await chunksOf()).toEqual([2, 0]);
      const newer = sampleVersion({ generation: 9, task_id: taskId, chunk_count: 5 });
      await store().publish(fileKey, taskId, newer);
      expect(await chunksOf()).toEqual([5, 0]);
      const file = (await store().get(partition, 'guide'))!;
      const to = { partition: other, partition_key: `key-${randomUUID()}` };
      await store().change({ file, token: 'move', live: file.live, metadataPatch: null, to });
      expect(await chunksOf()).toEqual([0, 5]);
      await store().markDeleted(other, 'guide');
      expect(await chunksOf()).toEqual([0, 0]);
    });

    test('pages the live files of a partition, and changes their embedder after a swap', async () => {
      const partition = `p-${randomUUID()}`;
      const partitionKey = `key-${randomUUID()}`;
      for (const fileId of ['b', 'a', 'c']) await makeLive({ partition, partitionKey, fileId });
      await admit({ partition, partitionKey, fileId: 'ab' });
      const other = await makeLive();
      const ids = async (after: string | null, limit: number) =>
        (await store().pageLive(partition, { after, limit })).map(({ file_id }) => file_id);
      expect(await ids(null, 2)).toEqual(['a', 'b']);
      expect(await ids('b', 2)).toEqual(['c']);
      expect(await ids('c', 2)).toEqual([]);
      const { embedder } = other.version;
      await store().switchEmbedder(partitionKey, 'another', 'new');
      expect(await store().countEmbedders(partition)).toEqual(new Map([[embedder, 3]]));
      await store().switchEmbedder(partitionKey, embedder, 'new');
      expect(await store().countEmbedders(partition)).toEqual(new Map([['new', 3]]));
      expect(await store().countEmbedders(other.partition)).toEqual(new Map([[embedder, 1]]));
    });

    test('scans everything, tombstones too', async () => {
      const { partition, fileKey } = await makeLive();
      await store().markDeleted(partition, 'guide');
      const keys = (await collect(store().scan())).map(({ file_key }) => file_key);
      expect(keys).toContain(fileKey);
      expect(new Set(keys).size).toBe(keys.length);
    });
  });
}
