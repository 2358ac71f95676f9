import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { json, route } from '../../../api/http/route.js';
import { askJson } from '../support/ask-json.js';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { walkRoutes } from '../support/walk-routes.js';
import type { People } from '../support/walk-routes.js';
import { indexText } from '../support/uploads.js';

/** Two tenants, and one person of every role in the first. */
async function populate(gateway: Gateway): Promise<People> {
  const owner = gateway.addUser('owner');
  const other = gateway.addUser('other');
  // Whatever the two could have in common, they have: a group, a parent and a workspace's id.
  const metadata = JSON.stringify({ relationship_id: 'shared', parent_id: 'x', owner: 'ada' });
  const [mine, theirs] = [
    { partition: 'secret', fileId: 'x', token: owner.token, metadata },
    { partition: 'elsewhere', fileId: 'y', token: other.token, metadata },
  ];
  await indexText(gateway, mine, ['zanzibar secret']);
  await indexText(gateway, theirs, ['other text on zanzibar']);
  for (const { partition, fileId, token } of [mine, theirs]) {
    const workspaces = `/partition/${partition}/workspaces`;
    const body = { workspace_id: partition === 'secret' ? 'inner' : 'outer' };
    await askJson(gateway, 'POST', workspaces, { token, body });
    await askJson(gateway, 'POST', `${workspaces}/${body.workspace_id}/files`, {
      token,
      body: { file_ids: [fileId] },
    });
  }
  const viewer = gateway.addUser('viewer');
  const editor = gateway.addUser('editor');
  gateway.addMember(viewer.userId, 'secret', 'viewer');
  gateway.addMember(editor.userId, 'secret', 'editor');
  return {
    outsider: gateway.addUser('outsider').token,
    member: other.token,
    viewer: viewer.token,
    editor: editor.token,
    owner: owner.token,
    admin: gateway.addUser('chief', { is_admin: true }).token,
  };
}

let gateway: Gateway;
let people: People;
beforeAll(async () => {
  gateway = await startGateway();
  people = await populate(gateway);
});
afterAll(() => gateway.close());

describe('every route', () => {
  it('lets in whom it says, and nobody else', async () => {
    expect(await walkRoutes(gateway, people)).toEqual([]);
  }, 60_000);
});

/** What a walk finds when a route is planted that is not what it says. */
async function findingsWith(planted: ReturnType<typeof route>): Promise<string[]> {
  const faulty = await startGateway({ plant: [planted] });
  try {
    return await walkRoutes(faulty, await populate(faulty));
  } finally {
    await faulty.close();
  }
}

const base = {
  method: 'get',
  summary: 'x',
  tag: 'x',
  request: { params: z.object({ partition: z.string() }) },
  responses: { 200: { description: 'x', schema: z.unknown() } },
} as const;

describe('the walk itself', () => {
  it('finds a route without a declared role', async () => {
    const { auth: _auth, ...undeclared } = route({
      ...base,
      path: '/partition/{partition}/planted',
      auth: 'user',
      handle: () => json(200, {}),
    });
    expect(await findingsWith(undeclared as never)).toContainEqual(
      'get /partition/{partition}/planted: names nobody who may call',
    );
  });

  it('finds a route that forgets its scope', async () => {
    const forgetful = route({
      ...base,
      path: '/partition/{partition}/planted',
      // A role is asked of the caller, but none on the partition of the path.
      auth: 'user',
      handle: async (_ctx, { params }) =>
        json(200, await gateway.adapters.files.listLive({ kind: 'all', userId: 0 }, params.partition)),
    });
    const findings = await findingsWith(forgetful);
    expect(findings).toContainEqual('get /partition/{partition}/planted: asks for no role on its partition');
    expect(findings).toContainEqual(expect.stringMatching(/planted: answered a outsider 200/));
  });

  it('finds a route for operators that lets every user in', async () => {
    const loose = route({
      ...base,
      path: '/admin/planted',
      request: {},
      auth: 'user',
      handle: () => json(200, {}),
    });
    expect(await findingsWith(loose)).toContainEqual(
      'get /admin/planted: is for operators, and lets others in',
    );
  });

  it('finds a route that is open to everyone', async () => {
    const open = route({
      ...base,
      path: '/planted',
      request: {},
      auth: 'public',
      handle: () => json(200, {}),
    });
    expect(await findingsWith(open)).toContainEqual('get /planted: is open to everyone');
  });
});

