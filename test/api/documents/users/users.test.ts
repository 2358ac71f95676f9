import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { seedUsers } from '../../../../activities/documents/commands/seed-users.js';
import { parseConfig } from '../../../../schemas/config/config.js';
import { ACTIVE_STATES } from '../../../../schemas/documents/tasks.js';
import type { LooseBody } from '../../support/loose-body.js';
import { ADMIN_TOKEN, startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, leftovers, publishTask, taskIdOf, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
});
afterEach(() => gateway.close());

async function ask(
  method: string,
  path: string,
  body?: unknown,
  token: string | null = ADMIN_TOKEN,
): Promise<[number, LooseBody]> {
  const sent = body instanceof URLSearchParams || body instanceof FormData || body === undefined;
  const response = await gateway.call(method, path, {
    token,
    ...(body === undefined ? {} : { body: sent ? (body as FormData) : JSON.stringify(body) }),
    ...(sent ? {} : { headers: { 'Content-Type': 'application/json' } }),
  });
  const text = await response.text();
  return [response.status, text === '' ? '' : JSON.parse(text)];
}

async function create(fields: object = {}) {
  return (await ask('POST', '/users/', fields))[1];
}

const ADMINS_ONLY = [403, { detail: 'Admin privileges required' }];

describe('POST /users/', () => {
  it('is for administrators', async () => {
    expect(await ask('POST', '/users/', {}, ada.token)).toEqual(ADMINS_ONLY);
  });

  it('makes a user whose token works, under both slash forms', async () => {
    for (const path of ['/users/', '/users']) {
      const [status, user] = await ask('POST', path, { display_name: 'Grace' });
      expect([status, user]).toEqual([
        201,
        {
          id: expect.any(Number),
          display_name: 'Grace',
          external_user_id: null,
          email: null,
          token: expect.stringMatching(/^or-[0-9a-f]{32}$/),
          is_admin: false,
          file_quota: null,
          file_count: 0,
        },
      ]);
      const [, me] = await ask('GET', '/users/info', undefined, user.token);
      expect(me).toMatchObject({ id: user.id, file_quota: -1 });
    }
    const ids = (await ask('GET', '/users/'))[1].users.map(({ id }: { id: number }) => id);
    expect(ids.slice(0, 3)).toEqual([1, 2, 3]);
  });

  it('takes the fields of a form, and nothing at all', async () => {
    const form = new URLSearchParams({ display_name: 'Form', is_admin: 'true', file_quota: '7', email: '' });
    expect(await ask('POST', '/users/', form)).toEqual([
      201,
      expect.objectContaining({ display_name: 'Form', is_admin: true, file_quota: 7, email: null }),
    ]);
    const multipart = new FormData();
    multipart.set('display_name', 'Zoë');
    expect((await ask('POST', '/users', multipart))[1]).toMatchObject({ display_name: 'Zoë' });
    expect(await ask('POST', '/users')).toEqual([201, expect.objectContaining({ display_name: null })]);
    expect((await ask('POST', '/users', new URLSearchParams({ file_quota: 'many' })))[0]).toBe(422);
  });

  it('refuses long names, bad addresses, odd types and a second of the same', async () => {
    expect(await ask('POST', '/users/', { display_name: 'x'.repeat(256) })).toEqual([
      400,
      { detail: expect.stringMatching(/255/) },
    ]);
    expect((await ask('POST', '/users/', { display_name: '😀'.repeat(255) }))[0]).toBe(201);
    for (const email of ['nobody', 'a@b', 'a b@c.org'])
      expect([email, (await ask('POST', '/users/', { email }))[0]]).toEqual([email, 400]);
    for (const body of [{ is_admin: 'yes' }, { file_quota: -2 }, { file_quota: 1.5 }, [], null])
      expect([body, (await ask('POST', '/users/', body))[0]]).toEqual([body, 422]);
    await create({ email: 'ada@example.org', external_user_id: 'sso-1' });
    for (const twin of [{ email: 'ADA@example.org' }, { external_user_id: 'sso-1' }])
      expect(await ask('POST', '/users/', twin)).toEqual([
        409,
        { detail: expect.stringMatching(/^\[USER_EXISTS\]: /), extra: expect.any(Object) },
      ]);
  });

  it('refuses JSON that does not say so', async () => {
    const response = await gateway.call('POST', '/users/', { body: '{"display_name":"x"}' });
    expect(response.status).toBe(422);
  });

  it('refuses a form without any known field, such as JSON that says it is one, and makes nobody', async () => {
    const json = (text: string) => new URLSearchParams([[text, '']]);
    const mistyped = new FormData();
    mistyped.set('displayname', 'x');
    for (const form of [json('{"display_name":"x"}'), json('[{"email":[1]}]'), mistyped])
      expect(await ask('POST', '/users/', form)).toEqual([422, { detail: [expect.any(Object)] }]);
    const names = (await gateway.adapters.users.list()).map(({ display_name }) => display_name);
    expect(names).not.toContain(null);
    const more = new URLSearchParams({ display_name: 'Form', unknown: 'x' });
    expect((await ask('POST', '/users/', more))[0]).toBe(201);
  });

  it('keeps the digest of a token and nothing more', async () => {
    const { token } = await create();
    const stored = JSON.stringify(await gateway.adapters.users.list());
    expect(stored).not.toContain(token);
    expect(gateway.logLines.join('')).not.toContain(token);
    expect(JSON.stringify((await ask('GET', '/users/'))[1])).not.toContain('token');
  });
});

