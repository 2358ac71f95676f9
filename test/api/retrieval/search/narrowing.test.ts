import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askJson } from '../../support/ask-json.js';
import type { LooseBody } from '../../support/loose-body.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
let bob: { token: string; userId: number };

/** Two partitions of Ada's and one of Bob's, every file with the word `report` in it. */
beforeAll(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
  bob = gateway.addUser('bob');
  const put = (partition: string, fileId: string, metadata: object | string, token = ada.token) =>
    indexText(
      gateway,
      {
        partition,
        fileId,
        token,
        metadata: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
      },
      [`report of ${partition} ${fileId}`],
    );
  await put('one', 'a', { owner: 'ada', year: 2023, created_at: '2023-05-01', tags: ['x', 'y'] });
  await put('one', 'b', { owner: 'bo_b%', year: 2024, draft: true, created_at: '2024-05-01T12:00:00+02:00' });
  await put('one', 'c', '{"big": 9007199254740993, "nested": {"key": "v"}, "partition_name": "secret"}');
  await put('two', 'd', { owner: 'ada' });
  await put('hers', 'secret-file', { owner: 'bob' }, bob.token);
});
afterAll(() => gateway.close());

function ask(path: string, token = ada.token): Promise<[number, LooseBody]> {
  return askJson(gateway, 'GET', path, { token });
}

async function filesIn(path: string, token = ada.token): Promise<string[]> {
  const [status, body] = await ask(path, token);
  expect([path, status, body.detail]).toEqual([path, 200, undefined]);
  return body.documents.map(({ metadata }: LooseBody) => metadata.file_id as string).sort();
}

function filtered(filter: string, rest = '', token = ada.token) {
  return filesIn(`/search?text=report&top_k=100&filter=${encodeURIComponent(filter)}${rest}`, token);
}

describe('GET /search with filter', () => {
  it.each([
    ['owner == "ada"', ['a', 'd']],
    ['owner != "ada"', ['b']],
    ['not (owner == "ada")', ['b', 'c']],
    ['year >= 2024 or owner like "a%"', ['a', 'b', 'd']],
    ['owner like "%\\%"', ['b']],
    ['owner like "b%"', ['b']],
    ['owner in ["ada", "nobody"] and year < 2024.5', ['a']],
    ['tags == "y"', ['a']],
    ['draft == true', ['b']],
    ['big == 9007199254740993', ['c']],
    ['big == 9007199254740992', []],
    ['nested.key == "v"', ['c']],
    ['metadata["partition_name"] == "secret"', ['c']],
    ['created_at < ISO "2024-01-01T00:00:00Z"', ['a']],
    ['created_at >= ISO "2024-05-01T10:00:00Z"', ['b']],
    ['file_id == "c" or filename == "none"', ['c']],
    ['filename == "notes.txt" and page == 1', ['a', 'b', 'c', 'd']],
    ['page > 1', []],
    ['original_filename like "notes%"', ['a', 'b', 'c', 'd']],
    ['file_size == "15.00 B"', ['a', 'b', 'c', 'd']],
    ['file_size >= 15 and file_size < 16', ['a', 'b', 'c', 'd']],
    ['file_size > 15', []],
    ['indexed_at > ISO "2024-01-01"', ['a', 'b', 'c', 'd']],
    ['indexed_at < ISO "2024-01-01"', []],
  ])('%s', async (filter, expected) => {
    expect(await filtered(filter)).toEqual(expected);
  });

  it.each([
    ['owner = "ada"', 7, 'expected a field, a value or an operator, found ='],
    ['1 == 1', 1, "expected a field, 'not' or '(', found 1"],
    ['partition == "hers"', 1, 'partitions are chosen by the request'],
    ['(owner == "ada"', 16, "expected 'and', 'or' or ')', found the end"],
    [`owner == "${'x'.repeat(2048)}"`, 2049, 'expected at most 2048 characters'],
  ])('answers 400 and says where: %s', async (filter, position, text) => {
    for (const path of ['/search', '/search/partition/one', '/search/partition/one/file/a']) {
      const [status, body] = await ask(`${path}?text=report&filter=${encodeURIComponent(filter)}`);
      expect([path, status]).toEqual([path, 400]);
      expect(body.detail).toMatch(new RegExp(`^\\[INVALID_FILTER\\]: .* character ${position}:`));
      expect(body.detail).toContain(text);
      expect(body.extra.position).toBe(position);
    }
  });

  it.each(['_id', 'content_sha256', 'indexed_at', 'file_size', 'original_filename'])(
    'finds a chunk by what its answer says under %s',
    async (field) => {
      const [, body] = await ask('/search/partition/one/file/a?text=report');
      const shown = body.documents[0].metadata[field];
      expect(await filtered(`${field} == "${shown}"`)).toContain('a');
      expect(await filtered(`${field} != "${shown}"`)).not.toContain('a');
      expect(await filtered(`${field} in ["${shown}", "none"]`, '&partitions=two')).not.toContain('a');
    },
  );

  it('does not take a name of the client’s own for the server’s', async () => {
    await indexText(
      gateway,
      { partition: 'one', fileId: 'f', token: ada.token, metadata: '{"original_filename":"mine"}' },
      ['report of mine'],
    );
    expect(await filtered('original_filename == "mine"')).toEqual([]);
    await gateway.call('DELETE', '/indexer/partition/one/file/f', { token: ada.token });
  });

  it('takes blanks for no filter, and narrows a file’s search too', async () => {
    expect(await filtered('  ')).toEqual(['a', 'b', 'c', 'd']);
    expect(await filesIn('/search/partition/one/file/a?text=report&filter=year%3D%3D2023')).toEqual(['a']);
    expect(await filesIn('/search/partition/one/file/a?text=report&filter=year%3D%3D2024')).toEqual([]);
  });

  it('goes by the record where the chunks do not follow yet', async () => {
    await indexText(
      gateway,
      { partition: 'one', fileId: 'e', token: ada.token, metadata: '{"owner":"eve"}' },
      ['report of eve'],
    );
    const file = await gateway.adapters.files.get('one', 'e');
    const outcome = await gateway.adapters.files.change({
      file: file!,
      token: 't',
      live: { ...file!.live!, metadata: { owner: 'mallory' } },
      metadataPatch: null,
    });
    expect(outcome).toBe('changed');
    expect(await filtered('owner == "eve"')).toEqual([]);
    await gateway.call('DELETE', '/indexer/partition/one/file/e', { token: ada.token });
  });

  it('never shows another tenant, whatever it says', async () => {
    for (const filter of [
      'owner == "bob"',
      'not (owner == "nobody")',
      'file_id == "secret-file" or not (file_id == "x")',
      'file_id like "%" or owner != "x"',
      'partition_key == "x" or not (file_key == "x")',
      'published == false or not (generation == 1)',
    ]) {
      const found = await filtered(filter);
      expect([filter, found.includes('secret-file')]).toEqual([filter, false]);
      expect(await filtered(filter, '&partitions=two')).not.toContain('a');
    }
  });
});

