import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { FileRecord } from '../../../../schemas/documents/documents.js';
import type { LooseBody } from '../../support/loose-body.js';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
});
afterEach(() => gateway.close());

async function ask(path: string, token = ada.token): Promise<[number, LooseBody]> {
  const response = await gateway.call('GET', path, { token });
  return [response.status, await response.json()];
}

function index(fileId: string, metadata: object = {}, lines = [`text of ${fileId}`]) {
  return indexText(
    gateway,
    { partition: 'one', fileId, token: ada.token, metadata: JSON.stringify(metadata) },
    lines,
  );
}

function copyOf(file: FileRecord, place: number): FileRecord {
  return {
    ...file,
    file_id: `f${String(place).padStart(6, '0')}`,
    file_key: `key-${place}`,
    live: { ...file.live!, generation: 1_000_000 + place },
  };
}

/** From now on the store answers so many files, of which those that are there are the first. */
function repeatFiles(count: number): { listed(): number; largest(): number } {
  const { files } = gateway.adapters;
  const list = files.listLive.bind(files);
  const sizes: number[] = [];
  jest
    .spyOn(files, 'listLive')
    .mockImplementation(async (scope, partition, { limit = Infinity, after } = {}) => {
      const real = await list(scope, partition);
      const all = Array.from({ length: count }, (_, place) =>
        place < real.length ? real[place]! : copyOf(real[0]!, place),
      );
      const page = all.filter(({ file_id: id }) => after === undefined || id > after).slice(0, limit);
      sizes.push(page.length);
      return page;
    });
  return {
    listed: () => sizes.reduce((sum, size) => sum + size, 0),
    largest: () => Math.max(...sizes),
  };
}

const BOTH = ['/partition/one', '/one'];

describe('GET /partition/{partition}', () => {
  it('answers any number of files, which it reads some at a time', async () => {
    await index('a');
    const { listed, largest } = repeatFiles(1_100);
    const [status, { files }] = await ask('/partition/one');
    expect([status, files.length, listed()]).toEqual([200, 1_100, 1_100]);
    expect(new Set(files.map(({ file_id: id }: LooseBody) => id)).size).toBe(1_100);
    expect(largest()).toBeLessThanOrEqual(500);
    expect((await ask('/partition/one?limit=700'))[1].files).toEqual(files.slice(0, 700));
    expect((await ask(`/partition/one?after=${files[699].file_id}`))[1].files).toEqual(files.slice(700));
  });
});

