import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LooseBody } from '../../support/loose-body.js';
import { ADMIN_TOKEN, startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';

type Person = { token: string; userId: number };
let gateway: Gateway;
let ada: Person;
let bob: Person;
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
  bob = gateway.addUser('bob');
  await gateway.call('POST', '/partition/one', { token: ada.token });
});
afterEach(() => gateway.close());

async function ask(
  method: string,
  path: string,
  form?: Record<string, string> | FormData,
  token = ada.token,
): Promise<[number, LooseBody]> {
  const body = form === undefined || form instanceof FormData ? form : new URLSearchParams(form);
  const response = await gateway.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  return [response.status, text === '' ? '' : JSON.parse(text)];
}

const USERS = '/partition/one/users';

describe('POST /partition/{partition}/users', () => {
  it('adds a member, a viewer unless a role is given, from both kinds of form', async () => {
    expect(await ask('POST', USERS, { user_id: String(bob.userId) })).toEqual([201, '']);
    expect((await ask('GET', '/partition/one', undefined, bob.token))[0]).toBe(200);
    const carol = gateway.addUser('carol');
    const form = new FormData();
    form.set('user_id', String(carol.userId));
    form.set('role', 'editor');
    expect(await ask('POST', `${USERS}/`, form)).toEqual([201, '']);
    expect((await ask('GET', USERS))[1].members).toEqual([
      {
        user_id: ada.userId,
        display_name: 'ada',
        email: null,
        role: 'owner',
        added_at: expect.any(String),
      },
      expect.objectContaining({ user_id: bob.userId, role: 'viewer' }),
      expect.objectContaining({ user_id: carol.userId, role: 'editor' }),
    ]);
  });

  it('is for owners', async () => {
    gateway.addMember(bob.userId, 'one', 'editor');
    const refusal = [403, { detail: "Role 'owner' required on partition 'one'" }];
    expect(await ask('POST', USERS, { user_id: '1' }, bob.token)).toEqual(refusal);
    for (const [method, path] of [
      ['GET', USERS],
      ['GET', `${USERS}/candidates?search=ada`],
      ['PATCH', `${USERS}/${ada.userId}`],
      ['DELETE', `${USERS}/${ada.userId}`],
    ] as const)
      expect(await ask(method, path, undefined, bob.token)).toEqual(refusal);
    expect((await ask('GET', '/partition/none/users'))[0]).toBe(404);
  });

  it('refuses unknown users, members, bad roles and other kinds of body', async () => {
    expect(await ask('POST', USERS, { user_id: '404' })).toEqual([404, { detail: 'User 404 not found' }]);
    expect(await ask('POST', USERS, { user_id: String(ada.userId) })).toEqual([
      409,
      { detail: `User ${ada.userId} is already a member of partition 'one'` },
    ]);
    for (const form of [
      { user_id: String(bob.userId), role: 'king' },
      { user_id: 'x' },
      { user_id: '' },
      { user_id: '1.5' },
      { role: 'viewer' },
      {},
    ])
      expect([form, (await ask('POST', USERS, form as Record<string, string>))[0]]).toEqual([form, 422]);
    for (const id of ['0', '-1', '99999999999999999'])
      expect([id, (await ask('POST', USERS, { user_id: id }))[0]]).toEqual([id, 404]);
    const asJson = await gateway.call('POST', USERS, {
      token: ada.token,
      body: JSON.stringify({ user_id: bob.userId }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(asJson.status).toBe(422);
    const withFile = new FormData();
    withFile.set('user_id', String(bob.userId));
    withFile.set('extra', new Blob(['x']), 'x.txt');
    expect((await ask('POST', USERS, withFile))[0]).toBe(422);
    const broken = await gateway.call('POST', USERS, {
      token: ada.token,
      body: '--x\r\nnonsense',
      headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    });
    expect(broken.status).toBe(400);
  });
});

describe('PATCH and DELETE /partition/{partition}/users/{user_id}', () => {
  it('change a role and end a membership', async () => {
    gateway.addMember(bob.userId, 'one', 'viewer');
    expect(await ask('PATCH', `${USERS}/${bob.userId}`, { role: 'editor' })).toEqual([200, '']);
    expect(await gateway.adapters.partitions.roleOf(bob.userId, 'one')).toBe('editor');
    expect(await ask('DELETE', `${USERS}/${bob.userId}`)).toEqual([204, '']);
    expect((await ask('GET', '/partition/one', undefined, bob.token))[0]).toBe(403);
    for (const method of ['PATCH', 'DELETE'])
      expect(await ask(method, `${USERS}/${bob.userId}`, { role: 'viewer' })).toEqual([
        404,
        { detail: `User ${bob.userId} is not a member of partition 'one'` },
      ]);
    expect((await ask('PATCH', `${USERS}/${ada.userId}`, { role: 'king' }))[0]).toBe(422);
    expect((await ask('PATCH', `${USERS}/x`, { role: 'viewer' }))[0]).toBe(422);
    expect((await ask('PATCH', `${USERS}/-1`, { role: 'viewer' }))[0]).toBe(404);
  });

  it('leave the last owner', async () => {
    const refused = [409, { detail: 'A partition keeps at least one owner.' }];
    expect(await ask('PATCH', `${USERS}/${ada.userId}`, { role: 'viewer' })).toEqual(refused);
    expect(await ask('DELETE', `${USERS}/${ada.userId}`)).toEqual(refused);
    gateway.addMember(bob.userId, 'one', 'owner');
    expect((await ask('DELETE', `${USERS}/${ada.userId}`))[0]).toBe(204);
    expect(await ask('PATCH', `${USERS}/${bob.userId}`, { role: 'viewer' }, bob.token)).toEqual(refused);
  });
});

describe('GET /partition/{partition}/users/candidates', () => {
  const search = (query: string) => ask('GET', `${USERS}/candidates?${query}`);

  it('finds others by a beginning, page by page', async () => {
    const people = ['Margaret', 'Marguerite', 'Marge'].map((name) => gateway.addUser(name));
    const first = await search('search=marg&limit=2');
    expect(first).toEqual([
      200,
      {
        candidates: ['Margaret', 'Marguerite'].map((display_name, index) => ({
          user_id: people[index]?.userId,
          display_name,
          email: null,
        })),
        limit: 2,
        has_more: true,
        next_cursor: people[1]?.userId,
      },
    ]);
    const next = await search(`search=marg&limit=2&cursor=${first[1].next_cursor}`);
    expect(next[1]).toEqual({
      candidates: [expect.objectContaining({ display_name: 'Marge' })],
      limit: 2,
      has_more: false,
      next_cursor: null,
    });
    // Exactly as many as asked for are no sign of more.
    expect((await search('search=marg&limit=3'))[1]).toMatchObject({ has_more: false, next_cursor: null });
    expect((await search('search=marg'))[1]).toMatchObject({ limit: 20 });
    // Members are none.
    expect((await search('search=ada'))[1].candidates).toEqual([]);
  });

  it('finds by number for whoever shares a partition as its owner, and for administrators', async () => {
    const byNumber = async (token = ada.token, partition = 'one') => {
      const path = `/partition/${partition}/users/candidates?search=${bob.userId}`;
      const [status, body] = await ask('GET', path, undefined, token);
      return [status, body.candidates];
    };
    const carol = gateway.addUser('carol');
    expect(await byNumber()).toEqual([422, undefined]);
    expect((await search('search=000'))[0]).toBe(422);
    // A partition with others in which she is no owner changes nothing.
    await gateway.call('POST', '/partition/two', { token: carol.token });
    gateway.addMember(ada.userId, 'two', 'editor');
    expect(await byNumber()).toEqual([422, undefined]);
    const found = [200, [expect.objectContaining({ user_id: bob.userId })]];
    await gateway.call('POST', '/partition/admins');
    expect(await byNumber(ADMIN_TOKEN, 'admins')).toEqual(found);
    gateway.addMember(carol.userId, 'one', 'viewer');
    expect(await byNumber()).toEqual(found);
    await ask('DELETE', `${USERS}/${carol.userId}`);
    expect(await byNumber()).toEqual([422, undefined]);
    await gateway.adapters.partitions.setRole('two', ada.userId, 'owner');
    expect(await byNumber()).toEqual(found);
  });

  it('lists nobody for less, and reads no other cursor than ours', async () => {
    for (const query of [
      'search=bo',
      'search=',
      'search=%20%20%20',
      '',
      'search=bob&limit=0',
      'search=bob&limit=101',
    ])
      expect([query, (await search(query))[0]]).toEqual([query, 422]);
    for (const cursor of ['nonsense', '', '-1', '1.5'])
      expect([cursor, (await search(`search=bob&cursor=${cursor}`))[0]]).toEqual([cursor, 422]);
    expect((await search('search=.*.*'))[1].candidates).toEqual([]);
  });
});
