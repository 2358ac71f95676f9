import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../../support/until.js';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { indexText, uploadForm } from '../support/uploads.js';
import { openAiError } from '../support/openai-error.js';

let gateway: Gateway;
let admin: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway();
  admin = gateway.addUser('operator', { is_admin: true });
});
afterEach(() => gateway.close());

interface Sent {
  method?: string;
  token?: string;
}

/** Sends all of a body but its end once the caller was admitted, and that when `meanwhile` is done, a second later. */
async function sendSlowly(
  path: string,
  body: FormData | object,
  meanwhile: () => Promise<unknown>,
  { method = 'POST', token = admin.token }: Sent = {},
): Promise<[number, string]> {
  const whole =
    body instanceof FormData
      ? new Response(body)
      : new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  const bytes = Buffer.from(await whole.arrayBuffer());
  const asked = jest.spyOn(gateway.adapters.users, 'findByTokenDigest');
  const answered = new Promise<[number, string]>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': whole.headers.get('content-type')!,
      'content-length': bytes.length,
    };
    const sent = request(`${gateway.url}${path}`, { method, headers }, (response) => {
      text(response).then((answer) => resolve([response.statusCode ?? 0, answer]), reject);
    });
    sent.once('error', reject);
    sent.write(bytes.subarray(0, -1));
    const endSlowly = async (): Promise<void> => {
      await until('it was admitted', async () => asked.mock.calls.length > 0);
      await meanwhile();
      const admittedAt = performance.now();
      await until('a second is over', async () => performance.now() - admittedAt > 1_200);
      sent.end(bytes.subarray(-1));
    };
    void endSlowly().catch(reject);
  });
  return answered.finally(() => asked.mockRestore());
}

describe('a caller whose right ends while the body of the request comes', () => {
  it('is served where it still holds', async () => {
    const [status] = await sendSlowly('/users/', { display_name: 'Grace' }, async () => undefined);
    expect(status).toBe(201);
  });

  it('is refused with a token that was made anew', async () => {
    const path = `/users/${admin.userId}/regenerate_token`;
    const revoke = async () => {
      expect((await gateway.call('POST', path, { token: admin.token })).status).toBe(200);
    };
    const [status] = await sendSlowly('/users/', { display_name: 'Eve', is_admin: true }, revoke);
    expect(status).toBe(403);
  });

  it('is refused as an administrator who is none any more', async () => {
    const demote = () => gateway.adapters.users.update(admin.userId, { is_admin: false });
    const [status] = await sendSlowly('/users/', { display_name: 'Eve' }, demote);
    expect(status).toBe(403);
  });
});

describe('a body that takes more than a second', () => {
  it('is one request of the rate limit, also where no other one is left', async () => {
    await gateway.close();
    gateway = await startGateway({ env: { RATE_LIMIT_DEFAULT: '3/minute' } });
    const { token } = gateway.addUser('ada');
    const upload = () => sendSlowly('/indexer/partition/one/file/a', uploadForm(), async () => {}, { token });
    expect((await upload())[0]).toBe(201);
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await sendSlowly('/mcp', message, async () => {}, { token }))[0]).toBe(200);
    expect((await gateway.call('GET', '/partition/', { token })).status).toBe(200);
    expect((await gateway.call('GET', '/partition/', { token })).status).toBe(429);
  });
});

describe('a partition that is deleted while the bytes for it come', () => {
  it.each([
    { what: 'a replacement', method: 'PUT', path: '/indexer/partition/plans/file/plan' },
    {
      what: 'a document for a partition that is there',
      method: 'POST',
      path: '/indexer/partition/plans/file/new?create_partition=false',
    },
  ])('is not made anew by $what', async ({ method, path }) => {
    const { token } = gateway.addUser('eve');
    await indexText(gateway, { partition: 'plans', fileId: 'plan', token }, ['The plan.']);
    const checked = jest.spyOn(gateway.adapters.counters, 'nextGeneration');
    const remove = async () => {
      await until('the target was checked', async () => checked.mock.calls.length > 0);
      expect((await gateway.call('DELETE', '/partition/plans', { token })).status).toBe(204);
    };
    const [status] = await sendSlowly(path, uploadForm('newer'), remove, { method, token });
    expect(status).toBe(404);
    expect(await gateway.adapters.partitions.get('plans')).toBeNull();
  });
});