describe('GET /search with workspace', () => {
  beforeAll(async () => {
    const create = (partition: string, id: string, token = ada.token) =>
      askJson(gateway, 'POST', `/partition/${partition}/workspaces`, { token, body: { workspace_id: id } });
    const attach = (partition: string, id: string, files: string[], token = ada.token) =>
      askJson(gateway, 'POST', `/partition/${partition}/workspaces/${id}/files`, {
        token,
        body: { file_ids: files },
      });
    await create('one', 'desk');
    await attach('one', 'desk', ['a', 'b']);
    await create('one', 'empty');
    await create('one', 'both');
    await create('two', 'both');
    await attach('two', 'both', ['d']);
    await create('hers', 'hidden', bob.token);
    await attach('hers', 'hidden', ['secret-file'], bob.token);
  });

  it('answers files of that workspace alone', async () => {
    for (const path of ['/search?text=report&top_k=50', '/search/partition/one?text=report&top_k=50']) {
      expect(await filesIn(`${path}&workspace=desk`)).toEqual(['a', 'b']);
      expect(await filesIn(`${path}&workspace=desk&filter=year%3D%3D2024`)).toEqual(['b']);
      expect(await filesIn(`${path}&workspace=empty`)).toEqual([]);
    }
    expect(await filesIn('/search/partition/two?text=report&workspace=both')).toEqual(['d']);
    expect(await filesIn('/search?text=report&workspace=both&partitions=two')).toEqual(['d']);
    expect(await filesIn('/search?text=report&workspace=')).toEqual(['a', 'b', 'c', 'd']);
  });

  it('answers 404 for one that is in none of the searched partitions, also when it is in another’s', async () => {
    for (const path of [
      '/search?text=report&workspace=none',
      '/search?text=report&workspace=hidden',
      '/search?text=report&workspace=desk&partitions=two',
      '/search/partition/two?text=report&workspace=desk',
    ])
      expect([path, ...(await ask(path))]).toEqual([path, 404, { detail: 'Workspace not found' }]);
  });

  it('answers 422 for one that is in two of them', async () => {
    const [status, body] = await ask('/search?text=report&workspace=both');
    expect(status).toBe(422);
    expect(body.detail).toMatch(/^\[WORKSPACE_AMBIGUOUS\]: /);
    expect(body.extra).toMatchObject({ workspace_id: 'both', partitions: ['one', 'two'] });
  });

  it('lets go of a file at once, though its chunks are still there', async () => {
    const detached = await gateway.call('DELETE', '/partition/one/workspaces/desk/files/a', {
      token: ada.token,
    });
    expect(detached.status).toBe(200);
    expect(await filesIn('/search?text=report&workspace=desk')).toEqual(['b']);
  });
});
