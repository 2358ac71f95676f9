import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectAgent } from '../support/agent.js';
import type { Agent } from '../support/agent.js';
import type { LooseBody } from '../support/loose-body.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { indexText } from '../support/uploads.js';

let gateway: Gateway;
let agent: Agent;
let token: string;
let chunkIds: string[];
beforeAll(async () => {
  gateway = await startGateway();
  token = gateway.addUser('ada').token;
  chunkIds = await indexText(gateway, { partition: 'notes', fileId: 'mill', token }, [
    'The mill stands on the river.',
    'Its wheel turns in spring.',
  ]);
  agent = await connectAgent(gateway, token);
});
afterAll(async () => {
  await agent?.close();
  await gateway?.close();
});

const ACCEPTED = { Accept: 'application/json, text/event-stream' };

async function post(
  body: unknown,
  { as = token, ...headers }: { as?: string | null } & Record<string, string | null> = {},
): Promise<[number, LooseBody]> {
  const given = { 'Content-Type': 'application/json', ...ACCEPTED, ...headers };
  const response = await gateway.call('POST', '/mcp', {
    token: as,
    headers: Object.fromEntries(Object.entries(given).flatMap(([k, v]) => (v === null ? [] : [[k, v]]))),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return [response.status, text === '' ? '' : JSON.parse(text)];
}

function request(method: string, params: object = {}, id = 1) {
  return { jsonrpc: '2.0', id, method, params };
}

describe('the handshake', () => {
  it('says who answers and what it can do', () => {
    expect(agent.client.getServerVersion()).toMatchObject({ name: 'tamis' });
    expect(agent.client.getServerCapabilities()).toEqual({
      tools: {},
      resources: {},
      prompts: {},
      completions: {},
    });
    expect(agent.client.getInstructions()).toContain('search_documents');
  });

  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
    'speaks the protocol of %s',
    async (version) => {
      const params = {
        protocolVersion: version,
        capabilities: {},
        clientInfo: { name: 'old', version: '1' },
      };
      const [status, body] = await post(request('initialize', params));
      expect([status, body.result.protocolVersion]).toEqual([200, version]);
      expect((await post(request('ping'), { 'Mcp-Protocol-Version': version }))[0]).toBe(200);
    },
  );

  it('takes notifications, and keeps no session', async () => {
    const response = await gateway.call('POST', '/mcp', {
      token,
      headers: { 'Content-Type': 'application/json', ...ACCEPTED },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    });
    expect([response.status, await response.text()]).toEqual([202, '']);
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await post(request('tools/list')))[0]).toBe(200);
  });
});

