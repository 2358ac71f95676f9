import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../../../support/until.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway({ env: { MAX_PARTITIONS_PER_USER: '3' } });
  ada = gateway.addUser('ada');
});
afterEach(() => gateway.close());

async function ask(method: string, path: string, token: string | null = ada.token) {
  const response = await gateway.call(method, path, { token });
  const text = await response.text();
  return [response.status, text === '' ? '' : JSON.parse(text)];
}

describe('POST /partition/{partition}', () => {
  it('creates it for any user, with an empty body', async () => {
    for (const [path, name] of [
      ['/partition/one', 'one'],
      ['/partition/two/', 'two'],
    ] as const) {
      expect(await ask('POST', path)).toEqual([201, '']);
      expect(await gateway.adapters.partitions.roleOf(ada.userId, name)).toBe('owner');
    }
  });

  it('refuses a second one, odd and reserved names, and too many', async () => {
    await ask('POST', '/partition/one');
    expect((await ask('POST', '/partition/one'))[0]).toBe(409);
    expect(await ask('POST', '/partition/a%20b')).toEqual([
      400,
      { detail: expect.stringMatching(/^Invalid partition name/) },
    ]);
    for (const name of ['all', 'v1', 'search', 'ALL'])
      expect(await ask('POST', `/partition/${name}`)).toEqual([
        400,
        { detail: expect.stringMatching(/^\[RESERVED_PARTITION_NAME\]: /), extra: expect.any(Object) },
      ]);
    await ask('POST', '/partition/two');
    await ask('POST', '/partition/three');
    expect(await ask('POST', '/partition/four')).toEqual([
      403,
      { detail: expect.stringMatching(/^\[PARTITION_LIMIT_EXCEEDED\]: /), extra: expect.any(Object) },
    ]);
  });
});

describe('the limit of partitions', () => {
  it('leaves out those that others have made and handed over', async () => {
    const lead = gateway.addUser('lead');
    for (const name of ['x', 'y', 'z']) {
      expect((await ask('POST', `/partition/${name}`, lead.token))[0]).toBe(201);
      await gateway.adapters.partitions.addMember(name, ada.userId, 'owner');
    }
    for (const name of ['one', 'two', 'three'])
      expect((await ask('POST', `/partition/${name}`))[0]).toBe(201);
    expect((await ask('POST', '/partition/four'))[0]).toBe(403);
  });
});

describe('POST /partition/{partition}, many at once', () => {
  it('keeps to the limit of partitions', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
    const { partitions } = gateway.adapters;
    const create = partitions.create.bind(partitions);
    let begun = 0;
    // Each has counted before the first one is there.
    const creating = jest.spyOn(partitions, 'create').mockImplementation(async (wanted) => {
      begun += 1;
      await until('all are about to create', async () => begun >= names.length);
      return create(wanted);
    });
    const answers = await Promise.all(names.map((name) => ask('POST', `/partition/${name}`)));
    creating.mockRestore();
    const created = answers.filter(([status]) => status === 201).length;
    expect(answers.filter(([status]) => status === 403)).toHaveLength(names.length - created);
    expect(created).toBeGreaterThan(0);
    expect(created).toBeLessThanOrEqual(3);
    const owned = await partitions.memberships(ada.userId);
    expect(owned.map(({ partition }) => partition).sort()).toEqual(
      names.filter((_, index) => answers[index]![0] === 201).sort(),
    );
  });
});

describe('GET /partition/', () => {
  it("lists the caller's own, with exact counts under both names", async () => {
    await indexText(gateway, { partition: 'one', fileId: 'a', token: ada.token }, ['text']);
    await gateway.call('POST', '/indexer/partition/one/file/b', {
      body: uploadForm('pending'),
      token: ada.token,
    });
    await gateway.call('POST', '/partition/foreign');
    expect(await ask('GET', '/partition/')).toEqual([
      200,
      {
        partitions: [
          {
            partition: 'one',
            file_count: 1,
            document_count: 1,
            chunk_count: 1,
            description: '',
            embedder: 'builtin-hash',
            embedder_swap: null,
            indexation_preset: 'default',
            retrieval_preset: 'default',
            dimension: 1024,
            chat_history_depth: 4,
            chat_llm: null,
            created_at: expect.any(String),
            role: 'owner',
          },
        ],
      },
    ]);
  });

  it('lists all of them, without a role, for a super admin', async () => {
    const powerful = await startGateway({ env: { SUPER_ADMIN_MODE: 'true' } });
    const { token } = powerful.addUser('bob');
    await powerful.call('POST', '/partition/bobs', { token });
    const body = (await (await powerful.call('GET', '/partition/')).json()) as { partitions: object[] };
    expect(body.partitions).toEqual([expect.objectContaining({ partition: 'bobs' })]);
    expect(body.partitions[0]).not.toHaveProperty('role');
    await powerful.close();
  });
});

describe('the check order of a partition path', () => {
  it('tells missing, foreign and too low apart', async () => {
    await gateway.call('POST', '/partition/foreign');
    expect(await ask('GET', '/partition/none')).toEqual([404, { detail: "Partition 'none' not found" }]);
    expect(await ask('GET', '/partition/foreign')).toEqual([
      403,
      { detail: "Access to partition 'foreign' forbidden" },
    ]);
    // An admin is an ordinary member here.
    await ask('POST', '/partition/mine');
    expect((await ask('GET', '/partition/mine', undefined))[0]).toBe(200);
    const admin = await gateway.call('GET', '/partition/mine');
    expect(admin.status).toBe(403);
  });

  it('knows no partition named like a member of Object', async () => {
    for (const name of ['constructor', '__proto__', 'toString'])
      expect((await ask('GET', `/partition/${name}`))[0]).toBe(404);
  });
});