describe('GET /users/ and GET /users/{id}', () => {
  it('are for administrators, and count files exactly', async () => {
    await indexText(gateway, { partition: 'notes', fileId: 'a', token: ada.token }, ['text']);
    for (const path of ['/users/', `/users/${ada.userId}`])
      expect(await ask('GET', path, undefined, ada.token)).toEqual(ADMINS_ONLY);
    const row = {
      id: ada.userId,
      display_name: 'ada',
      external_user_id: null,
      email: null,
      is_admin: false,
      file_quota: null,
      file_count: 1,
      created_at: expect.any(String),
    };
    expect((await ask('GET', '/users'))[1].users).toContainEqual(row);
    expect(await ask('GET', `/users/${ada.userId}`)).toEqual([
      200,
      { ...row, memberships: [{ partition: 'notes', role: 'owner', added_at: expect.any(String) }] },
    ]);
  });

  it('know nobody else', async () => {
    expect(await ask('GET', '/users/404')).toEqual([404, { detail: 'User 404 not found' }]);
    for (const id of ['-1', '0', '99999999999999999', '99999999999999999999'])
      for (const [method, path] of [
        ['GET', `/users/${id}`],
        ['DELETE', `/users/${id}`],
        ['POST', `/users/${id}/regenerate_token`],
      ] as const)
        expect([method, path, (await ask(method, path))[0]]).toEqual([method, path, 404]);
    for (const id of ['x', '1.5', '-', '1e3'])
      expect([id, (await ask('GET', `/users/${id}`))[0]]).toEqual([id, 422]);
  });
});

describe('GET /users/info', () => {
  it('tells what is there, what is coming and what may come', async () => {
    const { token, id } = await create({ display_name: 'Bob', file_quota: 5 });
    await indexText(gateway, { partition: 'bobs', fileId: 'a', token }, ['text']);
    await gateway.call('POST', '/indexer/partition/bobs/file/b', { body: uploadForm('pending'), token });
    expect(await ask('GET', '/users/info', undefined, token)).toEqual([
      200,
      {
        id,
        display_name: 'Bob',
        external_user_id: null,
        email: null,
        is_admin: false,
        memberships: [{ partition: 'bobs', role: 'owner', added_at: expect.any(String) }],
        file_count: 1,
        pending_files: 1,
        total_files: 2,
        file_quota: 5,
        chainlit_enabled: false,
      },
    ]);
  });

  it('charges the uploader, also in the partition of somebody else', async () => {
    const bob = gateway.addUser('bob');
    await gateway.call('POST', '/partition/adas', { token: ada.token });
    gateway.addMember(bob.userId, 'adas', 'editor');
    await indexText(gateway, { partition: 'adas', fileId: 'a', token: bob.token }, ['text']);
    expect((await ask('GET', '/users/info', undefined, bob.token))[1].file_count).toBe(1);
    expect((await ask('GET', '/users/info', undefined, ada.token))[1].file_count).toBe(0);
    // A replacement by another one changes nothing.
    await indexText(gateway, { partition: 'adas', fileId: 'a', token: ada.token, method: 'PUT' }, ['new']);
    expect((await ask('GET', '/users/info', undefined, bob.token))[1].file_count).toBe(1);
  });

  it('shows the default quota to a new user, and none to administrators', async () => {
    const limited = await startGateway({ env: { DEFAULT_FILE_QUOTA: '10' } });
    const call = async (path: string, token?: string) =>
      (await (await limited.call('GET', path, token === undefined ? {} : { token })).json()) as LooseBody;
    const made = async (body: object) =>
      (await (
        await limited.call('POST', '/users/', {
          body: JSON.stringify(body),
          headers: { 'Content-Type': 'application/json' },
        })
      ).json()) as LooseBody;
    const user = await made({});
    expect(user.file_quota).toBe(10);
    expect((await call('/users/info', user.token)).file_quota).toBe(10);
    const unlimited = await made({ file_quota: -1 });
    expect((await call('/users/info', unlimited.token)).file_quota).toBe(-1);
    const admin = await made({ is_admin: true });
    expect((await call('/users/info', admin.token)).file_quota).toBe(-1);
    expect((await call('/users/info')).file_quota).toBe(-1);
    await limited.close();
  });
});

