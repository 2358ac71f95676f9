import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { connectAgent } from '../support/agent.js';
import type { Agent } from '../support/agent.js';
import type { LooseBody } from '../support/loose-body.js';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';
import { askJson } from '../support/ask-json.js';
import { indexText, publishTask } from '../support/uploads.js';

let gateway: Gateway;
let agent: Agent;
let token: string;
let ids: string[];
const LINES = ['The mill stands on the river.', 'Its wheel turns in spring.', 'Bread is baked at dawn.'];
beforeEach(async () => {
  gateway = await startGateway();
  token = gateway.addUser('ada').token;
  ids = await indexText(gateway, { partition: 'notes', fileId: 'mill', token, metadata: '{"owner":"ada"}' }, [
    ...LINES,
  ]);
  await indexText(gateway, { partition: 'recipes', fileId: 'bread', token }, [
    'Flour, water and a hot oven.',
  ]);
  agent = await connectAgent(gateway, token);
});
afterEach(async () => {
  await agent?.close();
  await gateway?.close();
});

function contents({ documents }: LooseBody): string[] {
  return documents.map(({ content }: LooseBody) => content);
}

describe('searches', () => {
  it('look into all partitions of the caller, or those named', async () => {
    const { body, structured } = await agent.call('search_documents', { query: 'river mill' });
    expect(body).toMatchObject({
      query: 'river mill',
      partitions: ['notes', 'recipes'],
      top_k: 5,
      count: contents(body).length,
    });
    expect(body.documents[0]).toMatchObject({
      chunk_id: ids[0],
      content: LINES[0],
      metadata: { file_id: 'mill', partition: 'notes', owner: 'ada' },
    });
    expect(structured).toEqual(body);
    const other = await agent.call('search_documents', { query: 'river mill', partitions: ['recipes'] });
    expect(other.body.partitions).toEqual(['recipes']);
    expect(contents(other.body)).not.toContain(LINES[0]);
    for (const partitions of [null, [], ['all']])
      expect((await agent.call('search_documents', { query: 'oven', partitions })).body.partitions).toEqual([
        'notes',
        'recipes',
      ]);
  });

  it('find what the routes find', async () => {
    const rest = async (path: string): Promise<LooseBody> =>
      (await askJson(gateway, 'GET', path, { token }))[1];
    const one = await agent.call('search_partition', { partition: 'notes', query: 'spring', top_k: 2 });
    expect(one.body).toMatchObject({ query: 'spring', partitions: ['notes'], top_k: 2 });
    const expected = await rest('/search/partition/notes?text=spring&top_k=2');
    expect(contents(one.body)).toEqual(contents(expected));
    const file = await agent.call('search_file', { partition: 'notes', file_id: 'mill', query: 'dawn' });
    expect(contents(file.body)).toEqual(contents(await rest('/search/partition/notes/file/mill?text=dawn')));
    expect(contents(file.body)[0]).toBe(LINES[2]);
  });

  it('give as many as are asked for', async () => {
    const { body } = await agent.call('search_documents', { query: 'the mill', top_k: 1 });
    expect([body.count, body.documents.length]).toEqual([1, 1]);
  });
});

describe('lists', () => {
  it('of partitions and tasks are those of the routes', async () => {
    const rest = async (path: string): Promise<LooseBody> =>
      (await askJson(gateway, 'GET', path, { token }))[1];
    expect((await agent.call('list_partitions')).body).toEqual(await rest('/partition/'));
    expect((await agent.call('list_my_tasks')).body).toEqual(await rest('/queue/tasks'));
    expect((await agent.call('list_my_tasks', { task_status: 'active' })).body).toEqual({ tasks: [] });
    const [{ task_id }] = (await rest('/queue/tasks')).tasks;
    expect((await agent.call('get_indexation_task_status', { task_id })).body).toEqual(
      await rest(`/indexer/task/${task_id}`),
    );
  });

  it('of files come in pages', async () => {
    for (const fileId of ['axle', 'zinc'])
      await indexText(gateway, { partition: 'notes', fileId, token }, [`about ${fileId}`]);
    const page = async (args: object) => {
      const { body } = await agent.call('list_files', { partition: 'notes', ...args });
      return [body.files.map(({ file_id }: LooseBody) => file_id), body.has_more, body.total_files];
    };
    expect(await page({})).toEqual([['axle', 'mill', 'zinc'], false, 3]);
    expect(await page({ limit: 2 })).toEqual([['axle', 'mill'], true, 3]);
    expect(await page({ limit: 2, offset: 2 })).toEqual([['zinc'], false, 3]);
    expect(await page({ offset: 7 })).toEqual([[], false, 3]);
    const { body } = await agent.call('list_files', { partition: 'notes', offset: 1, limit: 1 });
    const [, rest] = await askJson(gateway, 'GET', '/partition/notes', { token });
    expect(body).toEqual({
      partition: 'notes',
      total_files: 3,
      offset: 1,
      limit: 1,
      has_more: true,
      files: [rest.files[1]],
    });
  });
});