describe('the other tenant', () => {
  it('reads nothing of the first in any answer', async () => {
    const { member } = people;
    const [owner] = await gateway.adapters.partitions.members('secret');
    for (const { method, path, request } of gateway.routes) {
      if (method !== 'get' || path.startsWith('/docs') || path === '/openapi.json') continue;
      const query = request?.query !== undefined && 'text' in request.query.shape ? '?text=zanzibar' : '';
      const filled = path
        .replace('{partition}', 'elsewhere')
        .replace('{file_id}', 'y')
        .replaceAll(/\{\+?\w+\}/g, 'x');
      const response = await gateway.call('GET', `${filled}${query}`, { token: member });
      const text = await response.text();
      for (const word of ['zanzibar secret', '"secret"', '/secret/', `"user_id":${owner?.user_id}`])
        expect([path, word, text.includes(word)]).toEqual([path, word, false]);
    }
  });

  it('reads nothing of the first, whatever it asks of a search', async () => {
    const { member } = people;
    const filters = [
      'file_id == "x"',
      'not (file_id == "y")',
      'owner == "ada" or not (owner == "ada")',
      'file_id like "%" and relationship_id == "shared"',
      'partition == "secret"',
      'metadata["partition"] == "secret" or file_id == "x"',
      'partition_key != "x" or published == false or generation != 0',
      '"}},{"term":{"partition":"secret"}},{"x":{"y":"',
      'file_id == "x\\"}}, {\\"match_all\\": {}}"',
      '1 == 1',
    ];
    const parameters = [
      ...filters.map((filter) => `filter=${encodeURIComponent(filter)}`),
      'workspace=inner',
      'workspace=outer',
      'workspace=../secret/workspaces/inner',
      'workspace=%00',
      'include_related=true&related_limit=1000000',
      'include_ancestors=true&max_ancestor_depth=1000000',
      'include_related=true&include_ancestors=true&workspace=outer',
      'include_retrieval_trace=true',
    ];
    const searches = gateway.routes.filter(
      ({ method, request }) => method === 'get' && 'filter' in (request?.query?.shape ?? {}),
    );
    expect(searches).toHaveLength(3);
    for (const { path } of searches) {
      const filled = path.replace('{partition}', 'elsewhere').replace('{file_id}', 'y');
      for (const parameter of parameters) {
        const where = `${filled}?text=zanzibar&top_k=100&${parameter}`;
        const response = await gateway.call('GET', where, { token: member });
        const text = await response.text();
        expect([where, response.status < 500, text.includes('zanzibar secret')]).toEqual([
          where,
          true,
          false,
        ]);
        expect([where, /"secret"|"inner"|"file_id":"x"/.test(text)]).toEqual([where, false]);
      }
    }
    // The same words find the first where they may: the questions were no empty ones.
    const own = await askJson(gateway, 'GET', '/search?text=zanzibar&workspace=inner&include_related=true', {
      token: people.owner,
    });
    expect(own).toMatchObject([200, { documents: [{ content: 'zanzibar secret' }] }]);
  });

  it('cannot reach the first by an id of its own partition', async () => {
    const [extract] = (await gateway.adapters.files.listLive({ kind: 'all', userId: 0 }, 'secret')).map(
      ({ live, file_key }) => ({ key: file_key, generation: live?.generation ?? 0 }),
    );
    const chunks = await gateway.adapters.chunks.listByFile(extract?.key ?? '', extract?.generation ?? 0);
    const id = chunks[0]?.chunk_id ?? '';
    for (const path of [`/extract/${id}`, `/static/${id}`]) {
      const response = await gateway.call('GET', path, { token: people.member });
      expect([response.status, await response.json()]).toEqual([
        403,
        { detail: "Access to partition 'secret' forbidden" },
      ]);
    }
    expect((await gateway.call('GET', `/static/${id}?token=${people.viewer}`, { token: null })).status).toBe(
      200,
    );
    expect((await gateway.call('GET', `/static/${id}?token=${people.member}`, { token: null })).status).toBe(
      403,
    );
    // Everywhere else a token in the address is none.
    expect((await gateway.call('GET', `/extract/${id}?token=${people.viewer}`, { token: null })).status).toBe(
      403,
    );
  });
});

describe('an administrator', () => {
  it('is an ordinary member of partitions, and more only in SUPER_ADMIN_MODE', async () => {
    expect((await gateway.call('GET', '/partition/secret', { token: people.admin })).status).toBe(403);
    const powerful = await startGateway({ env: { SUPER_ADMIN_MODE: 'true' } });
    const { admin, outsider } = await populate(powerful);
    expect((await powerful.call('GET', '/partition/secret', { token: admin })).status).toBe(200);
    expect((await powerful.call('GET', '/partition/secret/users', { token: admin })).status).toBe(200);
    expect((await powerful.call('GET', '/partition/none', { token: admin })).status).toBe(404);
    expect((await powerful.call('GET', '/partition/secret', { token: outsider })).status).toBe(403);
    await powerful.close();
  });
});