describe('PATCH /users/{id}', () => {
  it('is for administrators, and changes what is given', async () => {
    expect(await ask('PATCH', `/users/${ada.userId}`, {}, ada.token)).toEqual(ADMINS_ONLY);
    const change = { display_name: 'Ada L.', email: 'ada@example.org', file_quota: 3 };
    expect(await ask('PATCH', `/users/${ada.userId}`, change)).toEqual([
      200,
      expect.objectContaining({ id: ada.userId, ...change, external_user_id: null, is_admin: false }),
    ]);
    expect((await ask('PATCH', `/users/${ada.userId}`, { email: null, is_admin: true }))[1]).toMatchObject({
      display_name: 'Ada L.',
      email: null,
      is_admin: true,
    });
    expect((await ask('GET', '/users/', undefined, ada.token))[0]).toBe(200);
  });

  it('leaves the default administrator one', async () => {
    expect(await ask('PATCH', '/users/1', { is_admin: false })).toEqual([
      400,
      { detail: 'Cannot revoke admin privileges from the default admin user.' },
    ]);
    expect((await ask('PATCH', '/users/1', { display_name: 'Root' }))[1]).toMatchObject({ is_admin: true });
  });

  it('refuses what POST refuses, and unknown users', async () => {
    const other = await create({ email: 'taken@example.org' });
    expect((await ask('PATCH', `/users/${ada.userId}`, { email: 'taken@example.org' }))[0]).toBe(409);
    expect((await ask('PATCH', `/users/${ada.userId}`, { email: 'x' }))[0]).toBe(400);
    expect((await ask('PATCH', '/users/404', { display_name: 'x' }))[0]).toBe(404);
    expect((await ask('PATCH', '/users/x', {}))[0]).toBe(422);
    // Its own address is no conflict.
    expect((await ask('PATCH', `/users/${other.id}`, { email: 'Taken@example.org' }))[0]).toBe(200);
  });
});

describe('POST /users/{id}/regenerate_token', () => {
  const regenerate = (id: number, token?: string) =>
    ask('POST', `/users/${id}/regenerate_token`, undefined, token ?? ADMIN_TOKEN);

  it('gives a new token, and the old one is dead at once', async () => {
    const [status, user] = await regenerate(ada.userId, ada.token);
    expect([status, user]).toEqual([
      200,
      expect.objectContaining({ id: ada.userId, token: expect.stringMatching(/^or-[0-9a-f]{32}$/) }),
    ]);
    expect(await ask('GET', '/users/info', undefined, ada.token)).toEqual([403, { detail: 'Invalid token' }]);
    expect((await ask('GET', '/users/info', undefined, user.token))[0]).toBe(200);
    expect((await regenerate(ada.userId))[0]).toBe(200);
    expect((await ask('GET', '/users/info', undefined, user.token))[0]).toBe(403);
  });

  it('is not for others', async () => {
    const bob = gateway.addUser('bob');
    expect(await regenerate(ada.userId, bob.token)).toEqual(ADMINS_ONLY);
    expect((await ask('GET', '/users/info', undefined, ada.token))[0]).toBe(200);
    expect((await regenerate(404))[0]).toBe(404);
  });

  it("replaces the environment's token of user 1 until that one changes", async () => {
    const [, { token }] = await regenerate(1);
    expect((await ask('GET', '/users/'))[0]).toBe(403);
    expect((await ask('GET', '/users/', undefined, token))[0]).toBe(200);
  });
});

