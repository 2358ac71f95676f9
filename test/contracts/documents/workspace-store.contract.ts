import { describe, test, expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Subject } from '../subject.js';
import type { WorkspaceStore } from '../../../activities/ports/partitions.js';
import { useSubject } from '../subject.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { times, codesOf } from '../samples.js';

export function workspaceStoreContract(subject: Subject<WorkspaceStore>): void {
  describe(`workspace store (${subject.name})`, () => {
    const store = useSubject(subject);
    const create = (partition: string, workspace_id: string, created_by = 7) =>
      store().create({
        workspace_key: randomUUID(),
        workspace_id,
        partition,
        display_name: null,
        created_by,
      });
    const scopeOf = (partition: string): Scope => ({
      kind: 'partitions',
      userId: 7,
      roles: { [partition]: 'viewer' },
    });

    test('has an id once in a partition, and again in another', async () => {
      const partition = `p-${randomUUID()}`;
      const answers = await Promise.allSettled(times(10, () => create(partition, 'w')));
      expect(codesOf(answers).filter((code) => code === 'done')).toHaveLength(1);
      expect(new Set(codesOf(answers))).toEqual(new Set(['done', 'WORKSPACE_EXISTS']));
      const other = await create(`q-${partition}`, 'w');
      await create(partition, 'a');
      expect(await store().get(other.partition, 'w')).toEqual(other);
      const listed = await store().list(scopeOf(partition), partition);
      expect(listed.map(({ workspace_id }) => workspace_id)).toEqual(['a', 'w']);
      expect(await store().list(scopeOf('elsewhere'), partition)).toEqual([]);
      expect(await store().get(partition, 'none')).toBeNull();
      const found = await store().find([partition, other.partition, 'elsewhere'], 'w');
      expect(found.map((one) => one.partition).sort()).toEqual([partition, other.partition].sort());
      expect(await store().find([partition, other.partition], 'a')).toHaveLength(1);
      expect(await store().find([], 'w')).toEqual([]);
    });

    test('a deleted one frees its id at once and is listed until it is removed', async () => {
      const partition = `p-${randomUUID()}`;
      const first = await create(partition, 'w');
      const marked = await store().markDeleted(partition, 'w', { keepFiles: true });
      expect(marked).toMatchObject({ workspace_key: first.workspace_key, deleted: { keepFiles: true } });
      expect(await store().markDeleted(partition, 'w', { keepFiles: true })).toBeNull();
      expect(await store().get(partition, 'w')).toBeNull();
      expect(await store().find([partition], 'w')).toEqual([]);
      expect(await store().list(scopeOf(partition), partition)).toEqual([]);
      const second = await create(partition, 'w');
      expect([...(await store().getMany([first.workspace_key, second.workspace_key])).keys()]).toEqual([
        second.workspace_key,
      ]);
      const later = new Date(Date.now() + 60_000);
      expect(await store().listDeleted(new Date(0), 10)).toEqual([]);
      expect((await store().listDeleted(later, 10)).map((one) => one.workspace_key)).toEqual([
        first.workspace_key,
      ]);
      await store().remove(second.workspace_key);
      expect(await store().get(partition, 'w')).not.toBeNull();
      await store().remove(first.workspace_key);
      expect(await store().listDeleted(later, 10)).toEqual([]);
    });

    test('goes with its partition, and forgets a deleted user', async () => {
      const [one, two] = [`p-${randomUUID()}`, `p-${randomUUID()}`];
      const gone = await create(one, 'w');
      await create(two, 'w', 70);
      await store().removeMany([gone.workspace_key, 'none']);
      await store().removeMany([]);
      expect(await store().get(one, 'w')).toBeNull();
      await store().forgetCreator(70);
      expect(await store().get(two, 'w')).toMatchObject({ created_by: null });
    });
  });
}