describe('GET /partition/{partition}', () => {
  it('lists live files, their metadata flattened, unless it is one of ours', async () => {
    const metadata = '{"owner":"ada","big":9007199254740993,"partition":"lie","filename":"lie"}';
    await indexText(gateway, { partition: 'one', fileId: 'a', token: ada.token, metadata }, ['text']);
    await gateway.call('POST', '/indexer/partition/one/file/b', {
      body: uploadForm('pending'),
      token: ada.token,
    });
    const response = await gateway.call('GET', '/partition/one', { token: ada.token });
    const text = await response.text();
    expect(text).toContain('"big":9007199254740993');
    expect(JSON.parse(text)).toEqual({
      files: [
        expect.objectContaining({
          link: `${gateway.url}/partition/one/file/a`,
          partition: 'one',
          file_id: 'a',
          owner: 'ada',
          relationship_id: null,
          parent_id: null,
          filename: 'notes.txt',
          file_size: '4.00 B',
          content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          indexed_at: expect.any(String),
        }),
      ],
    });
  });

  it('goes on behind an id, which need not be there', async () => {
    for (const fileId of ['a', 'b', 'c'])
      await indexText(gateway, { partition: 'one', fileId, token: ada.token }, [fileId]);
    const ids = async (query: string): Promise<string[]> => {
      const [status, body] = await ask('GET', `/partition/one?${query}`);
      expect(status).toBe(200);
      return (body as { files: { file_id: string }[] }).files.map(({ file_id: id }) => id);
    };
    expect(await ids('limit=2')).toEqual(['a', 'b']);
    expect(await ids('limit=2&after=b')).toEqual(['c']);
    expect(await ids('after=aa')).toEqual(['b', 'c']);
    expect(await ids('after=c')).toEqual([]);
    expect(await ids('after=a&degraded_stage=caption')).toEqual([]);
  });

  it('lists nothing for a limit of 0, and refuses one that is no count', async () => {
    await indexText(gateway, { partition: 'one', fileId: 'a', token: ada.token }, ['text']);
    for (const limit of ['-1', '', 'x', '1.5'])
      for (const path of ['/partition/one', '/partition/one/file/a'])
        expect([limit, (await ask('GET', `${path}?limit=${limit}`))[0]]).toEqual([limit, 422]);
    expect(await ask('GET', '/partition/one?limit=0')).toEqual([200, { files: [] }]);
    expect(await ask('GET', '/partition/one/file/a?limit=0')).toEqual([
      200,
      { metadata: expect.objectContaining({ file_id: 'a' }), documents: [] },
    ]);
    expect((await ask('GET', '/partition/one?limit=2&unknown=1'))[0]).toBe(200);
  });
});

describe('GET /partition/{partition}/file/{file_id}', () => {
  it('links to the extracts of the live version', async () => {
    const ids = await indexText(gateway, { partition: 'one', fileId: 'a', token: ada.token }, [
      'first',
      'second',
    ]);
    expect(await ask('GET', '/partition/one/file/a?limit=2000&whatever=1')).toEqual([
      200,
      {
        metadata: expect.objectContaining({ file_id: 'a', partition: 'one', filename: 'notes.txt' }),
        documents: ids.map((id) => ({ link: `${gateway.url}/extract/${id}` })),
      },
    ]);
    expect((await ask('GET', '/partition/one/file/a?limit=1'))[1].documents).toHaveLength(1);
  });

  it('links to as many as are asked for, and to 2,000 unasked', async () => {
    const lines = Array.from({ length: 2100 }, (_, line) => `line ${line}`);
    const ids = await indexText(gateway, { partition: 'one', fileId: 'a', token: ada.token }, lines);
    const listed = async (query: string) =>
      (await ask('GET', `/partition/one/file/a${query}`))[1].documents as { link: string }[];
    expect(await listed('')).toHaveLength(2000);
    const all = await listed('?limit=5000');
    expect(all.map(({ link }) => link.split('/').at(-1))).toEqual(ids);
    expect((await ask('GET', `/extract/${ids.at(-1)}`))[1]).toMatchObject({ page_content: 'line 2099' });
  });

  it('answers 404 for an unknown file and for one not yet indexed', async () => {
    await gateway.call('POST', '/indexer/partition/one/file/b', { body: uploadForm(), token: ada.token });
    for (const id of ['b', 'none'])
      expect(await ask('GET', `/partition/one/file/${id}`)).toEqual([
        404,
        { detail: `File '${id}' not found in partition 'one'` },
      ]);
  });

  it('forces the scheme that the operator prefers', async () => {
    const secure = await startGateway({ env: { PREFERRED_URL_SCHEME: 'https' } });
    const [id] = await indexText(secure, { partition: 'one', fileId: 'a' }, ['x']);
    const body = (await (await secure.call('GET', '/partition/one/file/a')).json()) as {
      documents: object[];
    };
    expect(body.documents).toEqual([{ link: `${secure.url.replace('http:', 'https:')}/extract/${id}` }]);
    await secure.close();
  });
});

describe('authentication off', () => {
  it('runs every request as user 1', async () => {
    const open = await startGateway({ env: { AUTH_TOKEN: '' } });
    expect((await open.call('POST', '/partition/one', { token: null })).status).toBe(201);
    expect(await open.adapters.partitions.roleOf(1, 'one')).toBe('owner');
    expect((await open.call('GET', '/partition/one', { token: 'any-placeholder' })).status).toBe(200);
    await open.close();
  });
});