describe('GET /partition/{partition}/chunks', () => {
  it('lists every live chunk with its vector as text', async () => {
    const ids = await index('a', { shelf: 'A3' }, ['first words', 'second words']);
    await index('b');
    await indexText(gateway, { partition: 'two', fileId: 'x', token: ada.token }, ['elsewhere']);
    const [status, { chunks }] = await ask('/partition/one/chunks');
    expect([status, chunks.length]).toEqual([200, 3]);
    expect(chunks[0]).toEqual({
      link: `${gateway.url}/extract/${ids[0]}`,
      content: 'first words',
      metadata: expect.objectContaining({
        _id: ids[0],
        file_id: 'a',
        partition: 'one',
        shelf: 'A3',
        filename: 'notes.txt',
        vector: expect.any(String),
      }),
    });
    const vector = JSON.parse(chunks[0].metadata.vector) as number[];
    expect([vector.length, vector.every(Number.isFinite)]).toEqual([1024, true]);
  });

  it('answers the vectors of its own embedder, not those that were kept beside them by a swap', async () => {
    // Before the partition's own in every list.
    const earlier = { name: 'a-earlier', vector_field: 'vector_earlier' };
    const list = gateway.adapters.models.list.bind(gateway.adapters.models);
    jest
      .spyOn(gateway.adapters.models, 'list')
      .mockImplementation(async (type) => [
        { ...(await list('embedder'))[0]!, ...earlier, is_default: false },
        ...(await list(type)),
      ]);
    const [chunkId] = await index('a');
    const vector = [0.5, 0.5, 0.5, 0.5];
    await gateway.adapters.chunks.ensureField({ vectorField: 'vector_earlier', dimension: vector.length });
    await gateway.adapters.chunks.addVectors(
      [{ chunkId: chunkId!, partition: 'one', vector }],
      'vector_earlier',
    );
    await index('b');
    const [, { chunks }] = await ask('/partition/one/chunks');
    const lengths = chunks.map(({ metadata }: LooseBody) => JSON.parse(metadata.vector).length);
    expect(lengths).toEqual([1024, 1024]);
  });

  it('reads the files some at a time, however many there are', async () => {
    for (const fileId of ['a', 'b', 'c']) await index(fileId);
    const { listed, largest } = repeatFiles(1_100);
    const [status, { chunks }] = await ask('/partition/one/chunks?include_embedding=false');
    expect([status, chunks.length]).toEqual([200, 3]);
    expect(listed()).toBe(1_100);
    expect(largest()).toBeLessThanOrEqual(500);
  });

  it('lists without vectors, of one file, or only so many', async () => {
    await index('a', {}, ['one', 'two', 'three']);
    await index('b');
    const contents = async (query: string) =>
      (await ask(`/partition/one/chunks?${query}`))[1].chunks.map((chunk: LooseBody) => chunk.content);
    const [, plain] = await ask('/partition/one/chunks?include_embedding=false');
    expect(plain.chunks[0].metadata).not.toHaveProperty('vector');
    expect(await contents('file_id=b')).toEqual(['text of b']);
    expect(await contents('limit=2')).toEqual(['one', 'two']);
    expect(await contents('file_id=a&limit=1')).toEqual(['one']);
    expect(await ask('/partition/one/chunks?file_id=none')).toEqual([200, { chunks: [] }]);
    await gateway.call('POST', '/indexer/partition/one/file/pending', {
      body: uploadForm('not indexed yet'),
      token: ada.token,
    });
    expect(await ask('/partition/one/chunks?file_id=pending')).toEqual([200, { chunks: [] }]);
    await gateway.call('DELETE', '/indexer/partition/one/file/b', { token: ada.token });
    expect(await ask('/partition/one/chunks?file_id=b')).toEqual([200, { chunks: [] }]);
    expect(await contents('limit=0')).toEqual([]);
    for (const query of ['limit=-1', 'limit=', 'limit=x', 'include_embedding=perhaps'])
      expect([query, (await ask(`/partition/one/chunks?${query}`))[0]]).toEqual([query, 422]);
  });

  it('holds nothing of replaced versions, and of an empty partition nothing', async () => {
    await index('a', {}, ['old words']);
    await indexText(gateway, { partition: 'one', fileId: 'a', token: ada.token, method: 'PUT' }, [
      'new words',
    ]);
    expect((await ask('/partition/one/chunks'))[1].chunks).toEqual([
      expect.objectContaining({ content: 'new words' }),
    ]);
    await gateway.call('POST', '/partition/empty', { token: ada.token });
    expect(await ask('/partition/empty/chunks')).toEqual([200, { chunks: [] }]);
  });

  it('asks for no more chunks at once than it answers', async () => {
    await index('a', {}, ['one', 'two', 'three']);
    const scan = jest.spyOn(gateway.adapters.chunks, 'scanChunks');
    expect((await ask('/partition/one/chunks?limit=2'))[1].chunks).toHaveLength(2);
    expect(scan).toHaveBeenCalledTimes(1);
    expect(scan.mock.calls[0]![1]).toMatchObject({ pageSize: 2 });
    expect((await ask('/partition/one/chunks?limit=0'))[1].chunks).toEqual([]);
    expect(scan).toHaveBeenCalledTimes(1);
  });

  it('answers a failure before the first chunk with its status', async () => {
    await index('a');
    const { chunks } = gateway.adapters;
    chunks.scanChunks = async function* () {
      throw new Error('gone');
    };
    expect((await ask('/partition/one/chunks'))[0]).toBe(500);
  });

  it('is for members', async () => {
    await index('a');
    expect((await ask('/partition/one/chunks', gateway.addUser('outsider').token))[0]).toBe(403);
    expect((await ask('/partition/none/chunks'))[0]).toBe(404);
  });
});

describe('GET …/relationships/{relationship_id}', () => {
  it.each(BOTH)('lists the files of a group under %s', async (prefix) => {
    await index('b', { relationship_id: 'thread', parent_id: 'a', subject: 'Re: x' });
    await index('a', { relationship_id: 'thread' });
    await index('c', { relationship_id: 'other' });
    const names = { partition: 'one', relationship_id: 'thread', filename: 'notes.txt' };
    expect(await ask(`${prefix}/relationships/thread`)).toEqual([
      200,
      {
        files: [
          expect.objectContaining({ ...names, file_id: 'a', parent_id: null }),
          expect.objectContaining({ ...names, file_id: 'b', parent_id: 'a', subject: 'Re: x' }),
        ],
      },
    ]);
    expect(await ask(`${prefix}/relationships/none`)).toEqual([200, { files: [] }]);
    expect((await ask(`${prefix}/relationships/thread/`))[1].files).toHaveLength(2);
  });

  it('answers any number of files, which it reads some at a time', async () => {
    await index('f000000', { relationship_id: 'thread' });
    const { files } = gateway.adapters;
    const [only] = await files.listLive({ kind: 'all', userId: 1 }, 'one');
    const all = Array.from({ length: 1_100 }, (_, place) => copyOf(only!, place));
    const sizes: number[] = [];
    jest
      .spyOn(files, 'listRelated')
      .mockImplementation(async (_scope, _partition, _id, { limit = Infinity, after = '' } = {}) => {
        const page = all.filter(({ file_id: id }) => id > after).slice(0, limit);
        sizes.push(page.length);
        return page;
      });
    const [status, body] = await ask('/partition/one/relationships/thread');
    expect(status).toBe(200);
    expect(body.files.map(({ file_id: id }: LooseBody) => id)).toEqual(all.map(({ file_id: id }) => id));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(500);
  });

  it.each(BOTH)('takes ids with slashes and any characters under %s', async (prefix) => {
    const id = 'mail/2026/α ünit?#%';
    await index('a', { relationship_id: id });
    const encoded = encodeURIComponent(id);
    for (const written of [encoded, id.split('/').map(encodeURIComponent).join('/')])
      expect([written, (await ask(`${prefix}/relationships/${written}`))[1].files?.length]).toEqual([
        written,
        1,
      ]);
  });

  it('asks for membership under both paths', async () => {
    await index('a', { relationship_id: 'thread' });
    const { token } = gateway.addUser('outsider');
    for (const prefix of BOTH)
      for (const path of ['/relationships/thread', '/file/a/ancestors'])
        expect((await ask(`${prefix}${path}`, token))[0]).toBe(403);
    expect((await ask('/none/relationships/x'))[0]).toBe(404);
    expect((await ask('/none/file/x/ancestors'))[0]).toBe(404);
  });
});