describe('DELETE /users/{id}', () => {
  it('is for administrators, and never for user 1', async () => {
    expect(await ask('DELETE', `/users/${ada.userId}`, undefined, ada.token)).toEqual(ADMINS_ONLY);
    expect(await ask('DELETE', '/users/1')).toEqual([400, { detail: expect.any(String) }]);
    expect((await ask('DELETE', '/users/404'))[0]).toBe(404);
  });

  it('ends token and memberships, and keeps what others own', async () => {
    await gateway.call('POST', '/partition/shared');
    gateway.addMember(ada.userId, 'shared', 'editor');
    await indexText(gateway, { partition: 'shared', fileId: 'a', token: ada.token }, ['text']);
    const body = { workspace_id: 'w' };
    expect((await ask('POST', '/partition/shared/workspaces', body, ada.token))[0]).toBe(201);
    expect(await ask('DELETE', `/users/${ada.userId}`)).toEqual([204, '']);
    expect((await ask('GET', '/users/info', undefined, ada.token))[0]).toBe(403);
    expect((await ask('GET', `/users/${ada.userId}`))[0]).toBe(404);
    expect((await ask('DELETE', `/users/${ada.userId}`))[0]).toBe(404);
    expect((await gateway.adapters.files.get('shared', 'a'))?.created_by).toBeNull();
    expect((await ask('GET', '/partition/shared'))[1].files).toHaveLength(1);
    expect((await ask('GET', '/partition/shared/workspaces/w'))[1]).toMatchObject({ created_by: null });
    expect((await ask('GET', '/partition/shared/users'))[1].members).toHaveLength(1);
    expect(await gateway.adapters.users.listDeleted(1)).toEqual([]);
  });

  it('takes the partitions along that no other user owns', async () => {
    const { files, partitions } = gateway.adapters;
    for (const name of ['own', 'common'])
      await gateway.call('POST', `/partition/${name}`, { token: ada.token });
    gateway.addMember(1, 'common', 'owner');
    for (const partition of ['own', 'common'])
      await indexText(gateway, { partition, fileId: 'a', token: ada.token }, ['text']);
    expect(await ask('DELETE', `/users/${ada.userId}`)).toEqual([204, '']);
    expect(await partitions.get('own')).toBeNull();
    expect(await files.get('own', 'a')).toBeNull();
    expect(await partitions.roleOf(1, 'common')).toBe('owner');
    expect((await files.get('common', 'a'))?.created_by).toBeNull();
  });

  it('leaves a partition to its other owner, who cannot leave it meanwhile', async () => {
    const { partitions } = gateway.adapters;
    const bob = gateway.addUser('bob');
    for (const name of ['common', 'own'])
      await gateway.call('POST', `/partition/${name}`, { token: ada.token });
    gateway.addMember(bob.userId, 'common', 'owner');
    const left: number[] = [];
    const { markDeleted } = partitions;
    partitions.markDeleted = async (partition) => {
      const path = `/partition/common/users/${bob.userId}`;
      left.push((await ask('DELETE', path, undefined, bob.token))[0]);
      return markDeleted(partition);
    };
    expect(await ask('DELETE', `/users/${ada.userId}`)).toEqual([204, '']);
    expect(left).toEqual([409]);
    expect(await partitions.get('own')).toBeNull();
    expect(await partitions.members('common')).toMatchObject([{ user_id: bob.userId, role: 'owner' }]);
  });

  describe('while uploads run', () => {
    const upload = (partition: string, fileId: string, text: string, method = 'POST') =>
      gateway.call(method, `/indexer/partition/${partition}/file/${fileId}`, {
        token: ada.token,
        body: uploadForm(text),
      });
    const stateOf = async (taskId: string): Promise<string> =>
      (await ask('GET', `/indexer/task/${taskId}`))[1].task_state;

    it('ends the tasks of the partitions that go at once, and those of others go on', async () => {
      const { files, quotas } = gateway.adapters;
      await indexText(gateway, { partition: 'own', fileId: 'live', token: ada.token }, ['text']);
      await gateway.call('POST', '/partition/shared');
      gateway.addMember(ada.userId, 'shared', 'editor');
      const replaced = await taskIdOf(await upload('own', 'live', 'newer', 'PUT'));
      const added = await taskIdOf(await upload('own', 'new', 'other'));
      const elsewhere = await taskIdOf(await upload('shared', 'kept', 'third'));
      expect(await ask('DELETE', `/users/${ada.userId}`)).toEqual([204, '']);
      expect([await stateOf(replaced), await stateOf(added)]).toEqual(['CANCELLED', 'CANCELLED']);
      expect(gateway.workflows.cleanedPartitions).toEqual(['own']);
      expect((await quotas.pending(ada.userId)).taskIds).not.toContain(added);
      for (const fileId of ['live', 'new']) expect(await files.get('own', fileId)).toBeNull();
      expect(await stateOf(elsewhere)).toBe('QUEUED');
      await publishTask(gateway, elsewhere, ['third']);
      expect(await files.get('shared', 'kept')).toMatchObject({ created_by: null, live: { chunk_count: 1 } });
    });

    /** The user is deleted when the upload has passed every check of its own, and before that step is taken. */
    const deletedBefore = async (step: 'create' | 'insert'): Promise<void> => {
      await gateway.close();
      const deleted = async () => void (await ask('DELETE', `/users/${ada.userId}`));
      gateway = await startGateway({
        adapt: (own) => ({
          ...own,
          partitions: {
            ...own.partitions,
            create: async (input) => {
              if (step === 'create') await deleted();
              return own.partitions.create(input);
            },
          },
          tasks: {
            ...own.tasks,
            insert: async (task) => {
              if (step === 'insert') await deleted();
              return own.tasks.insert(task);
            },
          },
        }),
      });
      ada = gateway.addUser('ada');
    };
    const nothingIsLeft = async (): Promise<void> => {
      const { partitions, tasks } = gateway.adapters;
      expect(await partitions.get('own')).toBeNull();
      expect(await partitions.memberships(ada.userId)).toEqual([]);
      expect(await tasks.list({ userId: null, states: ACTIVE_STATES, limit: 9 })).toEqual([]);
      expect((await leftovers(gateway)).pending).toEqual([]);
      expect((await ask('GET', '/users/'))[1].users).toHaveLength(1);
    };

    it('a partition that an upload creates in that moment goes as well', async () => {
      await deletedBefore('create');
      expect((await upload('own', 'a', 'text')).status).toBe(404);
      await nothingIsLeft();
      await deletedBefore('create');
      const refused = await gateway.call('POST', '/partition/own', { token: ada.token });
      expect([refused.status, await refused.json()]).toEqual([403, { detail: 'Invalid token' }]);
      await nothingIsLeft();
    });

    it('an upload that is admitted in that moment goes with its partition, or stays nobody’s in another', async () => {
      await deletedBefore('insert');
      await gateway.adapters.partitions.create({
        partition: 'own',
        embedder: 'builtin-hash',
        ownerId: ada.userId,
      });
      expect((await upload('own', 'a', 'text')).status).toBe(404);
      await nothingIsLeft();
      await deletedBefore('insert');
      await gateway.call('POST', '/partition/shared');
      gateway.addMember(ada.userId, 'shared', 'editor');
      expect((await upload('shared', 'a', 'text')).status).toBe(201);
      expect((await gateway.adapters.files.get('shared', 'a'))?.created_by).toBeNull();
    });
  });

  it.each([false, true])(
    'keeps the partition default, for the first admin (a member before: %s)',
    async (was) => {
      const { files, partitions } = gateway.adapters;
      await gateway.call('POST', '/partition/default', { token: ada.token });
      if (was) gateway.addMember(1, 'default', 'viewer');
      await indexText(gateway, { partition: 'default', fileId: 'a', token: ada.token }, ['text']);
      expect(await ask('DELETE', `/users/${ada.userId}`)).toEqual([204, '']);
      expect(await partitions.members('default')).toEqual([
        expect.objectContaining({ user_id: 1, role: 'owner' }),
      ]);
      expect((await files.get('default', 'a'))?.live).not.toBeNull();
    },
  );
});