describe('of lists with much metadata a result has what has room, so', () => {
  const MOST = 4 * 1024 * 1024;

  it('tasks end with a word that there are more', async () => {
    const [{ task_id: id }] = (await agent.call('list_my_tasks')).body.tasks;
    const task = (await gateway.adapters.tasks.get(id))!;
    for (let index = 1; index < 120; index += 1)
      await gateway.adapters.tasks.insert({
        ...task,
        task_id: `${id}-${index}`,
        created_at: new Date(task.created_at.getTime() - index),
        metadata: { words: 'x'.repeat(60_000) },
      });
    const { body, structured, text } = await agent.call('list_my_tasks');
    expect(body).toEqual({ tasks: expect.any(Array), truncated: true });
    expect(structured).toEqual(body);
    expect(body.tasks.length).toBeGreaterThan(60);
    expect(text.length).toBeLessThan(MOST);
  });

  it('a page of files ends before its limit', async () => {
    const COUNT = 105;
    for (let index = 0; index < COUNT; index += 1)
      await indexText(
        gateway,
        { partition: 'many', fileId: `f${index}`, token, metadata: `{"words":"${'x'.repeat(41_000)}"}` },
        [`file ${index}`],
      );
    const read = jest.spyOn(gateway.adapters.files, 'listLive');
    const page = async (offset: number) =>
      agent.call('list_files', { partition: 'many', offset, limit: 1000 });
    const { body: first, text } = await page(0);
    expect(first).toMatchObject({ total_files: COUNT, has_more: true });
    expect(first.files.length).toBeGreaterThan(95);
    expect(text.length).toBeLessThan(MOST);
    const { body: second } = await page(first.files.length);
    expect(second.has_more).toBe(false);
    const ids = [...first.files, ...second.files].map(({ file_id: fileId }: LooseBody) => fileId);
    expect(ids).toEqual(Array.from({ length: COUNT }, (_, index) => `f${index}`).sort());
    expect(Math.max(...read.mock.calls.map(([, , range]) => range?.limit ?? Infinity))).toBe(100);
  });

  const metadata = `{"words":"${'x'.repeat(60_000)}"}`;

  it('a page of chunks ends before its limit', async () => {
    const named = { partition: 'many', file_id: 'long' };
    const COUNT = 80;
    const expected = await indexText(
      gateway,
      { partition: 'many', fileId: 'long', token, metadata },
      Array.from({ length: COUNT }, (_, index) => `line ${index}`),
    );
    const page = async (offset: number) => agent.call('get_file_chunks', { ...named, offset, limit: 200 });
    const { body: first, structured, text } = await page(0);
    expect(first).toMatchObject({ total_chunks: COUNT, limit: 200, has_more: true });
    expect(structured).toEqual(first);
    expect(first.chunks.length).toBeGreaterThan(60);
    expect(text.length).toBeLessThan(MOST);
    const { body: second } = await page(first.chunks.length);
    expect(second.has_more).toBe(false);
    const given = [...first.chunks, ...second.chunks].map(({ chunk_id: id }: LooseBody) => id);
    expect(given).toEqual(expected);
  });

  it('files by name end with a word that there are more', async () => {
    for (let index = 0; index < 80; index += 1)
      await indexText(gateway, { partition: 'many', fileId: `report-${index}`, token, metadata }, [
        `report ${index}`,
      ]);
    const { body, text } = await agent.call('fuzzy_search_files', { query: 'report', limit: 100 });
    expect(body).toMatchObject({ count: body.files.length, truncated: true });
    expect(body.files.length).toBeGreaterThan(60);
    expect(text.length).toBeLessThan(MOST);
  });
});

