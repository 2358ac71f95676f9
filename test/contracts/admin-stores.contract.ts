import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { PresetStore } from '../../activities/ports/model-administration.js';
import type { PartitionStore, WorkspaceStore } from '../../activities/ports/partitions.js';
import type { UserStore } from '../../activities/ports/users.js';
import { PARTITION_DEFAULTS } from '../../schemas/documents/partitions.js';
import type { Scope, UserRecord } from '../../schemas/documents/users.js';
import { codesOf, times } from './samples.js';
import { useSubject } from './subject.js';
import type { Subject } from './subject.js';

const user = (user_id: number, overrides: Partial<UserRecord> = {}) => ({
  user_id,
  display_name: `User ${user_id}`,
  external_user_id: null,
  email: null,
  is_admin: false,
  file_quota: null,
  token_digest: `digest-${user_id}`,
  ...overrides,
});

/** Users beside the administrator of the environment. */
export const userAdministrationContract = (subject: Subject<UserStore>): void => {
  describe(`users of a user store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('creates, lists and changes them', async () => {
      const made = await store().create(user(10, { email: 'Ada@Example.org', file_quota: 3 }));
      expect(made).toMatchObject({ user_id: 10, email: 'Ada@Example.org', file_quota: 3, deleted_at: null });
      expect(await store().get(10)).toEqual(made);
      expect(await store().findByTokenDigest('digest-10')).toEqual(made);
      const changed = await store().update(10, { email: null, display_name: null, is_admin: true });
      expect(changed).toEqual({ ...made, email: null, display_name: null, is_admin: true });
      expect(await store().update(10, {})).toEqual(changed);
      await store().create(user(9));
      expect((await store().list()).map(({ user_id }) => user_id)).toEqual([9, 10]);
      expect([...(await store().getMany([9, 10, 404])).keys()].sort()).toEqual([10, 9]);
      expect(await store().update(404, { display_name: 'x' })).toBeNull();
    });

    test('keeps external ids and mail addresses unique, of many at once too', async () => {
      const wanted = { external_user_id: 'sso-1', email: 'bob@example.org' };
      const answers = await Promise.allSettled(
        times(10, (index) => store().create(user(100 + index, wanted))),
      );
      expect(codesOf(answers).sort()).toEqual(['USER_EXISTS', ...Array(8).fill('USER_EXISTS'), 'done']);
      await store().create(user(120));
      await store().create(user(121));
      await expect(store().update(120, { email: 'BOB@example.org' })).rejects.toMatchObject({
        code: 'USER_EXISTS',
      });
      await expect(store().update(120, { external_user_id: 'sso-1' })).rejects.toMatchObject({
        code: 'USER_EXISTS',
      });
      const bob = await store().findByIdentity({ email: 'bob@EXAMPLE.org' });
      expect(bob).toMatchObject(wanted);
      expect(await store().findByIdentity({ externalUserId: 'sso-1' })).toEqual(bob);
      expect(await store().findByIdentity({ externalUserId: null, email: null })).toBeNull();
      // Free again once its holder lets go.
      await store().update(bob?.user_id ?? 0, { email: null, external_user_id: null });
      expect(await store().update(120, wanted)).toMatchObject(wanted);
    });

    test('a new token kills the old one', async () => {
      await store().create(user(200));
      expect(await store().setToken(200, 'digest-new')).toMatchObject({ token_digest: 'digest-new' });
      expect(await store().findByTokenDigest('digest-200')).toBeNull();
      expect(await store().findByTokenDigest('digest-new')).toMatchObject({ user_id: 200 });
      expect(await store().setToken(404, 'digest-x')).toBeNull();
    });

    test("user 1's own new token outlives a restart, but not a new AUTH_TOKEN", async () => {
      await store().ensureAdmin('environment-1');
      await store().setToken(1, 'regenerated');
      expect(await store().ensureAdmin('environment-1')).toMatchObject({ token_digest: 'regenerated' });
      expect(await store().findByTokenDigest('environment-1')).toBeNull();
      expect(await store().ensureAdmin('environment-2')).toMatchObject({ token_digest: 'environment-2' });
    });

    test('searches by beginning or number, page by page', async () => {
      for (const id of [301, 302, 303])
        await store().create(user(id, { display_name: `Zoë.${id}`, email: `z${id}@x.org` }));
      const search = async (text: string, rest: Partial<Parameters<UserStore['search']>[0]> = {}) =>
        (await store().search({ text, after: 0, limit: 10, without: [], ...rest })).map((one) => one.user_id);
      expect(await search('zoë.')).toEqual([301, 302, 303]);
      expect(await search('ZOË.', { limit: 2 })).toEqual([301, 302]);
      expect(await search('zoë.', { after: 302 })).toEqual([303]);
      expect(await search('zoë.', { without: [302] })).toEqual([301, 303]);
      expect(await search('z302@')).toEqual([302]);
      expect(await search('303')).toEqual([303]);
      // Neither a pattern, nor a piece of the middle, nor too short.
      expect(await search('zoëx')).toEqual([]);
      expect(await search('.*.*')).toEqual([]);
      expect(await search('oë.')).toEqual([]);
      expect(await search('zo')).toEqual([]);
    });

    test('a deleted one is gone for everybody, and its names are free', async () => {
      const names = { external_user_id: 'sso-9', email: 'nine@example.org' };
      await store().create(user(400, names));
      expect(await store().markDeleted(400)).toBe(true);
      expect(await store().markDeleted(400)).toBe(false);
      expect(await store().get(400)).toBeNull();
      expect(await store().findByTokenDigest('digest-400')).toBeNull();
      expect((await store().list()).some(({ user_id }) => user_id === 400)).toBe(false);
      expect(await store().setToken(400, 'x')).toBeNull();
      expect(await store().create(user(401, names))).toMatchObject(names);
      expect((await store().listDeleted(10)).map(({ user_id }) => user_id)).toEqual([400]);
      await store().remove(401);
      expect(await store().get(401)).not.toBeNull();
      await store().remove(400);
      expect(await store().listDeleted(10)).toEqual([]);
    });
  });
};

/** Settings and members of partitions. */
export const partitionAdministrationContract = (subject: Subject<PartitionStore>): void => {
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
        ...{ description: 'Déjà vu', indexation_preset: 'legal', chat_history_depth: 9, chat_llm: 'm' },
        generation_prompt_names: { sys_prompt: 'strict' },
      };
      expect(await store().update(partition, patch)).toEqual({ ...before, ...patch });
      const other = { embedder: 'other' };
      expect(await store().update(partition, other, { embedder: 'not-this' })).toBeNull();
      expect(await store().update(partition, other, { embedder: 'builtin-hash' })).toMatchObject(other);
      expect(await store().update('none', patch)).toBeNull();
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
};

export const workspaceStoreContract = (subject: Subject<WorkspaceStore>): void => {
  describe(`workspace store (${subject.name})`, () => {
    const store = useSubject(subject);
    const create = (partition: string, workspace_id: string, created_by = 7) =>
      store().create({
        ...{ workspace_key: randomUUID(), workspace_id, partition, display_name: null, created_by },
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
};

export const presetStoreContract = (subject: Subject<PresetStore>): void => {
  describe(`preset store (${subject.name})`, () => {
    const store = useSubject(subject);
    const retrieval = (top_k: number) => ({
      name: 'default',
      preset_type: 'retrieval' as const,
      config: {
        ...{ type: 'single' as const, reranker: null, llm: null, top_k, top_n: null, enable_reranker: false },
        ...{ similarity_threshold: null, include_related: true, include_ancestors: true, rrf_k: 60 },
        ...{ hyde_prompt_name: null, multi_query_prompt_name: null, query_contextualizer_prompt_name: null },
      },
    });

    test('seeds, once of many at once, and lets a seed follow the environment', async () => {
      await Promise.all(times(10, () => store().seed(retrieval(50))));
      const seeded = await store().get('retrieval', 'default');
      expect(seeded).toMatchObject({ ...retrieval(50), seeded: true });
      await store().seed(retrieval(20));
      expect(await store().list('retrieval')).toEqual([{ ...seeded, ...retrieval(20) }]);
      expect(await store().list('indexation')).toEqual([]);
      expect(await store().get('indexation', 'default')).toBeNull();
    });
  });
};
