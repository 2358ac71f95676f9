import { describe, test, expect } from '@jest/globals';
import type { Subject } from '../subject.js';
import type { UserStore } from '../../../activities/ports/users.js';
import { useSubject } from '../subject.js';
import { times, codesOf } from '../samples.js';
import type { UserRecord } from '../../../schemas/documents/users.js';

export function userStoreContract(subject: Subject<UserStore>): void {
  describe(`user store (${subject.name})`, () => {
    const store = useSubject(subject);

    test('has one admin, whose token can change and go', async () => {
      const [first] = await Promise.all(times(10, () => store().ensureAdmin('digest-1')));
      expect(first).toMatchObject({ user_id: 1, is_admin: true, token_digest: 'digest-1' });
      expect(await store().findByTokenDigest('digest-1')).toEqual(first);
      expect(await store().get(1)).toEqual(first);
      expect(await store().ensureAdmin('digest-2')).toEqual({ ...first, token_digest: 'digest-2' });
      expect(await store().findByTokenDigest('digest-1')).toBeNull();
      expect(await store().ensureAdmin(null)).toMatchObject({ user_id: 1, token_digest: null });
      expect(await store().findByTokenDigest('digest-2')).toBeNull();
      expect(await store().get(2)).toBeNull();
    });
  });
}

function user(user_id: number, overrides: Partial<UserRecord> = {}) {
  return {
    user_id,
    display_name: `User ${user_id}`,
    external_user_id: null,
    email: null,
    is_admin: false,
    file_quota: null,
    token_digest: `digest-${user_id}`,
    ...overrides,
  };
}

/** Users beside the administrator of the environment. */
export function userAdministrationContract(subject: Subject<UserStore>): void {
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

    test('a token has one user: neither AUTH_TOKEN nor a new account gets that of another one', async () => {
      const admin = await store().ensureAdmin('environment-3');
      await store().create(user(250));
      await expect(store().ensureAdmin('digest-250')).rejects.toThrow(/^AUTH_TOKEN: .* user 250/);
      await expect(store().ensureAdmin('digest-250')).rejects.toMatchObject({ name: 'ConfigError' });
      expect(await store().findByTokenDigest('environment-3')).toEqual(admin);
      expect(await store().findByTokenDigest('digest-250')).toMatchObject({ user_id: 250 });
      const twin = store().create(user(251, { token_digest: 'digest-250' }));
      await expect(twin).rejects.toMatchObject({ code: 'USER_EXISTS' });
      expect(await store().get(251)).toBeNull();
      await store().markDeleted(250);
      await store().remove(250);
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
      // Neither a pattern, nor a fragment of the middle, nor too short.
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
}
