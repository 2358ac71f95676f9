import { describe, expect, test } from '@jest/globals';
import { createRecordsMigration } from '../../../activities/migrations/records.js';
import type { RecordStep } from '../../../activities/migrations/records/record-step.js';
import { createFakeRecordCollections } from '../../support/fakes/migrations/fake-record-collections.js';
import { createFakeRecordStepStore } from '../../support/fakes/migrations/fake-record-step-store.js';
import { runMigration, sliceControl } from '../../support/run-migration.js';

const PAGE = 500;

const double: RecordStep = {
  name: 'double',
  title: 'Numbers are doubled',
  collection: 'numbers',
  fields: ['one', 'two'],
  change: ({ fields: { one, two } }) => (two === undefined ? { set: { two: 2 * Number(one) } } : null),
};
const clear: RecordStep = {
  name: 'clear-old',
  title: 'What is old goes',
  collection: 'others',
  fields: ['old'],
  change: ({ fields: { old } }) => (old === undefined ? null : { unset: ['old'] }),
};

function stage(steps: readonly RecordStep[]) {
  const records = createFakeRecordCollections();
  const done = createFakeRecordStepStore();
  return { records, done, migration: createRecordsMigration({ records, steps: done }, steps) };
}

function plantNumbers(records: ReturnType<typeof createFakeRecordCollections>, count: number) {
  return records.plant(
    'numbers',
    Array.from({ length: count }, (_, one) => ({ _id: one, one, ...(one % 10 === 0 && { two: 2 * one }) })),
  );
}

describe('the migration of records', () => {
  test('does each step once, page by page, and remembers it', async () => {
    const { records, done, migration } = stage([double, clear]);
    await plantNumbers(records, 2 * PAGE + 200);
    await records.plant('others', [{ _id: 'a', old: 1, kept: 2 }]);
    expect(await migration.pending()).toEqual({
      what: 'Numbers are doubled. What is old goes.',
      amount: 1201,
      dark: [],
      obstacle: null,
    });
    const { slices, last } = await runMigration(migration, 'run');
    expect(slices).toBe(4);
    expect(last).toMatchObject({ done: 1201, total: 1201 });
    expect(last.figures).toEqual({ changed_by_double: 1080, changed_by_clear_old: 1 });
    const numbers = await records.read('numbers');
    expect(numbers.filter(({ one, two }) => two !== 2 * Number(one))).toEqual([]);
    expect(await records.read('others')).toEqual([{ _id: 'a', kept: 2 }]);
    expect(await done.applied()).toEqual(['clear-old', 'double']);
    expect(await migration.pending()).toBeNull();
    expect((await runMigration(migration, 'run')).last).toMatchObject({ ended: true, done: 0 });
  });

  test('a later release does the steps that it brings alone', async () => {
    const { records, done, migration } = stage([double, clear]);
    await done.markApplied('double');
    await plantNumbers(records, 3);
    await records.plant('others', [{ _id: 'a', old: 1 }]);
    const { last } = await runMigration(migration, 'run');
    expect(last.figures).toEqual({ changed_by_clear_old: 1 });
    expect((await records.read('numbers')).map(({ two }) => two)).toEqual([0, undefined, undefined]);
  });

  test('a dry run counts and changes nothing', async () => {
    const { records, done, migration } = stage([double]);
    await plantNumbers(records, 20);
    const before = await records.read('numbers');
    const { last } = await runMigration(migration, 'dry_run');
    expect(last.figures).toEqual({ changed_by_double: 18 });
    expect(await records.read('numbers')).toEqual(before);
    expect(await done.applied()).toEqual([]);
  });

  test('a verification looks at every step, also those that are done, and changes nothing', async () => {
    const { records, done, migration } = stage([double, clear]);
    await plantNumbers(records, PAGE + 20);
    await runMigration(migration, 'run');
    expect((await runMigration(migration, 'verify')).last).toMatchObject({
      ended: true,
      figures: { lacking_double: 0, lacking_clear_old: 0 },
    });
    await records.plant('numbers', [{ _id: 3, one: 3 }]);
    const before = await records.read('numbers');
    await expect(runMigration(migration, 'verify')).rejects.toMatchObject({
      code: 'MIGRATION_NOT_VERIFIED',
      message: '1 records lack the shape of double.',
    });
    expect(await records.read('numbers')).toEqual(before);
    expect(await done.applied()).toEqual(['clear-old', 'double']);
  });

  test('may be repeated from any position, as after a crash', async () => {
    const { records, migration } = stage([double]);
    await plantNumbers(records, 3 * PAGE);
    const first = await migration.slice('run', null, sliceControl());
    await migration.slice('run', first.position, sliceControl());
    let { position, ended } = await migration.slice('run', first.position, sliceControl());
    while (!ended) ({ position, ended } = await migration.slice('run', position, sliceControl()));
    const numbers = await records.read('numbers');
    expect(numbers.filter(({ one, two }) => two !== 2 * Number(one))).toEqual([]);
  });

  test('reads a record again that another process changed meanwhile', async () => {
    const { records, done } = stage([double]);
    await plantNumbers(records, 5);
    let isFirst = true;
    const racing = {
      ...records,
      async change(...given: Parameters<typeof records.change>) {
        if (isFirst) await records.plant('numbers', [{ _id: 3, one: 30 }]);
        isFirst = false;
        return records.change(...given);
      },
    };
    const { last } = await runMigration(
      createRecordsMigration({ records: racing, steps: done }, [double]),
      'run',
    );
    expect(last.figures).toEqual({ changed_by_double: 4 });
    expect((await records.read('numbers'))[3]).toEqual({ _id: 3, one: 30, two: 60 });
  });

  test('a worker of the release before leaves the run to one that knows the step', async () => {
    const newer = stage([double, clear]);
    await plantNumbers(newer.records, PAGE + 1);
    const { position } = await newer.migration.slice('run', null, sliceControl());
    const { migration } = stage([clear]);
    await expect(migration.slice('run', position, sliceControl())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
  });
});