describe('what is no message', () => {
  it.each([
    ['no JSON', '{"jsonrpc":', {}, 400, -32700],
    ['no JSON-RPC', { hello: 'there' }, {}, 400, -32700],
    ['a batch', [request('ping'), request('ping', {}, 2)], {}, 400, -32600],
    ['another type of body', 'ping', { 'Content-Type': 'text/plain' }, 415, -32000],
    ['a client that takes no events', request('ping'), { Accept: 'application/json' }, 406, -32000],
    ['a protocol of the future', request('ping'), { 'Mcp-Protocol-Version': '2999-01-01' }, 400, -32000],
  ])('%s is refused in the words of the protocol', async (_what, body, headers, status, code) => {
    expect(await post(body, headers)).toMatchObject([status, { jsonrpc: '2.0', id: null, error: { code } }]);
  });

  it.each([
    ['without long numbers', '1', 'metadata is nested too deep'],
    ['with a long number', '9007199254740993', 'Parse error: Invalid JSON'],
  ])('what is nested deeper than the stack is refused, %s', async (_what, leaf, text) => {
    const deep = `${'['.repeat(100_000)}${leaf}${']'.repeat(100_000)}`;
    const params =
      '{"name":"update_file_metadata","arguments":{"partition":"notes","file_id":"mill","metadata":{"a":';
    const [status, body] = await post(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}${deep}}}}}`,
    );
    expect(status).toBeLessThan(500);
    expect(JSON.stringify(body)).toContain(text);
    expect(gateway.logLines.join('')).not.toContain('UNEXPECTED_ERROR');
  });

  it('an integer of endless digits is refused before it is read', async () => {
    const call = (digits: string) =>
      post(
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_file_metadata","arguments":' +
          `{"partition":"notes","file_id":"mill","metadata":{"n":${digits}}}}}`,
      );
    expect(await call('9'.repeat(101))).toMatchObject([400, { id: null, error: { code: -32700 } }]);
    const [status, body] = await call('9'.repeat(30));
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toContain('metadata holds an integer beyond 64 bits');
  });

  it('a message with a long number that is larger than any tool takes is refused', async () => {
    const pad = (length: number, n: string) => post(request('ping', { pad: 'x'.repeat(length), n }));
    expect((await pad(500 * 1024, '1234567890123456'))[0]).toBe(200);
    expect((await pad(513 * 1024, '1234567890123456'))[0]).toBe(413);
    expect((await pad(513 * 1024, '1'))[0]).toBe(200);
  });

  it.each(['1', '1234567890123456'])('a key given twice counts the last time, beside %s', async (number) => {
    const args = '{"cutoff":0.4,"query":"a","query":"b"}';
    const params = `{"name":"fuzzy_search_files","arguments":${args},"x":${number}}`;
    const [status, body] = await post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
    expect([status, body.result?.structuredContent]).toEqual([200, expect.objectContaining({ query: 'b' })]);
  });

  it('a method that nobody knows is told so', async () => {
    expect(await post(request('no/such'))).toMatchObject([200, { id: 1, error: { code: -32601 } }]);
  });

  it.each(['GET', 'DELETE'])('%s is not served: there is neither a stream nor a session', async (method) => {
    const response = await gateway.call(method, '/mcp', { token, headers: ACCEPTED });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('who may ask', () => {
  it('is who has a token', async () => {
    expect(await post(request('ping'), { as: null })).toEqual([403, { detail: 'Missing token' }]);
    expect(await post(request('ping'), { as: 'or-wrong-token-0123456789' })).toEqual([
      403,
      { detail: 'Invalid token' },
    ]);
    await expect(connectAgent(gateway, 'or-wrong-token-0123456789')).rejects.toThrow('Invalid token');
  });

  it('is limited as for any other route', async () => {
    const limited = await startGateway({
      env: { RATE_LIMIT_ENABLED: 'true', RATE_LIMIT_DEFAULT: '3/minute' },
    });
    try {
      const { token: of } = limited.addUser('bob');
      const ping = () =>
        limited.call('POST', '/mcp', {
          token: of,
          headers: { 'Content-Type': 'application/json', ...ACCEPTED },
          body: JSON.stringify(request('ping')),
        });
      const statuses: number[] = [];
      for (let asked = 0; asked < 3; asked += 1) statuses.push((await ping()).status);
      // The routes and the tools are counted together.
      statuses.push((await limited.call('GET', '/partition/', { token: of })).status);
      const refused = await ping();
      expect([...statuses, refused.status]).toEqual([200, 200, 200, 429, 429]);
      expect(await refused.json()).toEqual({
        detail: 'Rate limit exceeded. Please retry later.',
        extra: {},
      });
    } finally {
      await limited.close();
    }
  });

  it('is no page of another origin while access is open', async () => {
    const open = await startGateway({ env: { AUTH_TOKEN: '' } });
    try {
      const response = await open.call('POST', '/mcp', {
        token: null,
        headers: { 'Content-Type': 'application/json', ...ACCEPTED, Origin: 'https://evil.example' },
        body: JSON.stringify(request('tools/list')),
      });
      expect(response.status).toBe(403);
    } finally {
      await open.close();
    }
  });

  it('two callers at once each get their own', async () => {
    const bob = gateway.addUser('bob');
    await indexText(gateway, { partition: 'bobs', fileId: 'oven', token: bob.token }, ['The oven is hot.']);
    const [ada, other] = await Promise.all([connectAgent(gateway, token), connectAgent(gateway, bob.token)]);
    const seen = await Promise.all(
      Array.from({ length: 20 }, async (_, turn) => {
        const { body } = await (turn % 2 === 0 ? ada : other).call('list_partitions');
        return body.partitions.map(({ partition }: LooseBody) => partition).join();
      }),
    );
    expect(seen).toEqual(Array.from({ length: 20 }, (_, turn) => (turn % 2 === 0 ? 'notes' : 'bobs')));
    await Promise.all([ada.close(), other.close()]);
  });
});

describe('the list of tools', () => {
  it('is that of the wire contract', () => {
    expect(agent.tools.map(({ name }) => name).sort()).toEqual(
      [
        'search_documents',
        'search_partition',
        'search_file',
        'list_partitions',
        'list_files',
        'get_file_info',
        'get_file_chunks',
        'fuzzy_search_files',
        'get_chunk_by_id',
        'get_indexation_task_status',
        'list_my_tasks',
        'delete_file',
        'update_file_metadata',
        'copy_file',
        'index_url',
      ].sort(),
    );
  });

  it('has the arguments and defaults of the wire contract', () => {
    const said = Object.fromEntries(
      agent.tools.map(({ name, inputSchema: { properties = {}, required = [] } }) => [
        name,
        Object.keys(properties)
          .map((key) => {
            const { default: value } = properties[key] as { default?: unknown };
            if (required.includes(key)) return key;
            return value === undefined ? `${key}?` : `${key}=${JSON.stringify(value)}`;
          })
          .join(' '),
      ]),
    );
    expect(said).toEqual({
      search_documents: 'query partitions? top_k=5',
      search_partition: 'partition query top_k=5',
      search_file: 'partition file_id query top_k=5',
      list_partitions: '',
      list_files: 'partition offset=0 limit=100',
      get_file_info: 'partition file_id',
      get_file_chunks: 'partition file_id offset=0 limit=3',
      fuzzy_search_files: 'query cutoff=0.4 limit=20',
      get_chunk_by_id: 'chunk_id',
      get_indexation_task_status: 'task_id',
      list_my_tasks: 'task_status?',
      delete_file: 'partition file_id',
      update_file_metadata: 'partition file_id metadata',
      copy_file: 'partition file_id source_partition source_file_id metadata?',
      index_url: 'url partition file_id metadata?',
    });
  });

  it('says which tools read, which destroy, and which reach out', () => {
    const with_ = (test: (hints: LooseBody) => boolean) =>
      agent.tools
        .filter(({ annotations }) => test(annotations))
        .map(({ name }) => name)
        .sort();
    expect(with_(({ readOnlyHint }) => !readOnlyHint)).toEqual(
      ['copy_file', 'delete_file', 'index_url', 'update_file_metadata'].sort(),
    );
    expect(with_(({ destructiveHint }) => destructiveHint)).toEqual(['delete_file', 'update_file_metadata']);
    expect(with_(({ openWorldHint }) => openWorldHint)).toEqual(['index_url']);
    for (const { description, inputSchema, outputSchema } of agent.tools) {
      expect(description).not.toBe('');
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object']);
    }
  });
});

describe('a call that cannot be made', () => {
  it('of an unknown tool is an error of the protocol', async () => {
    await expect(agent.call('get_task_logs', {})).rejects.toThrow('Unknown tool: get_task_logs');
  });

  it.each([
    ['search_documents', {}, ['query']],
    ['search_documents', { query: 'x', top_k: 51 }, ['top_k']],
    ['search_documents', { query: 'x', top_k: 'many' }, ['top_k']],
    ['get_file_chunks', { partition: 'notes', file_id: 'mill', limit: 201 }, ['limit']],
    ['get_file_chunks', { partition: 'notes', file_id: 'mill', offset: -1 }, ['offset']],
    ['fuzzy_search_files', { query: 'x', cutoff: 2 }, ['cutoff']],
    ['list_partitions', { surprise: true }, []],
  ])('of %s with %j names what is wrong', async (name, args, place) => {
    const { error, body } = await agent.call(name, args);
    expect([error, body]).toMatchObject([true, { status: 422, detail: [{ loc: ['body', ...place] }] }]);
  });

  it('because of a fault of ours says nothing of it, and the log does', async () => {
    const broken = await startGateway({
      adapt: (adapters) => ({
        ...adapters,
        files: {
          ...adapters.files,
          listLive: async () => {
            throw new Error('secret host 10.1.2.3');
          },
        },
      }),
    });
    try {
      await broken.call('POST', '/partition/notes');
      const admin = await connectAgent(broken, ADMIN_TOKEN);
      const { error, text, body } = await admin.call('list_files', { partition: 'notes' });
      expect([error, body]).toMatchObject([true, { status: 500, extra: { request_id: expect.any(String) } }]);
      expect(text).not.toContain('10.1.2.3');
      await expect(admin.client.listResources()).rejects.toThrow(/UNEXPECTED_ERROR/);
      expect(broken.logLines.join('')).toContain('10.1.2.3');
      await admin.close();
    } finally {
      await broken.close();
    }
  });
});

describe('resources', () => {
  it('are the files, a page at a time', async () => {
    const many = gateway.addUser('many').token;
    for (let n = 0; n < 205; n += 1) {
      const partition = n < 103 ? 'many-a' : 'many-b';
      await indexText(gateway, { partition, fileId: `f-${String(n).padStart(3, '0')}`, token: many }, [
        `text ${n}`,
      ]);
    }
    const reader = await connectAgent(gateway, many);
    const uris: string[] = [];
    const pages: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await reader.client.listResources(cursor === undefined ? {} : { cursor });
      pages.push(page.resources.length);
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(pages.slice(0, 2)).toEqual([100, 100]);
    expect(new Set(uris).size).toBe(205);
    expect(uris.at(0)).toBe('tamis://partition/many-a/file/f-000');
    expect(uris.at(-1)).toBe('tamis://partition/many-b/file/f-204');
    await expect(reader.client.listResources({ cursor: 'made-up' })).rejects.toMatchObject({ code: -32602 });
    await reader.close();
  }, 30_000);

  it('are read as metadata and chunks, or one chunk', async () => {
    const uri = 'tamis://partition/notes/file/mill';
    const { contents } = (await agent.client.readResource({ uri })) as LooseBody;
    expect(JSON.parse(contents[0].text)).toMatchObject({ file_id: 'mill', total_chunks: 2 });
    expect(contents.slice(1)).toEqual([
      {
        uri: `tamis://chunk/${chunkIds[0]}`,
        mimeType: 'text/plain',
        text: 'The mill stands on the river.',
      },
      {
        uri: `tamis://chunk/${chunkIds[1]}`,
        mimeType: 'text/plain',
        text: 'Its wheel turns in spring.',
      },
    ]);
    const chunk = (await agent.client.readResource({ uri: contents[2].uri })) as LooseBody;
    expect(chunk.contents).toMatchObject([
      { text: 'Its wheel turns in spring.', _meta: { metadata: { file_id: 'mill' } } },
    ]);
    const { resourceTemplates } = await agent.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'tamis://partition/{partition}/file/{file_id}',
      'tamis://chunk/{chunk_id}',
    ]);
  });

  it.each([
    'tamis://partition/notes/file/none',
    'tamis://partition/none/file/mill',
    'tamis://partition/%E0%A4%A/file/mill',
    'tamis://chunk/none',
    'file:///etc/passwd',
    '',
  ])('%s is none', async (uri) => {
    await expect(agent.client.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
  });
});

