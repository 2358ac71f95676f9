import { describe, test, expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Subject } from '../subject.js';
import type { PartitionStore } from '../../../activities/ports/partitions.js';
import { useSubject } from '../subject.js';
import { times, codesOf } from '../samples.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { PARTITION_DEFAULTS } from '../../../schemas/documents/partitions.js';

export function partitionStoreContract(subject: Subject<PartitionStore>): void {
  describe(`partition store (${subject.name})`, () => {
    const store = useSubject(subject);
    const create = (partition: string, ownerId: number) =>
      store().create({ partition, embedder: 'builtin/hash-1024', ownerId });

    test('creates a partition with its owner, once of 20 at once', async () => {
      const partition = `p-${randomUUID()}`;
      const answers = await Promise.allSettled(times(20, (index) => create(partition, 100 + index)));
      const created = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      expect(created).toHaveLength(1);
      for (const answer of answers)
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'PARTITION_EXISTS' });
      const record = await store().get(partition);
      expect(record).toEqual(created[0]);
      const roles = await Promise.all(times(20, (index) => store().roleOf(100 + index, partition)));
      expect(roles.filter((role) => role === 'owner')).toHaveLength(1);
      expect(roles[(record?.created_by ?? 0) - 100]).toBe('owner');
    });

    test('is gone for every reader once it is deleted, and the name is free after that', async () => {
      const partition = `d-${randomUUID()}`;
      const made = await create(partition, 55);
      const answers = await Promise.all(times(5, () => store().markDeleted(partition)));
      expect(answers.filter((answer) => answer !== null)).toEqual([made]);
      expect(await store().get(partition)).toBeNull();
      expect(await store().roleOf(55, partition)).toBeNull();
      expect(await store().memberships(55)).toEqual([]);
      const everything = await store().list({ kind: 'all', userId: 1 });
      expect(everything.map((record) => record.partition)).not.toContain(partition);
      expect(await store().listDeleted()).toContainEqual(made);
      await expect(create(partition, 56)).rejects.toMatchObject({ code: 'CONFLICT' });
      await store().removeDeleted({ ...made, partition_key: 'another' });
      await expect(create(partition, 56)).rejects.toMatchObject({ code: 'CONFLICT' });
      await store().removeDeleted(made);
      const again = await create(partition, 56);
      expect(again.partition_key).not.toBe(made.partition_key);
      await store().removeDeleted(again);
      expect(await store().get(partition)).toEqual(again);
      expect(await store().markDeleted(partition, made.partition_key)).toBeNull();
      expect(await store().get(partition)).toEqual(again);
      expect(await store().markDeleted(partition, again.partition_key)).toEqual(again);
      expect(await store().markDeleted('none')).toBeNull();
    });

    test('lists memberships and what lies inside a scope', async () => {
      const names = times(3, (index) => `q${index}-${randomUUID()}`);
      for (const name of names) await create(name, 7);
      await create('constructor', 8);
      expect(await store().memberships(7)).toEqual(
        names.map((partition) => ({ user_id: 7, partition, role: 'owner', added_at: expect.any(Date) })),
      );
      const scope: Scope = { kind: 'partitions', userId: 7, roles: { [names[1] ?? '']: 'viewer' } };
      expect((await store().list(scope)).map(({ partition }) => partition)).toEqual([names[1]]);
      const among = async (asked: Scope, wanted: string[]): Promise<string[]> =>
        (await store().list(asked, wanted)).map(({ partition }) => partition);
      expect(await among(scope, names)).toEqual([names[1]]);
      expect(await among(scope, [names[0]!])).toEqual([]);
      expect(await among({ kind: 'all', userId: 1 }, [names[1]!, 'none'])).toEqual([names[1]]);
      expect(await among({ kind: 'all', userId: 1 }, [])).toEqual([]);
      const all = (await store().list({ kind: 'all', userId: 1 })).map(({ partition }) => partition);
      expect(all).toEqual(expect.arrayContaining([...names, 'constructor']));
      expect(all).toEqual([...all].sort());
      expect(await store().roleOf(9, names[0] ?? '')).toBeNull();
      expect(await store().memberships(9)).toEqual([]);
      expect(await store().get('none')).toBeNull();
    });
  });
}

