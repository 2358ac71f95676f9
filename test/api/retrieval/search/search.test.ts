import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { indexText } from '../../support/uploads.js';

interface Found {
  documents: { link: string; content: string; metadata: Record<string, unknown> }[];
}

let gateway: Gateway;
let ada: { token: string; userId: number };
let bob: { token: string; userId: number };
let chunkIds: string[];
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada');
  bob = gateway.addUser('bob');
  const metadata = '{"owner":"ada"}';
  chunkIds = await indexText(gateway, { partition: 'adas', fileId: 'a', token: ada.token, metadata }, [
    'The turbine spins at 3000 rpm.',
    'The canteen opens at noon.',
  ]);
  await indexText(gateway, { partition: 'bobs', fileId: 'b', token: bob.token }, [
    'The turbine of Bob is secret.',
  ]);
});
afterEach(() => gateway.close());

async function ask(path: string, token = ada.token): Promise<[number, unknown]> {
  const response = await gateway.call('GET', path, { token });
  return [response.status, await response.json()];
}

async function found(path: string, token = ada.token): Promise<Found['documents']> {
  const [status, body] = await ask(path, token);
  expect(status).toBe(200);
  return (body as Found).documents;
}

describe('GET /search', () => {
  it('searches the partitions of the caller and no other', async () => {
    for (const path of [
      '/search?text=turbine',
      '/search/?text=turbine',
      '/search?text=turbine&partitions=all',
    ]) {
      const documents = await found(path);
      expect(documents[0]).toEqual({
        link: `${gateway.url}/extract/${chunkIds[0]}`,
        content: 'The turbine spins at 3000 rpm.',
        metadata: expect.objectContaining({
          _id: chunkIds[0],
          file_id: 'a',
          partition: 'adas',
          filename: 'notes.txt',
          owner: 'ada',
          page: 1,
          chunk_type: 'text',
        }),
      });
      expect(documents.map(({ metadata }) => metadata['partition'])).not.toContain('bobs');
    }
  });

  it('refuses a partition that the caller is no member of, existing or not', async () => {
    for (const name of ['bobs', 'none'])
      expect(await ask(`/search?text=x&partitions=adas&partitions=${name}`)).toEqual([
        403,
        { detail: `Access to partition '${name}' forbidden` },
      ]);
    expect(await ask('/search?text=x&partitions=')).toEqual([
      400,
      { detail: expect.stringContaining('partitions') },
    ]);
    for (const name of ['a,b', '["adas"]', 'no such', '../x', 'x'.repeat(256), ' '])
      for (const asker of [ada.token, ADMIN_TOKEN])
        expect(
          await ask(`/search?text=x&partitions=adas&partitions=${encodeURIComponent(name)}`, asker),
        ).toEqual([400, { detail: 'Invalid partitions: give names, or all' }]);
    const { token } = gateway.addUser('newcomer');
    expect(await ask('/search?text=x', token)).toEqual([403, { detail: 'No accessible partitions' }]);
  });

  it('validates its parameters', async () => {
    expect(await ask('/search')).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['query', 'text'], msg: 'Field required', input: null }] },
    ]);
    for (const bad of [
      'top_k=0',
      'top_k=x',
      'top_k=1.5',
      'top_k=',
      'similarity_threshold=2',
      'similarity_threshold=',
      'related_limit=-1',
      'related_limit=x',
      'max_ancestor_depth=-1',
      'include_related=perhaps',
      'include_retrieval_trace=2',
    ])
      expect([bad, (await ask(`/search?text=x&${bad}`))[0]]).toEqual([bad, 422]);
    expect((await ask('/search?text=x&status=y&include_related=false'))[0]).toBe(200);
    expect((await ask('/search?text='))[0]).toBe(200);
  });

  it('keeps to top_k, and to the threshold on the vector leg only', async () => {
    expect(await found('/search?text=the&top_k=1')).toHaveLength(1);
    const strict = await found('/search?text=turbine&similarity_threshold=1');
    expect(strict.map(({ content }) => content)).toEqual(['The turbine spins at 3000 rpm.']);
  });
});