describe('a caller whose right ends while a body comes that its route reads by itself', () => {
  let eve: { token: string; userId: number };
  beforeEach(async () => {
    eve = gateway.addUser('eve');
    await indexText(gateway, { partition: 'plans', fileId: 'plan', token: eve.token }, ['The plan.']);
  });

  const revoke = async () => {
    const path = `/users/${eve.userId}/regenerate_token`;
    expect((await gateway.call('POST', path, { token: eve.token })).status).toBe(200);
  };
  const form = (fields: Record<string, string>) => {
    const filled = new FormData();
    for (const [name, value] of Object.entries(fields)) filled.set(name, value);
    return filled;
  };
  const toolCall = (name: string, args: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  });

  it.each<[string, string, string, FormData | object]>([
    ['an upload', 'POST', '/indexer/partition/plans/file/new', uploadForm('planted')],
    [
      'an upload into a partition to be made',
      'POST',
      '/indexer/partition/other/file/new',
      uploadForm('planted'),
    ],
    ['a replacement', 'PUT', '/indexer/partition/plans/file/plan', uploadForm('planted')],
    ['a change', 'PATCH', '/indexer/partition/plans/file/plan', form({ metadata: '{"shelf":"z"}' })],
    [
      'a copy',
      'POST',
      '/indexer/partition/plans/file/new/copy',
      form({ source_partition: 'plans', source_file_id: 'plan' }),
    ],
    ['a tool', 'POST', '/v1/tools/execute', uploadForm('a', { tool: '{"name":"extractText"}' })],
    ['a message', 'POST', '/mcp', toolCall('delete_file', { partition: 'plans', file_id: 'plan' })],
  ])('is refused with a token that was made anew: %s', async (_what, method, path, body) => {
    const [status, answer] = await sendSlowly(path, body, revoke, { method, token: eve.token });
    expect([status, JSON.parse(answer)]).toEqual([
      403,
      path.startsWith('/v1/') ? openAiError('AUTH_ERROR', 'Invalid token') : { detail: 'Invalid token' },
    ]);
    expect(await gateway.adapters.files.get('plans', 'new')).toBeNull();
    expect(await gateway.adapters.files.get('plans', 'plan')).toMatchObject({
      pending_task: null,
      live: { metadata: {} },
    });
    expect(await gateway.adapters.partitions.get('other')).toBeNull();
  });

  it.each([
    ['delete_file', { file_id: 'plan' }],
    ['search_partition', { query: 'plan' }],
    ['get_file_chunks', { file_id: 'plan' }],
  ])('uses no tool of a partition that it was taken out of: %s', async (name, args) => {
    const call = toolCall(name, { partition: 'plans', ...args });
    gateway.addMember(admin.userId, 'plans', 'owner');
    const takeOut = async () => {
      const path = `/partition/plans/users/${eve.userId}`;
      expect((await gateway.call('DELETE', path, { token: admin.token })).status).toBe(204);
    };
    const [status, answer] = await sendSlowly('/mcp', call, takeOut, { token: eve.token });
    expect(status).toBe(200);
    expect(JSON.parse(answer)).toMatchObject({ result: { isError: true } });
    expect(answer).toContain("Access to partition 'plans' forbidden");
    expect((await gateway.adapters.files.get('plans', 'plan'))?.live).not.toBeNull();
  });
});

describe('a body of another JSON type', () => {
  it.each(['application/merge-patch+json', 'application/ld+json', 'application/json; charset=utf-8'])(
    'is read: %s',
    async (type) => {
      const { userId } = gateway.addUser('ada', { is_admin: true });
      const answer = await gateway.call('PATCH', `/users/${userId}`, {
        token: admin.token,
        headers: { 'Content-Type': type },
        body: '{"is_admin":false}',
      });
      expect(answer.status).toBe(200);
      expect((await gateway.adapters.users.get(userId))?.is_admin).toBe(false);
    },
  );
});