/** Settings and members of partitions. */
export function partitionAdministrationContract(subject: Subject<PartitionStore>): void {
  describe(`settings and members of a partition store (${subject.name})`, () => {
    const store = useSubject(subject);
    const create = async (ownerId = 7) => {
      const partition = `p-${randomUUID()}`;
      await store().create({ partition, embedder: 'builtin-hash', ownerId });
      return partition;
    };
    const rolesIn = async (partition: string) =>
      (await store().members(partition)).map(({ user_id, role }) => [user_id, role]);

    test('starts with the defaults, changes what is given, and guards the embedder', async () => {
      const partition = await create();
      const before = await store().get(partition);
      expect(before).toMatchObject({ ...PARTITION_DEFAULTS, embedder: 'builtin-hash' });
      const patch = {
        description: 'Déjà vu',
        indexation_preset: 'legal',
        chat_history_depth: 9,
        chat_llm: 'm',
        generation_prompt_names: { sys_prompt: 'strict' },
      };
      expect(await store().update(partition, patch)).toEqual({ ...before, ...patch });
      const other = { embedder: 'other' };
      expect(await store().update(partition, other, { embedder: 'not-this' })).toBeNull();
      expect(await store().update(partition, other, { embedder: 'builtin-hash' })).toMatchObject(other);
      expect(await store().update('none', patch)).toBeNull();
    });

    test('a swap of the embedder is marked, and ends with the embedder in one update', async () => {
      const partition = await create();
      const before = (await store().get(partition))!;
      expect(before).toMatchObject({ swap: null, swapped_from: [] });
      const swap = { swap_id: randomUUID(), source: 'builtin-hash', target: 'new' };
      expect(await store().beginSwap({ ...before, partition_key: 'another' }, swap)).toBeNull();
      expect(await store().beginSwap(before, { ...swap, source: 'other' })).toBeNull();
      for (const _time of [1, 2])
        expect(await store().beginSwap(before, swap)).toMatchObject({
          embedder: 'builtin-hash',
          swap: { swap_id: swap.swap_id, target: 'new' },
        });
      await store().renameReference('swap.target', 'new', 'newer');
      expect(await store().endSwap(partition, 'another', { switched: true })).toBe(false);
      expect(await store().endSwap(partition, swap.swap_id, { switched: true })).toBe(true);
      expect(await store().endSwap(partition, swap.swap_id, { switched: true })).toBe(false);
      const after = { embedder: 'newer', swap: null, swapped_from: ['builtin-hash'] };
      expect(await store().get(partition)).toEqual({ ...before, ...after });
      expect(await store().update(partition, { embedder: 'chosen' })).toMatchObject({ swapped_from: [] });
    });

    test('a swap that is given up leaves the embedder', async () => {
      const partition = await create();
      const before = (await store().get(partition))!;
      const swap = { swap_id: randomUUID(), source: 'builtin-hash', target: 'new' };
      await store().beginSwap(before, swap);
      expect(await store().endSwap(partition, swap.swap_id, { switched: false })).toBe(true);
      expect(await store().get(partition)).toEqual(before);
      expect(await store().endSwap('none', swap.swap_id, { switched: false })).toBe(false);
    });

    test('adds, changes and removes members', async () => {
      const partition = await create();
      await store().addMember(partition, 8, 'viewer');
      await store().addMember(partition, 3, 'editor');
      await expect(store().addMember(partition, 8, 'owner')).rejects.toMatchObject({
        code: 'MEMBERSHIP_EXISTS',
      });
      await expect(store().addMember('none', 8, 'owner')).rejects.toMatchObject({
        code: 'PARTITION_NOT_FOUND',
      });
      await store().setRole(partition, 8, 'editor');
      expect(await rolesIn(partition)).toEqual([
        [3, 'editor'],
        [7, 'owner'],
        [8, 'editor'],
      ]);
      expect(await store().roleOf(8, partition)).toBe('editor');
      await store().removeMember(partition, 8);
      expect(await store().roleOf(8, partition)).toBeNull();
      for (const attempt of [
        () => store().setRole(partition, 8, 'viewer'),
        () => store().setRole(partition, 8, 'owner'),
        () => store().removeMember(partition, 8),
        () => store().removeMember('none', 8),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'MEMBERSHIP_NOT_FOUND' });
      expect(await store().members('none')).toEqual([]);
    });

    test('keeps an owner, also when all of them leave at once', async () => {
      const partition = await create();
      for (const attempt of [
        () => store().removeMember(partition, 7),
        () => store().setRole(partition, 7, 'viewer'),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'LAST_OWNER' });
      await store().setRole(partition, 7, 'owner');
      for (const id of times(9, (index) => 20 + index)) await store().addMember(partition, id, 'owner');
      const leaving = [7, ...times(9, (index) => 20 + index)];
      const answers = await Promise.allSettled(
        leaving.map((id, index) =>
          index % 2 === 0 ? store().removeMember(partition, id) : store().setRole(partition, id, 'viewer'),
        ),
      );
      expect(codesOf(answers).filter((code) => code === 'LAST_OWNER')).toHaveLength(1);
      expect((await rolesIn(partition)).filter(([, role]) => role === 'owner')).toHaveLength(1);
    });

    test('one of twenty equal invitations counts', async () => {
      const partition = await create();
      const answers = await Promise.allSettled(times(20, () => store().addMember(partition, 50, 'viewer')));
      expect(codesOf(answers).filter((code) => code === 'done')).toHaveLength(1);
      expect(await rolesIn(partition)).toHaveLength(2);
    });

    test('lets a deleted user go everywhere', async () => {
      const [one, two] = [await create(60), await create(61)];
      await store().addMember(two, 60, 'editor');
      await store().removeUser(60);
      expect(await store().memberships(60)).toEqual([]);
      expect(await rolesIn(one)).toEqual([]);
      expect(await rolesIn(two)).toEqual([[61, 'owner']]);
    });
  });
}

export function partitionReferenceContract(subject: Subject<PartitionStore>): void {
  describe(`names in the settings of a partition store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('take another name wherever they stand', async () => {
      const [one, two] = [`p-${randomUUID()}`, `p-${randomUUID()}`];
      await store().create({ partition: one, embedder: 'old', ownerId: 1 });
      await store().create({ partition: two, embedder: 'other', ownerId: 1 });
      const names = {
        indexation_preset: 'old',
        chat_llm: 'old',
        generation_prompt_names: { sys_prompt: 'old' },
      };
      await store().update(one, names);
      await store().renameReference('embedder', 'old', 'new');
      await store().renameReference('indexation_preset', 'old', 'new');
      await store().renameReference('generation_prompt_names.sys_prompt', 'old', 'new');
      expect(await store().get(one)).toMatchObject({
        embedder: 'new',
        indexation_preset: 'new',
        retrieval_preset: 'default',
        chat_llm: 'old',
        generation_prompt_names: { sys_prompt: 'new' },
      });
      expect(await store().get(two)).toMatchObject({ embedder: 'other', indexation_preset: 'default' });
    });
  });
}
