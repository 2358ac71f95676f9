import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { askJson } from '../support/ask-json.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

const ALL = '/users/me/conversations';

let gateway: Gateway;
let ada: { token: string; userId: number };
let bob: { token: string; userId: number };

beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
  bob = gateway.addUser('bob');
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = ada.token) {
  return askJson(gateway, method, path, { body, token });
}

async function begin(more: object = {}, token = ada.token): Promise<string> {
  const [status, body] = await ask('POST', ALL, { title: 'Rivers', ...more }, token);
  expect(status).toBe(201);
  return `${ALL}/${body.conversation_id}`;
}

const QUESTION = { role: 'user', content: 'What flows?' };
const ANSWER = {
  role: 'assistant',
  content: 'The river flows [1].',
  answer_id: 'chatcmpl-1',
  sources: [
    { source_type: 'document', number: 1, cited: true, chunk_id: 'c', file_id: 'river', verified: true },
  ],
};

describe('POST /users/me/conversations', () => {
  it('begins one with scope and preset', async () => {
    const scope = { partition: 'one', workspace: 'autumn' };
    expect(await ask('POST', ALL, { title: ' Rivers ', scope, preset: 'careful' })).toEqual([
      201,
      {
        conversation_id: expect.any(String),
        title: 'Rivers',
        scope: { ...scope, file_id: null },
        preset: 'careful',
        message_count: 0,
        revision: 1,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    expect((await ask('POST', ALL, { title: 'All' }))[1].scope).toEqual({
      partition: null,
      workspace: null,
      file_id: null,
    });
  });

  it.each([
    {},
    { title: '  ' },
    { title: 'x'.repeat(201) },
    { title: 'x', scope: { file_id: 'without a partition' } },
    { title: 'x', scope: { workspace: 'without a partition' } },
    { title: 'x', more: 1 },
  ])('answers 422 to %#', async (body) => {
    expect((await ask('POST', ALL, body))[0]).toBe(422);
  });

  it('keeps 500 of a user, those that were changed last', async () => {
    const first = await begin({ title: 'first' });
    for (let turn = 0; turn < 500; turn += 1) await ask('POST', ALL, { title: `${turn}` });
    const [, { total }] = await ask('GET', `${ALL}?limit=1`);
    expect([total, (await ask('GET', first))[0]]).toEqual([500, 404]);
  });
});

describe('GET /users/me/conversations', () => {
  it("lists the caller's own in pages, the one that was changed last in front", async () => {
    const first = await begin({ title: 'first' });
    await begin({ title: 'second' });
    await begin({ title: 'of Bob' }, bob.token);
    await ask('PATCH', first, { title: 'renamed' });
    const titles = async (query: string) => {
      const [, { total, conversations }] = await ask('GET', `${ALL}${query}`);
      return [total, conversations.map(({ title }: { title: string }) => title)];
    };
    expect(await titles('')).toEqual([2, ['renamed', 'second']]);
    expect(await titles('?limit=1&offset=1')).toEqual([2, ['second']]);
  });

  it.each(['limit=0', 'limit=101', 'offset=-1', 'limit=x'])('answers 422 to %s', async (query) => {
    expect((await ask('GET', `${ALL}?${query}`))[0]).toBe(422);
  });
});

describe('GET /users/me/conversations/{conversation_id}', () => {
  it('is for its user alone, who reads it from wherever; an administrator does not', async () => {
    const path = await begin();
    expect((await ask('GET', path))[0]).toBe(200);
    for (const token of [bob.token, ADMIN_TOKEN])
      for (const [method, below, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { title: 'mine' }],
        ['POST', '/messages', { revision: 1, messages: [QUESTION] }],
        ['DELETE', '', undefined],
      ] as const)
        expect((await ask(method, `${path}${below}`, body, token))[0]).toBe(404);
    expect((await ask('GET', path))[1]).toMatchObject({ title: 'Rivers', message_count: 0, revision: 1 });
  });
});

describe('PATCH /users/me/conversations/{conversation_id}', () => {
  it('changes what it is given, and leaves the rest', async () => {
    const path = await begin({ scope: { partition: 'one' }, preset: 'careful' });
    const [, renamed] = await ask('PATCH', path, { title: 'Seas' });
    expect(renamed).toMatchObject({ title: 'Seas', preset: 'careful', revision: 2 });
    const [, moved] = await ask('PATCH', path, {
      scope: { partition: 'two', file_id: 'sea' },
      preset: null,
    });
    expect(moved).toMatchObject({
      title: 'Seas',
      scope: { partition: 'two', workspace: null, file_id: 'sea' },
      preset: null,
    });
    expect((await ask('PATCH', path, { title: '' }))[0]).toBe(422);
    expect((await ask('PATCH', `${ALL}/none`, { title: 'x' }))[0]).toBe(404);
  });
});

describe('POST /users/me/conversations/{conversation_id}/messages', () => {
  it('keeps questions, answers and their sources', async () => {
    const path = await begin();
    const [status, head] = await ask('POST', `${path}/messages`, {
      revision: 1,
      messages: [QUESTION, ANSWER],
    });
    expect([status, head]).toEqual([200, expect.objectContaining({ message_count: 2, revision: 2 })]);
    const [, { messages }] = await ask('GET', path);
    const [question, answer] = messages;
    expect(question).toMatchObject({ ...QUESTION, state: 'done', answer_id: null, sources: [] });
    expect(answer).toMatchObject({
      ...ANSWER,
      sources: [{ ...ANSWER.sources[0], partition: null, page: null, url: null }],
    });
  });

  it('replaces what stands behind the question that is asked again', async () => {
    const path = await begin();
    await ask('POST', `${path}/messages`, { revision: 1, messages: [QUESTION, ANSWER] });
    const changed = { role: 'user', content: 'What stands?' };
    await ask('POST', `${path}/messages`, { revision: 2, keep: 0, messages: [changed] });
    const [, { messages }] = await ask('GET', path);
    expect(messages).toEqual([expect.objectContaining(changed)]);
  });

  it('answers 409 to another browser that has not seen the last change', async () => {
    const path = await begin();
    await ask('POST', `${path}/messages`, { revision: 1, messages: [QUESTION] });
    const [status, { detail }] = await ask('POST', `${path}/messages`, { revision: 1, messages: [QUESTION] });
    expect([status, detail]).toEqual([409, expect.stringContaining('[CONFLICT]')]);
  });

  it('answers 409 beyond 200 messages', async () => {
    const path = await begin();
    const messages = Array.from({ length: 20 }, () => QUESTION);
    for (let revision = 1; revision <= 10; revision += 1)
      await ask('POST', `${path}/messages`, { revision, messages });
    const [status, { detail }] = await ask('POST', `${path}/messages`, {
      revision: 11,
      messages: [QUESTION],
    });
    expect([status, detail]).toEqual([409, expect.stringContaining('[CONVERSATION_LIMIT_EXCEEDED]')]);
  });

  it.each([
    { messages: [QUESTION] },
    { revision: 1, messages: [{ role: 'system', content: 'x' }] },
    { revision: 1, messages: [{ role: 'user', content: 'x'.repeat(32_001) }] },
    { revision: 1, messages: Array.from({ length: 21 }, () => QUESTION) },
    { revision: 1, messages: [{ ...ANSWER, sources: [{ source_type: 'document', number: 0 }] }] },
    { revision: 1, messages: [{ ...QUESTION, more: 1 }] },
  ])('answers 422 to %#', async (body) => {
    expect((await ask('POST', `${await begin()}/messages`, body))[0]).toBe(422);
  });
});

describe('DELETE /users/me/conversations/{conversation_id}', () => {
  it('deletes it with its messages', async () => {
    const path = await begin();
    expect(await ask('DELETE', path)).toEqual([204, '']);
    expect((await ask('GET', path))[0]).toBe(404);
    expect((await ask('DELETE', path))[0]).toBe(404);
  });

  it('goes with its user', async () => {
    await begin();
    await begin({}, bob.token);
    await gateway.call('DELETE', `/users/${ada.userId}`);
    const { conversations } = gateway.adapters;
    const page = { limit: 9, offset: 0 };
    expect((await conversations.list(ada.userId, page)).total).toBe(0);
    expect((await conversations.list(bob.userId, page)).total).toBe(1);
  });
});