describe('GET …/file/{file_id}/ancestors', () => {
  const chain = async () => {
    await index('root', { relationship_id: 't' });
    await index('two', { relationship_id: 't', parent_id: 'root' });
    await index('three', { relationship_id: 't', parent_id: 'two' });
    await index('four', { relationship_id: 't', parent_id: 'three' });
  };
  const ids = async (path: string) =>
    (await ask(path))[1].ancestors.map((file: LooseBody) => [file.file_id, file.depth]);

  it.each(BOTH)('goes from the root to the file under %s', async (prefix) => {
    await chain();
    expect(await ids(`${prefix}/file/four/ancestors`)).toEqual([
      ['root', 3],
      ['two', 2],
      ['three', 1],
      ['four', 0],
    ]);
    expect((await ask(`${prefix}/file/four/ancestors`))[1].ancestors[1]).toMatchObject({
      partition: 'one',
      relationship_id: 't',
      parent_id: 'root',
      filename: 'notes.txt',
    });
    expect(await ids(`${prefix}/file/four/ancestors?max_ancestor_depth=2`)).toEqual([
      ['two', 2],
      ['three', 1],
      ['four', 0],
    ]);
    expect(await ids(`${prefix}/file/four/ancestors?max_ancestor_depth=0`)).toEqual([['four', 0]]);
    expect(await ids(`${prefix}/file/root/ancestors`)).toEqual([['root', 0]]);
  });

  it('ends at a missing parent, at one outside the relations, and where a chain bites its tail', async () => {
    await index('lost', { relationship_id: 't', parent_id: 'never' });
    await index('loner', {});
    await index('child', { relationship_id: 't', parent_id: 'loner' });
    await index('self', { relationship_id: 't', parent_id: 'self' });
    await index('x', { relationship_id: 't', parent_id: 'y' });
    await index('y', { relationship_id: 't', parent_id: 'x' });
    for (const id of ['lost', 'child', 'self'])
      expect(await ids(`/partition/one/file/${id}/ancestors`)).toEqual([[id, 0]]);
    expect(await ids('/partition/one/file/x/ancestors')).toEqual([
      ['y', 1],
      ['x', 0],
    ]);
  });

  it('goes up 10,000 steps, and reads what it answers some at a time', async () => {
    await index('f000000', { relationship_id: 't' });
    const { files } = gateway.adapters;
    const last = (await files.get('one', 'f000000'))!;
    const linkOf = (place: number): FileRecord => {
      const file = copyOf(last, place);
      const above = place < 10_050 ? `f${String(place + 1).padStart(6, '0')}` : null;
      return { ...file, live: { ...file.live!, parent_id: above } };
    };
    jest.spyOn(files, 'get').mockImplementation(async (_partition, id) => linkOf(Number(id.slice(1))));
    const read = jest
      .spyOn(files, 'getMany')
      .mockImplementation(
        async (keys) => new Map(keys.map((key) => [key, linkOf(Number(key.replace('key-', '')))])),
      );
    const rows = await ids('/partition/one/file/f000000/ancestors');
    expect(rows).toHaveLength(10_001);
    expect([rows[0], rows.at(-1)]).toEqual([
      ['f010000', 10_000],
      ['f000000', 0],
    ]);
    expect(Math.max(...read.mock.calls.map(([keys]) => keys.length))).toBeLessThanOrEqual(100);
  });

  it('answers 404 for an unknown file and 422 for an odd depth', async () => {
    await index('a');
    expect(await ask('/partition/one/file/none/ancestors')).toEqual([
      404,
      { detail: "File 'none' not found in partition 'one'" },
    ]);
    for (const depth of ['-1', 'x', ''])
      expect((await ask(`/partition/one/file/a/ancestors?max_ancestor_depth=${depth}`))[0]).toBe(422);
  });
});