it('a new AUTH_TOKEN stays, also when a gateway of before serves its first request afterwards', async () => {
  const [before, after] = ['or-before-0123456789abcdef', 'or-after-0123456789abcdef'];
  const start = (token: string) =>
    startGateway({
      env: { AUTH_TOKEN: token },
      settlesAdmin: true,
      adapt: (own) => ({ ...own, users: gateway.adapters.users }),
    });
  const old = await start(before);
  const young = await start(after);
  const statusOf = async (at: Gateway, token: string) =>
    (await at.call('GET', '/users/info', { token })).status;
  expect(await statusOf(young, after)).toBe(200);
  expect([await statusOf(old, after), await statusOf(old, before)]).toEqual([200, 403]);
  expect([await statusOf(young, after), await statusOf(young, before)]).toEqual([200, 403]);
  await Promise.all([old.close(), young.close()]);
});

describe('SEED_USERS', () => {
  const seeds = (value: unknown) => parseConfig({ SEED_USERS: JSON.stringify(value) }).auth.seedUsers;

  it('makes the accounts that are missing, once, however many gateways start', async () => {
    const { adapters } = gateway;
    const wanted = seeds([
      { email: 'one@example.org', display_name: 'One', is_admin: true },
      { external_user_id: 'two', file_quota: 4, token: 'a-token-of-some-length' },
    ]);
    await Promise.all([1, 2, 3].map(() => seedUsers(adapters, wanted, 10)));
    const users = (await ask('GET', '/users/'))[1].users.filter(
      ({ id }: { id: number }) => id > 1 && id < 1000,
    );
    expect(users).toEqual([
      expect.objectContaining({ email: 'one@example.org', is_admin: true, file_quota: 10 }),
      expect.objectContaining({ external_user_id: 'two', file_quota: 4 }),
    ]);
    expect((await ask('GET', '/users/info', undefined, 'a-token-of-some-length'))[1]).toMatchObject({
      external_user_id: 'two',
    });
  });

  it('makes the others and names the account whose token another user has', async () => {
    const { adapters } = gateway;
    const token = 'a-token-that-two-would-have';
    await seedUsers(adapters, seeds([{ email: 'first@example.org', token }]), 10);
    const wanted = seeds([{ email: 'second@example.org', token }, { email: 'third@example.org' }]);
    await expect(seedUsers(adapters, wanted, 10)).rejects.toThrow(/^SEED_USERS\[0\]: /);
    const find = (email: string) => adapters.users.findByIdentity({ email });
    expect(await find('second@example.org')).toBeNull();
    expect(await find('third@example.org')).toMatchObject({ email: 'third@example.org' });
    expect((await ask('GET', '/users/info', undefined, token))[1]).toMatchObject({
      email: 'first@example.org',
    });
  });

  it('stops the start for a token of two accounts, the administrator of the environment among them', () => {
    const token = 'a-token-of-some-length';
    const users = (...tokens: string[]) =>
      JSON.stringify(tokens.map((one, index) => ({ email: `${index}@example.org`, token: one })));
    const other = 'another-token-of-some-length';
    const read = (env: Record<string, string>) => () => parseConfig(env);
    expect(read({ SEED_USERS: users(token, other, token) })).toThrow(/SEED_USERS\[2\].*SEED_USERS\[0\]/);
    expect(read({ SEED_USERS: users(other, token), AUTH_TOKEN: token })).toThrow(
      /SEED_USERS\[1\].*AUTH_TOKEN/,
    );
    expect(read({ SEED_USERS: users(other), AUTH_TOKEN: token })).not.toThrow();
  });

  it.each([
    ['no JSON', 'nonsense'],
    ['nobody to know again', '[{"display_name":"x"}]'],
    ['a weak token', '[{"email":"a@b.org","token":"short"}]'],
    ['a bad address', '[{"email":"x"}]'],
    ['an unknown key', '[{"email":"a@b.org","quota":1}]'],
  ])('stops the start for %s', (_what, value) => {
    expect(() => parseConfig({ SEED_USERS: value })).toThrow(/SEED_USERS/);
  });
});
