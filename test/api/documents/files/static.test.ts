import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../support/start-gateway.js';
import type { Gateway } from '../../support/start-gateway.js';
import { publishTask, taskIdOf, uploadForm } from '../../support/uploads.js';

let gateway: Gateway;
let ada: { token: string; userId: number };
const BYTES = 'The reactor hums at 42 decibels, déjà vu.';
const SIZE = Buffer.byteLength(BYTES);

async function index(filename = 'notes.txt'): Promise<string> {
  const response = await gateway.call('POST', `/indexer/partition/one/file/${encodeURIComponent('f')}`, {
    body: uploadForm(BYTES, { filename }),
    token: ada.token,
  });
  const [id] = await publishTask(gateway, await taskIdOf(response), ['text']);
  return id ?? '';
}

async function open(env: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway({ env });
  ada = gateway.addUser('ada');
}

beforeEach(() => open());
afterEach(() => gateway.close());

function get(id: string, headers: Record<string, string> = {}) {
  return gateway.call('GET', `/static/${id}`, { token: ada.token, headers });
}

describe('GET /static/{extract_id}', () => {
  it('is the source file as a download', async () => {
    const response = await get(await index());
    expect([response.status, await response.text()]).toEqual([200, BYTES]);
    const { headers } = response;
    expect(headers.get('content-disposition')).toBe('attachment; filename="notes.txt"');
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    expect(headers.get('content-length')).toBe(String(SIZE));
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('accept-ranges')).toBe('bytes');
    expect(headers.get('cache-control')).toContain('private');
  });

  it.each([
    ['bytes=0-3', 0, 4],
    ['bytes=4-', 4, SIZE],
    ['bytes=-5', SIZE - 5, SIZE],
    ['bytes=-9999', 0, SIZE],
    ['bytes=3-9999', 3, SIZE],
  ])('answers the range %s', async (range, start, end) => {
    const response = await get(await index(), { Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${SIZE}`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(BYTES).subarray(start, end));
  });

  it('answers 416 for what lies behind the end, and the whole for what is no single range', async () => {
    const id = await index();
    for (const range of [`bytes=${SIZE}-`, 'bytes=-0']) {
      const response = await get(id, { Range: range });
      expect([range, response.status, await response.json()]).toEqual([
        range,
        416,
        { detail: 'Range Not Satisfiable' },
      ]);
      expect(response.headers.get('content-range')).toBe(`bytes */${SIZE}`);
    }
    for (const range of ['bytes=5-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=', 'bytes=a-b']) {
      const response = await get(id, { Range: range });
      expect([range, response.status, await response.text()]).toEqual([range, 200, BYTES]);
    }
    const etag = (await get(id)).headers.get('etag') ?? '';
    expect((await get(id, { Range: 'bytes=0-1', 'If-Range': etag })).status).toBe(206);
    expect((await get(id, { Range: 'bytes=0-1', 'If-Range': '"older"' })).status).toBe(200);
  });

  it('says that a client has it that names its tag, before a range is looked at', async () => {
    const id = await index();
    const etag = (await get(id)).headers.get('etag') ?? '';
    for (const tags of [etag, `W/${etag}`, `"older", ${etag}`, '*'])
      for (const Range of ['', 'bytes=0-1']) {
        const response = await get(id, { 'If-None-Match': tags, ...(Range !== '' && { Range }) });
        expect([tags, response.status, await response.text()]).toEqual([tags, 304, '']);
        expect(response.headers.get('etag')).toBe(etag);
      }
    expect((await get(id, { 'If-None-Match': '"older"' })).status).toBe(200);
  });

  it('never lets a browser run what it downloads, whatever its name', async () => {
    const id = await index('页 "1"\r\nX-Evil: yes.html');
    const response = await get(id);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="\? [^"]*"; filename\*=UTF-8''%E9%A1%B5[A-Za-z0-9%._-]*$/,
    );
    expect(response.headers.get('x-evil')).toBeNull();
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it.each(['true', 'false'])('takes the token from the address as well, rate limits: %s', async (limited) => {
    await gateway.close();
    await open({ RATE_LIMIT_ENABLED: limited });
    const id = await index();
    expect((await gateway.call('GET', `/static/${id}?token=${ada.token}`, { token: null })).status).toBe(200);
    const wrong = await gateway.call('GET', `/static/${id}?token=or-wrong`, { token: null });
    expect([wrong.status, await wrong.json()]).toEqual([403, { detail: 'Invalid token' }]);
    const none = await gateway.call('GET', `/static/${id}?token=`, { token: null });
    expect([none.status, await none.json()]).toEqual([403, { detail: 'Missing token' }]);
    expect(gateway.logLines.join('')).not.toContain(ada.token);
  });

  it('answers 404 for what is unknown, deleted or replaced', async () => {
    const id = await index();
    expect((await get('none')).status).toBe(404);
    await gateway.call('DELETE', '/indexer/partition/one/file/f', { token: ada.token });
    expect((await get(id)).status).toBe(404);
  });

  it('is not there when uploads are not kept', async () => {
    await gateway.close();
    await open({ SAVE_UPLOADED_FILES: 'false' });
    const response = await get(await index());
    expect([response.status, await response.json()]).toEqual([
      404,
      { detail: 'The source file is not kept' },
    ]);
    const chat = await gateway.call('POST', '/v1/chat/completions', {
      token: ada.token,
      body: JSON.stringify({
        model: 'rag-one',
        messages: [{ role: 'user', content: 'What text is there?' }],
      }),
      headers: { 'Content-Type': 'application/json' },
    });
    const answer = await chat.text();
    expect(answer).toContain('chunk_url');
    expect(answer).not.toContain('file_url');
  });

  it('breaks off when a part of the bytes cannot be read', async () => {
    const id = await index();
    const { blobs } = gateway.adapters;
    blobs.read = async () =>
      Readable.from(
        (function* () {
          yield Buffer.from('The reactor');
          throw new Error('lost');
        })(),
      );
    // Cut short: it must not look whole.
    await expect(get(id).then((response) => response.text())).rejects.toThrow();
  });
});
