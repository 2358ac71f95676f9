import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { TaskStore } from '../../../activities/ports/tasks.js';
import type { TaskState } from '../../../schemas/documents/tasks.js';
import { sampleReport } from '../../support/documents/sample-report.js';
import { collect, sampleTask, times } from '../samples.js';
import { useSubject } from '../subject.js';
import type { Subject } from '../subject.js';

const FAILURE = { code: 'FILE_CORRUPT', message: 'damaged', traceback: ['line 1', 'line 2'] };

/** What every task store promises: a final state never changes. */
export function taskStoreContract(subject: Subject<TaskStore>): void {
  describe(`task store (${subject.name})`, () => {
    const store = useSubject(subject);
    const insert = async (overrides: Parameters<typeof sampleTask>[0] = {}) => {
      const task = sampleTask(overrides);
      await store().insert(task);
      return task;
    };

    test('answers a record as it was put down, once', async () => {
      const task = await insert();
      expect(await store().get(task.task_id)).toEqual(task);
      await expect(store().insert(task)).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await store().get(randomUUID())).toBeNull();
    });

    test('answers many at once, without those that are not there', async () => {
      const [one, other] = [await insert(), await insert()];
      const found = await store().getMany([other.task_id, randomUUID(), one.task_id]);
      expect(found).toEqual(
        new Map([
          [one.task_id, one],
          [other.task_id, other],
        ]),
      );
      expect(await store().getMany([])).toEqual(new Map());
    });

    test('begins, and keeps the time of its first beginning', async () => {
      const { task_id } = await insert();
      expect(await store().begin(task_id)).toMatchObject({ task_id, state: 'SERIALIZING' });
      const first = await store().get(task_id);
      expect(first).toMatchObject({ state: 'SERIALIZING', started_at: expect.any(Date) });
      expect(await store().begin(task_id)).toMatchObject({ task_id, state: 'SERIALIZING' });
      expect((await store().get(task_id))?.started_at).toEqual(first?.started_at);
    });

    test('counts a second attempt where the caller knows of none before it', async () => {
      const { task_id } = await insert();
      const update = { stage: 'parse', progress: 0, attempt: 1 } as const;
      expect(await store().begin(task_id, update)).toMatchObject({ attempt: 1 });
      expect(await store().begin(task_id, update)).toMatchObject({ attempt: 2 });
      expect(await store().begin(task_id, { ...update, attempt: 3 })).toMatchObject({ attempt: 3 });
      expect(await store().get(task_id)).toMatchObject({ attempt: 3 });
    });

    test('reports progress while active', async () => {
      const { task_id } = await insert();
      expect(await store().report(task_id, { stage: 'embed', progress: 0.5, attempt: 2 })).toBe(true);
      expect(await store().report(task_id, { parser_crashes: 1 })).toBe(true);
      expect(await store().get(task_id)).toMatchObject({ parser_crashes: 1 });
      expect(await store().report(task_id, {})).toBe(true);
      expect(await store().get(task_id)).toMatchObject({ stage: 'embed', progress: 0.5, attempt: 2 });
    });

    test('advances as it reports, and answers the record', async () => {
      const { task_id } = await insert();
      await store().begin(task_id, { stage: 'parse', progress: 0, attempt: 1 });
      const task = await store().advance(task_id, { stage: 'embed', progress: 0.5, attempt: 2 });
      expect(task).toMatchObject({
        task_id,
        state: 'SERIALIZING',
        stage: 'embed',
        progress: 0.5,
        attempt: 2,
      });
      expect(task).toEqual(await store().get(task_id));
      await store().finish(task_id, 'COMPLETED');
      expect(await store().advance(task_id, { stage: 'publish' })).toBeNull();
      expect(await store().advance(randomUUID(), { stage: 'publish' })).toBeNull();
    });

    test('notes what enrichment added, until the task has ended', async () => {
      const { task_id } = await insert();
      const derivedMetadata = { topic_tags: ['a.$b'], big: 9007199254740993n };
      await store().noteEnrichment(task_id, { derivedMetadata });
      await store().noteEnrichment(task_id, { contextParts: 2 });
      await store().noteEnrichment(task_id, { degradedStages: ['caption'] });
      await store().noteEnrichment(task_id, { pictures: { kept: 3, leftOut: 1 } });
      await store().noteEnrichment(task_id, { parseReport: sampleReport() });
      const relationship = { relationship_id: 'a@b', parent_id: null };
      await store().noteEnrichment(task_id, { relationship });
      const added = {
        derived_metadata: derivedMetadata,
        context_parts: 2,
        degraded_stages: ['caption'],
        pictures: { kept: 3, leftOut: 1 },
        parse_report: sampleReport(),
        ...relationship,
      };
      expect(await store().get(task_id)).toMatchObject(added);
      await store().finish(task_id, 'COMPLETED');
      await store().noteEnrichment(task_id, { contextParts: 9 });
      expect(await store().get(task_id)).toMatchObject(added);
    });

    test('completes with all of it done', async () => {
      const { task_id } = await insert();
      expect(await store().finish(task_id, 'COMPLETED')).toBe(true);
      expect(await store().get(task_id)).toMatchObject({
        state: 'COMPLETED',
        stage: 'done',
        progress: 1,
        error: null,
        finished_at: expect.any(Date),
      });
    });

    test('completes with what reading it has come to, once, and cleaned up where nothing is left', async () => {
      const parseReport = sampleReport({ degraded: true, reasons: ['cut off'] });
      const relationship = { relationship_id: 'case 7', parent_id: null };
      const [clean, plain] = [await insert({ stage: 'parse' }), await insert()];
      expect(await store().complete(clean.task_id, { parseReport, relationship, cleaned: true })).toBe(true);
      expect(await store().get(clean.task_id)).toMatchObject({
        state: 'COMPLETED',
        stage: 'done',
        progress: 1,
        error: null,
        finished_at: expect.any(Date),
        cleaned_at: expect.any(Date),
        parse_report: parseReport,
        ...relationship,
      });
      expect(await store().complete(clean.task_id, { cleaned: false })).toBe(false);
      expect(await store().complete(plain.task_id, { cleaned: false })).toBe(true);
      expect(await store().get(plain.task_id)).toMatchObject({ state: 'COMPLETED', cleaned_at: null });
      await store().finish((await insert()).task_id, 'CANCELLED');
    });

    test('does not complete what was cancelled', async () => {
      const { task_id } = await insert();
      await store().finish(task_id, 'CANCELLED', FAILURE);
      expect(await store().complete(task_id, { cleaned: true })).toBe(false);
      expect(await store().get(task_id)).toMatchObject({ state: 'CANCELLED', cleaned_at: null });
    });

    test('a final state never changes', async () => {
      const { task_id } = await insert({ stage: 'parse' });
      expect(await store().finish(task_id, 'FAILED', FAILURE)).toBe(true);
      const failed = await store().get(task_id);
      expect(failed).toMatchObject({ state: 'FAILED', stage: 'parse', error: FAILURE });
      expect(await store().begin(task_id)).toBeNull();
      expect(await store().report(task_id, { progress: 1 })).toBe(false);
      expect(await store().report(task_id, {})).toBe(false);
      expect(await store().finish(task_id, 'COMPLETED')).toBe(false);
      expect(await store().get(task_id)).toEqual(failed);
    });

    test('of 20 endings at once one counts', async () => {
      const { task_id } = await insert();
      const answers = await Promise.all(
        times(20, (index) => store().finish(task_id, index % 2 === 0 ? 'COMPLETED' : 'CANCELLED')),
      );
      expect(answers.filter(Boolean)).toHaveLength(1);
    });

    test('lists and counts by user and state, newest first', async () => {
      const user_id = 5000 + Math.floor(Math.random() * 1e6);
      const at = (second: number) => new Date(Date.UTC(2021, 0, 1, 0, 0, second));
      const [old, young] = [
        await insert({ user_id, created_at: at(1) }),
        await insert({ user_id, created_at: at(2) }),
      ];
      const ended = await insert({ user_id, created_at: at(3) });
      await store().finish(ended.task_id, 'FAILED', FAILURE);
      const list = async (states: TaskState[], limit = 10, of: number | null = user_id) =>
        (await store().list({ userId: of, states, limit })).map(({ task_id }) => task_id);
      expect(await list(['QUEUED', 'FAILED'])).toEqual([ended, young, old].map(({ task_id }) => task_id));
      expect(await list(['QUEUED'], 1)).toEqual([young.task_id]);
      expect(await list(['FAILED'], 1000, null)).toContain(ended.task_id);
      const { partition } = ended;
      const elsewhere = await insert({ user_id, partition: `${partition}-b`, created_at: at(4) });
      await store().finish(elsewhere.task_id, 'FAILED', FAILURE);
      const into = async (asked: string, userId: number | null = user_id) => {
        const found = await store().list({ userId, states: ['FAILED'], partition: asked, limit: 1_000 });
        return found.map(({ task_id }) => task_id);
      };
      expect(await into(partition)).toEqual([ended.task_id]);
      expect(await into(elsewhere.partition)).toEqual([elsewhere.task_id]);
      expect(await into(elsewhere.partition, user_id + 1)).toEqual([]);
      expect(await into(elsewhere.partition, null)).toContain(elsewhere.task_id);
      expect(await store().countActive(user_id, 10)).toBe(2);
      expect(await store().countActive(user_id, 1)).toBe(1);
      expect(await store().countActive(null, 1000)).toBeGreaterThanOrEqual(2);
      const { FAILED, QUEUED } = await store().countByState();
      expect(FAILED).toBeGreaterThanOrEqual(1);
      expect(QUEUED).toBeGreaterThanOrEqual(2);
    });

    test('lists tasks without what may be large, and tells their metadata by themselves', async () => {
      const user_id = 5000 + Math.floor(Math.random() * 1e6);
      const metadata = { shelf: 'upper', serial: 90_071_992_547_409_931n };
      const task = await insert({ user_id, metadata, derived_metadata: { topic_tags: ['mills'] } });
      const { metadata: _, derived_metadata: _derived, parse_report: _report, ...head } = task;
      expect(await store().list({ userId: user_id, states: ['QUEUED'], limit: 9 })).toEqual([head]);
      expect(await store().getHeads([task.task_id, randomUUID()])).toEqual(new Map([[task.task_id, head]]));
      const read = await store().readMetadata([task.task_id, randomUUID()]);
      expect([...read.keys()]).toEqual([task.task_id]);
      expect(read.get(task.task_id)?.metadata).toEqual(metadata);
      expect(await store().readMetadata([])).toEqual(new Map());
    });

    test('knows whose turn it is', async () => {
      const user_id = 5000 + Math.floor(Math.random() * 1e6);
      const at = (second: number) => new Date(Date.UTC(2021, 0, 1, 0, 0, second));
      const young = await insert({ user_id, created_at: at(9) });
      const old = await insert({ user_id, created_at: at(1) });
      const running = await insert({ user_id, created_at: at(5) });
      await store().markHandedOver(running.task_id);
      const idle = await insert({ user_id: user_id + 1 });
      await store().markHandedOver(idle.task_id);
      const turns = (await store().countTurns()).filter(
        ({ userId }) => userId - user_id < 2 && userId >= user_id,
      );
      expect(turns).toEqual([{ userId: user_id, waiting: 2, running: 1 }]);
      const waiting = await store().listWaiting(user_id, 10);
      const { metadata: _metadata, ...rest } = old;
      expect(waiting[0]).toEqual(rest);
      expect(waiting.map(({ task_id }) => task_id)).toEqual([old.task_id, young.task_id]);
      expect(await store().listWaiting(user_id, 1)).toHaveLength(1);
      expect([await store().countRunning(user_id, 5), await store().countRunning(user_id + 2, 5)]).toEqual([
        1, 0,
      ]);
    });

    test('removes what ended long ago and was cleaned up after', async () => {
      const [gone, dirty, active] = [await insert(), await insert(), await insert()];
      for (const { task_id } of [gone, dirty]) await store().finish(task_id, 'CANCELLED');
      await store().markCleaned(gone.file_key, 1);
      expect(await store().removeEnded(new Date(Date.now() - 60_000))).toBe(0);
      expect(await store().countEnded(new Date(Date.now() - 60_000), 10)).toBe(0);
      const due = await store().countEnded(new Date(Date.now() + 60_000), 10_000);
      expect(due).toBeGreaterThanOrEqual(1);
      expect(await store().removeEnded(new Date(Date.now() + 60_000))).toBe(due);
      const left = await Promise.all([gone, dirty, active].map(({ task_id }) => store().get(task_id)));
      expect(left.map((task) => task !== null)).toEqual([false, true, true]);
    });

    test('cancels those of many that are active', async () => {
      const [active, ended] = [await insert(), await insert()];
      await store().finish(ended.task_id, 'COMPLETED');
      await store().cancelMany([active.task_id, ended.task_id, 'none'], FAILURE);
      expect(await store().get(active.task_id)).toMatchObject({
        state: 'CANCELLED',
        error: FAILURE,
        finished_at: expect.any(Date),
      });
      expect((await store().get(ended.task_id))?.state).toBe('COMPLETED');
    });

    test('unknown tasks do nothing', async () => {
      expect(await store().begin('none')).toBeNull();
      expect(await store().finish('none', 'FAILED', FAILURE)).toBe(false);
      await store().markHandedOver('none');
      await store().remove('none');
      expect(await store().get('none')).toBeNull();
    });

    test('lists what the sweeps ask for, oldest first', async () => {
      const partition = randomUUID();
      const at = (minutes: number) => new Date(Date.UTC(2020, 0, 1, 0, minutes));
      const mine = <Task extends { partition: string; file_id: string }>(tasks: Task[]) =>
        tasks.filter((task) => task.partition === partition).map((task) => task.file_id);
      const make = (file_id: string, minutes: number) =>
        insert({ partition, file_id, created_at: at(minutes) });
      await make('second', 2);
      await make('first', 1);
      await make('late', 30);
      const started = await make('started', 0);
      await store().markHandedOver(started.task_id);
      const ended = await make('ended', 0);
      await store().finish(ended.task_id, 'FAILED', FAILURE);
      expect(mine(await store().listNotHandedOver(at(10), 1000))).toEqual(['first', 'second']);
      expect(await store().listNotHandedOver(at(10), 1)).toHaveLength(1);
      const soon = new Date(Date.now() + 60_000);
      // It was created long ago and handed over just now: what waited for its turn has all its time yet.
      expect(mine(await store().listActiveSince(at(10), 1000))).toEqual([]);
      expect(mine(await store().listActiveSince(soon, 1000))).toEqual(['started']);
      const { handed_over_at } = (await store().get(started.task_id))!;
      expect(mine(await store().listActiveSince(soon, 1000, handed_over_at!))).toEqual(['started']);
      const later = new Date(handed_over_at!.getTime() + 1);
      expect(mine(await store().listActiveSince(soon, 1000, later))).toEqual([]);
      expect(mine(await store().listUncleaned(soon, 1000))).toEqual(['ended']);
      expect(mine(await store().listUncleaned(at(10), 1000))).toEqual([]);
    });

    test('marks final tasks of a file cleaned up to a generation', async () => {
      const file_key = randomUUID();
      const tasks = [];
      for (const generation of [3, 1, 2]) tasks.push(await insert({ file_key, generation }));
      const active = await insert({ file_key, generation: 1 });
      for (const { task_id } of tasks) await store().finish(task_id, 'CANCELLED');
      await store().markCleaned(file_key, 2);
      const listed = await store().listByFile(file_key);
      expect(listed.map(({ generation }) => generation)).toEqual([1, 1, 2, 3]);
      const cleaned = listed.filter(({ cleaned_at }) => cleaned_at !== null);
      expect(cleaned.map(({ generation }) => generation)).toEqual([1, 2]);
      expect(cleaned.map(({ task_id }) => task_id)).not.toContain(active.task_id);
    });

    test('lists those of a file without metadata and the reports of their parsing', async () => {
      const { task_id, file_key, generation, upload } = await insert({ metadata: { long: 'text' } });
      const derivedMetadata = { topics: ['letters'] };
      await store().noteEnrichment(task_id, { parseReport: sampleReport(), derivedMetadata });
      expect(await store().get(task_id)).toMatchObject({
        parse_report: sampleReport(),
        derived_metadata: derivedMetadata,
      });
      const { upload_id } = upload;
      expect(await store().listByFile(file_key)).toEqual([
        {
          task_id,
          generation,
          state: 'QUEUED',
          handed_over_at: null,
          cleaned_at: null,
          upload: { upload_id },
        },
      ]);
    });

    test('marks one generation alone, where the first is given', async () => {
      const file_key = randomUUID();
      for (const generation of [1, 2]) {
        const { task_id } = await insert({ file_key, generation });
        await store().finish(task_id, 'CANCELLED');
      }
      await store().markCleaned(file_key, 2, 2);
      const listed = await store().listByFile(file_key);
      expect(listed.map(({ cleaned_at }) => cleaned_at !== null)).toEqual([false, true]);
    });

    test('removes and scans', async () => {
      const [kept, removed] = [await insert(), await insert()];
      await store().remove(removed.task_id);
      const ids = (await collect(store().scan())).map(({ task_id }) => task_id);
      expect(ids).toContain(kept.task_id);
      expect(ids).not.toContain(removed.task_id);
    });
  });
}