describe('GET /search/partition/{partition}', () => {
  it('is for its viewers', async () => {
    expect((await found('/search/partition/adas?text=turbine'))[0]?.metadata['file_id']).toBe('a');
    expect((await ask('/search/partition/bobs?text=turbine'))[0]).toBe(403);
    expect(await ask('/search/partition/none?text=turbine')).toEqual([
      404,
      { detail: "Partition 'none' not found" },
    ]);
    gateway.addMember(bob.userId, 'adas', 'viewer');
    expect(await found('/search/partition/adas?text=turbine', bob.token)).not.toHaveLength(0);
  });
});

describe('the answer of a search', () => {
  const LINES = 40;
  beforeEach(async () => {
    const values = Array.from({ length: 200 }, (_, index) => [`key${index}`, 'x'.repeat(200)]);
    const metadata = JSON.stringify({ ...Object.fromEntries(values), serial: 0 }).replace(
      '"serial":0',
      '"serial":90071992547409931',
    );
    await indexText(
      gateway,
      { partition: 'adas', fileId: 'wordy', token: ada.token, metadata },
      Array.from({ length: LINES }, (_, index) => `Windmill number ${index}.`),
    );
  });
  const search = (topK: number, rest = '') =>
    gateway.call('GET', `/search/partition/adas/file/wordy?text=windmill&top_k=${topK}${rest}`, {
      token: ada.token,
    });

  it('is written while it is made where its metadata make it large, and is whole', async () => {
    const response = await search(LINES);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('content-length')).toBeNull();
    const text = await response.text();
    expect(text.length).toBeGreaterThan(LINES * 40_000);
    expect(text.split('"serial":90071992547409931')).toHaveLength(LINES + 1);
    const { documents, ...rest } = JSON.parse(text) as Found;
    expect(rest).toEqual({});
    expect(new Set(documents.map(({ content }) => content)).size).toBe(LINES);
    for (const { metadata } of documents) expect(metadata['key199']).toBe('x'.repeat(200));
  });

  it('tells its length where it is short', async () => {
    const response = await search(1);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const bytes = await response.arrayBuffer();
    expect(response.headers.get('content-length')).toBe(String(bytes.byteLength));
  });
});

describe('GET /search/partition/{partition}/file/{file_id}', () => {
  it('searches that file, and answers 404 for one that is not there', async () => {
    await indexText(gateway, { partition: 'adas', fileId: 'a2', token: ada.token }, ['Another turbine.']);
    const documents = await found('/search/partition/adas/file/a2?text=turbine');
    expect(documents.map(({ content }) => content)).toEqual(['Another turbine.']);
    expect((await ask('/search/partition/adas/file/none?text=turbine'))[0]).toBe(404);
    expect((await ask('/search/partition/bobs/file/b?text=turbine'))[0]).toBe(403);
    expect((await ask('/search/partition/adas/file/a?text=x&filter=y'))[0]).toBe(400);
    expect(await found('/search/partition/adas/file/a?text=turbine&filter=page%3E1')).toEqual([]);
  });
});

describe('GET /extract/{extract_id}', () => {
  it('tells text and metadata to viewers', async () => {
    expect(await ask(`/extract/${chunkIds[1]}`)).toEqual([
      200,
      {
        page_content: 'The canteen opens at noon.',
        metadata: expect.objectContaining({ _id: chunkIds[1], partition: 'adas', file_id: 'a', page: 1 }),
      },
    ]);
  });

  it('answers 403 to an outsider and 404 for an unknown id', async () => {
    expect(await ask(`/extract/${chunkIds[0]}`, bob.token)).toEqual([
      403,
      { detail: "Access to partition 'adas' forbidden" },
    ]);
    expect((await ask('/extract/none'))[0]).toBe(404);
  });

  it('answers 404 for a replaced and for a deleted version', async () => {
    await indexText(gateway, { partition: 'adas', fileId: 'a', token: ada.token, method: 'PUT' }, [
      'New text.',
    ]);
    expect((await ask(`/extract/${chunkIds[0]}`))[0]).toBe(404);
    const [link] = (await found('/search?text=text')).map(({ link }) => new URL(link).pathname);
    expect((await ask(link ?? ''))[0]).toBe(200);
    await gateway.call('DELETE', '/indexer/partition/adas/file/a', { token: ada.token });
    expect((await ask(link ?? ''))[0]).toBe(404);
    expect(await found('/search?text=text')).toEqual([]);
  });
});
