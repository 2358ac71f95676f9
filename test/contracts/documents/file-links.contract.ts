import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { FileStore } from '../../../activities/ports/files.js';
import type { FileVersion } from '../../../schemas/documents/documents.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { sampleVersion, times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

const EVERYTHING: Scope = { kind: 'all', userId: 1 };

/** What a file record says of its uploader, its workspaces and its relatives. */
export function fileLinksContract(subject: Subject<FileStore>): void {
  describe(`links of a file store (${subject.name})`, () => {
    const store = useSubject(subject);
    let generation = 0;

    const admit = async (overrides: Partial<Parameters<FileStore['admitFirst']>[0]> = {}) => {
      generation += 1;
      const partition = overrides.partition ?? `p-${randomUUID()}`;
      const input = {
        fileKey: randomUUID(),
        partition,
        partitionKey: `key-of-${partition}`,
        fileId: randomUUID(),
        userId: 1,
        taskId: randomUUID(),
        generation,
        ...overrides,
      };
      expect((await store().admitFirst(input)).outcome).toBe('admitted');
      return input;
    };
    const makeLive = async (
      overrides: Parameters<typeof admit>[0] = {},
      version: Partial<FileVersion> = {},
    ) => {
      const input = await admit(overrides);
      await store().publish(
        input.fileKey,
        input.taskId,
        sampleVersion({ generation: input.generation, task_id: input.taskId, ...version }),
      );
      return input;
    };
    const placeOf = ({ fileKey, partition }: { fileKey: string; partition: string }) => ({
      file_key: fileKey,
      partition,
    });
    const recordOf = async (fileKey: string) => (await store().getMany([fileKey])).get(fileKey);

    test('counts by uploader, and forgets one', async () => {
      const [ada, bob] = [1000 + Math.floor(Math.random() * 1e6), 5];
      await makeLive({ userId: ada });
      const { fileKey } = await makeLive({ userId: ada });
      await admit({ userId: ada });
      const ended = await admit({ userId: ada });
      await store().releasePending(ended.fileKey, ended.taskId);
      const deleted = await makeLive({ userId: ada });
      await store().markDeleted(deleted.partition, deleted.fileId);
      expect(await store().countByUploader([ada, bob])).toEqual(
        new Map([
          [ada, { files: 2, pending: 1 }],
          [bob, { files: 0, pending: 0 }],
        ]),
      );
      // A replacement changes nothing.
      await store().admitReplacement({ fileKey, taskId: randomUUID(), generation: 1e6 });
      expect((await store().countByUploader([ada])).get(ada)).toEqual({ files: 2, pending: 1 });
      await store().forgetUploader(ada);
      expect((await store().countByUploader([ada])).get(ada)).toEqual({ files: 0, pending: 0 });
      expect(await recordOf(fileKey)).toMatchObject({ created_by: null });
    });

    test('tells what is pending and which embedders a partition holds', async () => {
      const partition = `p-${randomUUID()}`;
      await makeLive({ partition }, { embedder: 'two' });
      await makeLive({ partition }, { embedder: 'one' });
      await makeLive({ partition }, { embedder: 'two' });
      await admit({ partition });
      const deleted = await makeLive({ partition }, { embedder: 'three' });
      await store().markDeleted(partition, deleted.fileId);
      expect(await store().countPending(partition)).toBe(1);
      expect(await store().countEmbedders(partition)).toEqual(
        new Map([
          ['one', 1],
          ['two', 2],
        ]),
      );
      expect([await store().countPending('none'), await store().countEmbedders('none')]).toEqual([
        0,
        new Map(),
      ]);
    });

    test('counts what holds vectors of an embedder, and follows its new name', async () => {
      const [one, two] = [`p-${randomUUID()}`, `q-${randomUUID()}`];
      const embedder = `e-${randomUUID()}`;
      await makeLive({ partition: one }, { embedder });
      await makeLive({ partition: two }, { embedder });
      await makeLive({ partition: two }, { embedder });
      await makeLive({ partition: two }, { embedder: 'another' });
      const deleted = await makeLive({ partition: one }, { embedder });
      await store().markDeleted(one, deleted.fileId);
      const counts = new Map([
        [one, 1],
        [two, 2],
      ]);
      expect(await store().countByEmbedder(embedder)).toEqual(counts);
      await store().renameEmbedder(embedder, `${embedder}-new`);
      expect(await store().countByEmbedder(embedder)).toEqual(new Map());
      expect(await store().countByEmbedder(`${embedder}-new`)).toEqual(counts);
      expect([...(await store().countEmbedders(two)).keys()].sort()).toEqual(['another', `${embedder}-new`]);
    });

    test('lists relatives and degraded files, live ones inside the scope', async () => {
      const partition = `p-${randomUUID()}`;
      const group = { relationship_id: 'thread/1', degraded_stages: ['caption'] };
      const ids = (files: { file_id: string }[]) => files.map(({ file_id }) => file_id);
      await makeLive({ partition, fileId: 'b' }, group);
      await makeLive({ partition, fileId: 'a' }, { relationship_id: 'thread/1' });
      await makeLive({ partition, fileId: 'c' }, { relationship_id: 'thread/2' });
      await makeLive({ partition: `q-${partition}`, fileId: 'd' }, group);
      const mine: Scope = { kind: 'partitions', userId: 1, roles: { [partition]: 'viewer' } };
      expect(ids(await store().listRelated(mine, partition, 'thread/1'))).toEqual(['a', 'b']);
      expect(ids(await store().listRelated(mine, partition, 'thread/1', { limit: 1 }))).toEqual(['a']);
      expect(ids(await store().listRelated(mine, partition, 'thread/1', { limit: 5, after: 'a' }))).toEqual([
        'b',
      ]);
      expect(await store().listRelated(mine, partition, 'none')).toEqual([]);
      expect(await store().listRelated(mine, `q-${partition}`, 'thread/1')).toEqual([]);
      expect(ids(await store().listLive(mine, partition, { degradedStage: 'caption' }))).toEqual(['b']);
      expect(await store().countDegraded(partition)).toBe(1);
      await store().markDeleted(partition, 'b');
      expect(await store().countDegraded(partition)).toBe(0);
      expect(ids(await store().listRelated(EVERYTHING, partition, 'thread/1'))).toEqual(['a']);
    });

    test('a file uploaded with workspaces goes with the last of them', async () => {
      const file = await makeLive({ workspaces: ['w1', 'w2'] });
      expect(await recordOf(file.fileKey)).toMatchObject({ workspaces: ['w1', 'w2'], independent: false });
      const release = (key: string) => store().releaseWorkspace(file.fileKey, key, { keepFile: false });
      expect(await release('w1')).toEqual({ outcome: 'released' });
      expect(await release('w1')).toEqual({ outcome: 'gone' });
      const orphaned = await release('w2');
      expect(orphaned).toMatchObject({
        outcome: 'orphaned',
        before: { live: { generation: file.generation } },
      });
      expect(await recordOf(file.fileKey)).toMatchObject({ live: null, workspaces: [] });
      expect((await recordOf(file.fileKey))?.deleted_at).toBeInstanceOf(Date);
      expect(await store().get(file.partition, file.fileId)).toBeNull();
    });

    test('one that is kept stands by itself from then on', async () => {
      const file = await makeLive({ workspaces: ['w1'] });
      expect(await store().releaseWorkspace(file.fileKey, 'w1', { keepFile: true })).toEqual({
        outcome: 'kept',
      });
      await store().attachWorkspace(placeOf(file), 'w2');
      expect(await store().releaseWorkspace(file.fileKey, 'w2', { keepFile: false })).toEqual({
        outcome: 'released',
      });
      expect(await recordOf(file.fileKey)).toMatchObject({ deleted_at: null, workspaces: [] });
    });

    test('one uploaded without outlives them all', async () => {
      const file = await makeLive();
      expect(await recordOf(file.fileKey)).toMatchObject({ workspaces: [], independent: true });
      for (const _time of [1, 2]) expect(await store().attachWorkspace(placeOf(file), 'w1')).toBe(true);
      // Its names alone: the words of all files of a workspace may take any room.
      expect(await store().listByWorkspace('w1')).toEqual([
        { file_key: file.fileKey, partition: file.partition, file_id: file.fileId, is_live: true },
      ]);
      expect(await store().releaseWorkspace(file.fileKey, 'w1', { keepFile: false })).toEqual({
        outcome: 'released',
      });
      expect(await store().listByWorkspace('w1')).toEqual([]);
    });

    test('attaching wants a live file; a pending one goes with its workspace as well', async () => {
      const pending = await admit({ workspaces: ['w3'] });
      expect(await store().attachWorkspace(placeOf(pending), 'w4')).toBe(false);
      const live = await makeLive({ workspaces: ['w3'] });
      expect(await store().listWorkspaceKeys('w3')).toEqual([live.fileKey]);
      const inside = (await store().listByWorkspace('w3')).map((file) => [file.file_key, file.is_live]);
      expect(new Map(inside as [string, boolean][])).toEqual(
        new Map([
          [pending.fileKey, false],
          [live.fileKey, true],
        ]),
      );
      expect(await store().attachWorkspace({ file_key: 'none', partition: 'p' }, 'w4')).toBe(false);
      const elsewhere = { ...placeOf(await makeLive()), partition: 'another' };
      expect(await store().attachWorkspace(elsewhere, 'w4')).toBe(false);
      expect(await store().releaseWorkspace(pending.fileKey, 'w3', { keepFile: false })).toMatchObject({
        outcome: 'orphaned',
        before: { pending_task: pending.taskId },
      });
    });

    test('a record that nobody works on is only let go; a new upload decides anew', async () => {
      const dead = await admit({ workspaces: ['w5'] });
      await store().releasePending(dead.fileKey, dead.taskId);
      expect(await store().releaseWorkspace(dead.fileKey, 'w5', { keepFile: false })).toEqual({
        outcome: 'released',
      });
      generation += 1;
      const again = { ...dead, taskId: randomUUID(), generation, workspaces: [] };
      expect((await store().admitFirst(again)).outcome).toBe('admitted');
      expect(await recordOf(dead.fileKey)).toMatchObject({ workspaces: [], independent: true });
    });

    test('names live files by their ids, with their workspaces and nothing else', async () => {
      const partition = `p-${randomUUID()}`;
      const inside = await makeLive({ partition, workspaces: ['w10', 'w11'] });
      const outside = await makeLive({ partition });
      const pending = await admit({ partition, workspaces: ['w10'] });
      const ids = [inside, outside, pending].map(({ fileId }) => fileId);
      const found = await store().listPlaced(partition, [...ids, 'none']);
      const placed = [inside, outside].map((file, at) => ({
        file_key: file.fileKey,
        partition,
        file_id: file.fileId,
        workspaces: at === 0 ? ['w10', 'w11'] : [],
      }));
      expect(new Set(found)).toEqual(new Set(placed));
      expect(await store().listPlaced('another', ids)).toEqual([]);
      expect(await store().listPlaced(partition, [])).toEqual([]);
    });

    test('detaching never deletes; a replacement keeps the workspaces', async () => {
      const file = await makeLive({ workspaces: ['w6'] });
      generation += 1;
      const taskId = randomUUID();
      await store().admitReplacement({ fileKey: file.fileKey, taskId, generation });
      await store().publish(file.fileKey, taskId, sampleVersion({ generation, task_id: taskId }));
      expect(await recordOf(file.fileKey)).toMatchObject({ workspaces: ['w6'], independent: false });
      expect(await store().detachWorkspace(file.fileKey, 'w6')).toBe(true);
      expect(await store().detachWorkspace(file.fileKey, 'w6')).toBe(false);
      expect(await recordOf(file.fileKey)).toMatchObject({ workspaces: [], deleted_at: null });
    });

    test('a file that was taken out of its last workspace lives by itself, in later ones too', async () => {
      const file = await makeLive({ workspaces: ['w7', 'w8'] });
      expect(await store().detachWorkspace(file.fileKey, 'w7')).toBe(true);
      expect(await recordOf(file.fileKey)).toMatchObject({ workspaces: ['w8'], independent: false });
      expect(await store().detachWorkspace(file.fileKey, 'w8')).toBe(true);
      expect(await recordOf(file.fileKey)).toMatchObject({ workspaces: [], independent: true });
      expect(await store().attachWorkspace(placeOf(file), 'w9')).toBe(true);
      expect(await store().releaseWorkspace(file.fileKey, 'w9', { keepFile: false })).toEqual({
        outcome: 'released',
      });
      const keys = times(8, (index) => `y${index}`);
      const several = await makeLive({ workspaces: keys });
      const detached = await Promise.all(keys.map((key) => store().detachWorkspace(several.fileKey, key)));
      expect(detached).toEqual(keys.map(() => true));
      expect(await recordOf(several.fileKey)).toMatchObject({ workspaces: [], independent: true });
    });

    test('an attachment goes with the last version of its mail', async () => {
      const mail = randomUUID();
      const attachedTo = (of: number) => ({ fileKey: mail, generation: of });
      const both = await makeLive({ attachedTo: attachedTo(10) });
      const first = await admit({ attachedTo: attachedTo(10) });
      const again = { fileId: both.fileId };
      const keys = (await store().listAttached(mail)).map(({ file_key }) => file_key);
      expect(keys.sort()).toEqual([both.fileKey, first.fileKey].sort());
      for (const _time of [1, 2])
        expect(await store().keepAttached({ ...again, attachedTo: attachedTo(11) })).toBe(true);
      expect(await recordOf(both.fileKey)).toMatchObject({ attached: { to: mail, generations: [10, 11] } });
      const drop = (keep: number[], upTo: number) => store().dropAttached(mail, { keep, upTo });
      expect(await drop([10, 11], 11)).toBeNull();
      expect((await drop([], 10))?.file_key).toBe(first.fileKey);
      expect(await recordOf(both.fileKey)).toMatchObject({ attached: { to: mail, generations: [11] } });
      expect(await recordOf(first.fileKey)).toMatchObject({
        live: null,
        pending_task: null,
        deleted_at: expect.any(Date),
      });
      expect(await drop([11], 11)).toBeNull();
      const dropped = await Promise.all(times(5, () => drop([12], 12)));
      expect(dropped.filter((file) => file !== null)).toMatchObject([{ file_key: both.fileKey }]);
      expect(await store().keepAttached({ ...again, attachedTo: attachedTo(12) })).toBe(false);
    });

    test('an attachment leaves a workspace that is deleted, and stays with its mail', async () => {
      for (const keepFile of [true, false]) {
        const attachedTo = { fileKey: randomUUID(), generation: 10 };
        const file = await makeLive({ workspaces: ['w20'], attachedTo });
        expect(await store().releaseWorkspace(file.fileKey, 'w20', { keepFile })).toEqual({
          outcome: 'released',
        });
        expect(await recordOf(file.fileKey)).toMatchObject({ workspaces: [], deleted_at: null });
      }
    });

    test('an attachment is kept wherever it was moved, until it is detached', async () => {
      const mail = { fileKey: randomUUID(), generation: 10 };
      const { fileKey, fileId } = await makeLive({ attachedTo: mail });
      const change = async (target: string, detach: boolean) => {
        const file = (await recordOf(fileKey))!;
        const to = { partition: target, partition_key: target };
        return store().change({
          file,
          token: 'moved',
          live: file.live,
          metadataPatch: null,
          to,
          detach,
        });
      };
      expect(await change(randomUUID(), false)).toBe('changed');
      expect(await store().keepAttached({ fileId, attachedTo: { ...mail, generation: 11 } })).toBe(true);
      expect(await change(randomUUID(), true)).toBe('changed');
      expect(await store().keepAttached({ fileId, attachedTo: { ...mail, generation: 12 } })).toBe(false);
      expect(await store().listAttached(mail.fileKey)).toEqual([]);
      expect((await recordOf(fileKey))?.attached).toBeUndefined();
    });

    test('keeps no attachment of another mail, and none that failed; its name may be used', async () => {
      const mail = { fileKey: randomUUID(), generation: 10 };
      const failed = await admit({ attachedTo: mail });
      const name = { fileId: failed.fileId };
      const other = { ...mail, fileKey: randomUUID() };
      expect(await store().keepAttached({ ...name, attachedTo: other })).toBe(false);
      await store().releasePending(failed.fileKey, failed.taskId);
      expect(await store().keepAttached({ ...name, attachedTo: mail })).toBe(false);
      generation += 1;
      const uploaded = { ...failed, taskId: randomUUID(), generation, attachedTo: null };
      expect((await store().admitFirst(uploaded)).outcome).toBe('admitted');
      expect((await recordOf(failed.fileKey))?.attached).toBeUndefined();
      expect(await store().dropAttached(mail.fileKey, { keep: [], upTo: 1e9 })).toBeNull();
    });

    test('of workspaces that let go at once, exactly one orphans the file', async () => {
      const keys = times(8, (index) => `x${index}`);
      const file = await makeLive({ workspaces: keys });
      const outcomes = await Promise.all(
        keys.map((key) => store().releaseWorkspace(file.fileKey, key, { keepFile: false })),
      );
      expect(outcomes.filter(({ outcome }) => outcome === 'orphaned')).toHaveLength(1);
      expect(outcomes.filter(({ outcome }) => outcome === 'released')).toHaveLength(7);
    });
  });
}