describe('prompts', () => {
  it('ask for an answer from a partition', async () => {
    const { prompts } = await agent.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['answer_from_partition']);
    const { messages } = await agent.client.getPrompt({
      name: 'answer_from_partition',
      arguments: { partition: 'notes', question: 'Where is the mill?' },
    });
    expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
    const { text } = messages[0]?.content as { text: string };
    expect(text).toContain("search_partition with partition 'notes'");
    expect(text).toContain('Where is the mill?');
  });

  it('want both arguments, and a partition that the caller may read', async () => {
    const get = (args: Record<string, string>, name = 'answer_from_partition') =>
      agent.client.getPrompt({ name, arguments: args });
    await expect(get({ partition: 'notes' })).rejects.toMatchObject({ code: -32602 });
    await expect(get({ partition: 'none', question: 'x' })).rejects.toThrow("Partition 'none' not found");
    await expect(get({}, 'none')).rejects.toThrow("Prompt 'none' not found");
  });

  it('have the names of partitions completed', async () => {
    const complete = async (value: string, name = 'partition') => {
      const ref = { type: 'ref/prompt' as const, name: 'answer_from_partition' };
      return (await agent.client.complete({ ref, argument: { name, value } })).completion.values;
    };
    expect(await complete('no')).toEqual(['notes']);
    expect(await complete('bo')).toEqual([]);
    expect(await complete('no', 'question')).toEqual([]);
  });
});