describe('a file', () => {
  it('is described', async () => {
    const { body } = await agent.call('get_file_info', { partition: 'notes', file_id: 'mill' });
    const [, rest] = await askJson(gateway, 'GET', '/partition/notes/file/mill', { token });
    expect(body).toEqual({
      partition: 'notes',
      file_id: 'mill',
      total_chunks: 3,
      metadata: rest.metadata,
    });
  });

  it('is read in pages of chunks', async () => {
    const named = { partition: 'notes', file_id: 'mill' };
    const page = async (args: object) => (await agent.call('get_file_chunks', { ...named, ...args })).body;
    const first = await page({});
    expect(first).toMatchObject({ ...named, total_chunks: 3, offset: 0, limit: 3, has_more: false });
    expect(first.chunks.map(({ content }: LooseBody) => content)).toEqual(LINES);
    expect(first.chunks.map(({ chunk_id }: LooseBody) => chunk_id)).toEqual(ids);
    expect(await page({ offset: 1, limit: 1 })).toMatchObject({
      has_more: true,
      chunks: [{ chunk_id: ids[1], content: LINES[1] }],
    });
    expect(await page({ offset: 3 })).toMatchObject({ has_more: false, chunks: [] });
    expect((await agent.call('get_chunk_by_id', { chunk_id: ids[2] })).body).toEqual(first.chunks[2]);
  });

  it('is found by a part of its name, or one that is misspelt', async () => {
    for (const fileId of [
      'annual-report-2024',
      'quarterly_figures',
      'Été-à-Paris'.replaceAll(/[^A-Za-z-]/g, 'x'),
    ])
      await indexText(gateway, { partition: 'notes', fileId, token }, [fileId]);
    const find = async (query: string, more: object = {}) => {
      const { body } = await agent.call('fuzzy_search_files', { query, ...more });
      return body.files.map(({ file_id }: LooseBody) => file_id);
    };
    expect((await find('anual report'))[0]).toBe('annual-report-2024');
    expect(await find('ANNUAL-REPORT-2024', { cutoff: 1 })).toEqual(['annual-report-2024']);
    expect((await find('figures'))[0]).toBe('quarterly_figures');
    expect(await find('xyzzy')).toEqual([]);
    expect(await find('mill')).toEqual(['mill']);
    expect(await find('notes.txt', { limit: 2 })).toHaveLength(2);
    const { body } = await agent.call('fuzzy_search_files', { query: 'mill' });
    expect(body).toMatchObject({
      query: 'mill',
      cutoff: 0.4,
      limit: 20,
      count: 1,
      files: [{ partition: 'notes', file_id: 'mill', owner: 'ada', score: 1 }],
    });
  });

  it('is deleted', async () => {
    const named = { partition: 'notes', file_id: 'mill' };
    expect(await agent.call('delete_file', named)).toMatchObject({ error: false });
    expect(await gateway.adapters.files.get('notes', 'mill')).toBeNull();
    expect((await agent.call('delete_file', named)).body).toMatchObject({ status: 404 });
  });

  it('gets new words, whose long numbers stay what they are', async () => {
    // 2^53 + 1: JSON.parse would make it even. The official client cannot write it either.
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_file_metadata","arguments":' +
      '{"partition":"notes","file_id":"mill","metadata":{"serial":9007199254740993,"small":-7,"share":0.25}}}}';
    const response = await gateway.call('POST', '/mcp', {
      token,
      body,
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    });
    expect(await response.json()).toMatchObject({ result: { content: [{ type: 'text' }] } });
    expect((await gateway.adapters.files.get('notes', 'mill'))?.live?.metadata).toEqual({
      owner: 'ada',
      serial: 9007199254740993n,
      small: -7,
      share: 0.25,
    });
    const info = await agent.call('get_file_info', { partition: 'notes', file_id: 'mill' });
    expect(info.text).toContain('"serial":9007199254740993');
    expect(info.structured.metadata).toMatchObject({ serial: '9007199254740993', small: -7 });
    const uri = `tamis://chunk/${ids[0]}`;
    expect((await agent.client.readResource({ uri })).contents[0]?._meta).toMatchObject({
      metadata: { serial: '9007199254740993' },
    });
  });

  it('moves by its metadata, where the caller may', async () => {
    const change = (partition: string) =>
      agent.call('update_file_metadata', { partition: 'notes', file_id: 'mill', metadata: { partition } });
    expect((await change('nowhere')).body).toMatchObject({ status: 404 });
    expect(await change('recipes')).toMatchObject({ error: false });
    expect((await agent.call('get_file_info', { partition: 'recipes', file_id: 'mill' })).error).toBe(false);
  });

  it('is copied', async () => {
    gateway.workflows.starter.startIndexing = async (task) => {
      await publishTask(gateway, task.task_id, [...LINES]);
    };
    const args = {
      partition: 'recipes',
      file_id: 'copy',
      source_partition: 'notes',
      source_file_id: 'mill',
      metadata: { owner: 'bob' },
    };
    expect((await agent.call('copy_file', args)).body).toEqual({ message: 'File copied successfully.' });
    const copied = await agent.call('get_file_info', { partition: 'recipes', file_id: 'copy' });
    expect(copied.body).toMatchObject({ total_chunks: 3, metadata: { owner: 'bob' } });
    expect((await agent.call('copy_file', args)).body).toMatchObject({ status: 409 });
  });

  it('keeps the rules of the routes for its metadata', async () => {
    const change = async (metadata: object) =>
      (await agent.call('update_file_metadata', { partition: 'notes', file_id: 'mill', metadata })).body;
    expect(await change({ created_at: 'yesterday' })).toEqual({
      status: 400,
      detail: 'metadata.created_at is not a date',
    });
    expect(await change({ long: 'x'.repeat(70_000) })).toMatchObject({ status: 400 });
  });
});

it('puts the tool into the line of its request, and nothing that was asked', async () => {
  await agent.call('search_documents', { query: 'a very private question' });
  const lines = gateway.logLines.join('');
  expect(lines).toMatch(/"route":"\/mcp".*"tool":"search_documents"/);
  expect(lines).not.toContain('private question');
});
