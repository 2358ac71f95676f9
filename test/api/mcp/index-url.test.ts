import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { connectAgent } from '../support/agent.js';
import type { Agent } from '../support/agent.js';
import { startGateway } from '../support/start-gateway.js';
import type { Gateway, GatewayOptions } from '../support/start-gateway.js';
import { NOTHING, leftovers, until } from '../support/uploads.js';
import { endServer, listenOnLoopback } from '../../support/loopback-server.js';

let gateway: Gateway;
let agent: Agent;
let site: Server;
let answer: RequestListener;
let url: string;

async function open(options: GatewayOptions = {}): Promise<void> {
  gateway = await startGateway({ env: { INDEX_URL_ALLOW_PRIVATE_URLS: 'true' }, ...options });
  agent = await connectAgent(gateway, gateway.addUser('ada').token);
}

beforeEach(async () => {
  site = createServer((request, response) => answer(request, response));
  ({ url } = await listenOnLoopback(site));
});
afterEach(async () => {
  await agent?.close();
  await endServer(site);
  await gateway?.close();
});

function serve(type: string | null, body: string | Buffer, headers: Record<string, string> = {}): void {
  answer = (_request, response) =>
    response.writeHead(200, { ...(type === null ? {} : { 'content-type': type }), ...headers }).end(body);
}

function index(path: string, more: object = {}, onprogress?: (progress: Progress) => void) {
  return agent.call(
    'index_url',
    { url: `${url}${path}`, partition: 'web', file_id: 'page', ...more },
    onprogress,
  );
}

describe('index_url', () => {
  it('fetches a document and starts a task, as an upload does', async () => {
    await open();
    serve('text/html; charset=utf-8', '<html><body><p>The mill stands.</p></body></html>');
    const { error, body } = await index('/about', { metadata: { owner: 'ada' } });
    expect([error, body]).toEqual([
      false,
      {
        task_id: expect.any(String),
        task_status_url: `${gateway.url}/indexer/task/${body.task_id}`,
      },
    ]);
    expect(await gateway.adapters.tasks.get(body.task_id)).toMatchObject({
      partition: 'web',
      file_id: 'page',
      intent: 'create',
      metadata: { owner: 'ada' },
      upload: { filename: 'about.html', mimetype: 'text/html', size_bytes: 49 },
    });
    expect(gateway.workflows.started).toEqual([body.task_id]);
    const status = await agent.call('get_indexation_task_status', { task_id: body.task_id });
    expect(status.body).toMatchObject({ task_state: 'QUEUED', details: { file_id: 'page' } });
  });

  it.each([
    ['/', 'text/html', {}, 'index.html'],
    ['/page.php?id=1', 'text/html', {}, 'page.php.html'],
    ['/notes.md', 'text/plain', {}, 'notes.md'],
    ['/tool.py', 'text/plain', {}, 'tool.py'],
    ['/list%20of%20mills', 'text/csv', {}, 'list of mills.csv'],
    ['/get', 'text/plain', { 'content-disposition': 'attachment; filename="river.txt"' }, 'river.txt'],
    [
      '/get',
      'text/plain',
      { 'content-disposition': `attachment; filename="x.txt"; filename*=UTF-8''%C3%A9t%C3%A9.txt` },
      'été.txt',
    ],
    [
      '/get',
      'text/plain',
      { 'content-disposition': 'attachment; filename="../../etc/passwd.txt"' },
      'passwd.txt',
    ],
  ])('names what %s of type %s with %j is', async (path, type, headers, filename) => {
    await open();
    serve(type, 'a text', headers);
    const { body } = await index(path);
    expect((await gateway.adapters.tasks.get(body.task_id))?.upload.filename).toBe(filename);
  });

  it('tells how far it is', async () => {
    await open();
    const part = Buffer.alloc(64 * 1024, 'mill ');
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': String(4 * part.length) });
      let sent = 0;
      const next = (): void => {
        if (sent === 4) return void response.end();
        sent += 1;
        // Slower than the meter's pace, so that every part is told of.
        response.write(part, () => setTimeout(next, 250));
      };
      next();
    };
    const seen: Progress[] = [];
    expect((await index('/long.txt', {}, (progress) => seen.push(progress))).error).toBe(false);
    expect(seen.length).toBeGreaterThanOrEqual(2);
    for (const [turn, { progress, total }] of seen.entries()) {
      expect(progress).toBeGreaterThan(seen[turn - 1]?.progress ?? 0);
      expect(total).toBe(4 * part.length);
    }
    expect(seen.at(-1)).toEqual({
      progress: 4 * part.length,
      total: 4 * part.length,
      message: `${4 * part.length} bytes fetched`,
    });
  });

  it('tells the last byte of a small document as well', async () => {
    await open();
    serve('text/plain', 'a short text');
    const seen: Progress[] = [];
    await index('/short.txt', {}, (progress) => seen.push(progress));
    expect(seen.at(-1)).toMatchObject({ progress: 12, total: 12 });
  });

  it('refuses what an upload is refused for, and leaves nothing', async () => {
    await open();
    serve('application/pdf', 'no PDF at all');
    expect((await index('/paper.pdf')).body).toMatchObject({ status: 415 });
    serve('image/png', 'a picture');
    expect((await index('/picture.png')).body).toMatchObject({ status: 415 });
    serve('text/plain', 'a text');
    expect((await index('/a.txt', { file_id: 'no spaces' })).body).toMatchObject({ status: 400 });
    expect((await index('/a.txt', { partition: 'all' })).body).toMatchObject({ status: 400 });
    expect((await index('/a.txt', { metadata: { created_at: 'never' } })).body).toMatchObject({
      status: 400,
    });
    expect(await leftovers(gateway)).toEqual(NOTHING);
    expect(await gateway.adapters.partitions.get('web')).toBeNull();
    expect((await index('/a.txt')).error).toBe(false);
    expect((await index('/a.txt')).body).toMatchObject({ status: 409 });
    expect((await index('/a.txt', { file_id: 'again' })).body).toMatchObject({ status: 409 });
  });

  it('says when the address gives no document, and leaves nothing', async () => {
    await open();
    const failed = (text: string) => ({
      error: true,
      body: { status: 502, detail: `[DOWNLOAD_FAILED]: ${text}` },
    });
    answer = (_request, response) => response.writeHead(404).end('secret of the site');
    expect(await index('/none.txt')).toMatchObject(failed('The address answered 404.'));
    answer = (request) => request.socket.destroy();
    expect(await index('/none.txt')).toMatchObject(failed('The address gave no answer, or broke off.'));
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
      response.write('half a', () => response.destroy());
    };
    expect(await index('/half.txt')).toMatchObject(failed('The address gave no answer, or broke off.'));
    expect(await leftovers(gateway)).toEqual(NOTHING);
  });

  it('takes no more than may be uploaded', async () => {
    await open({ env: { INDEX_URL_ALLOW_PRIVATE_URLS: 'true', MAX_UPLOAD_SIZE_MB: '1' } });
    const large = Buffer.alloc(1024 * 1024 + 1, 'x');
    serve('text/plain', large);
    expect((await index('/large.txt')).body).toMatchObject({
      status: 413,
      detail: expect.stringContaining('1 MiB'),
    });
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' }).end(large);
    };
    expect((await index('/large.txt')).body).toMatchObject({ status: 413 });
    expect(await leftovers(gateway)).toEqual(NOTHING);
  });

  it('goes to no address that is not public', async () => {
    await open({ env: {} });
    let asked = 0;
    answer = (_request, response) => {
      asked += 1;
      response.end('inside');
    };
    for (const address of [
      url,
      url.replace('127.0.0.1', 'localhost'),
      'http://[::1]/',
      'http://169.254.169.254/',
    ])
      expect((await index('', { url: address })).body).toMatchObject({
        status: 400,
        detail: '[DOWNLOAD_REFUSED]: The address is not allowed.',
      });
    for (const address of [
      'ftp://example.org/x',
      'file:///etc/passwd',
      'http://a:b@example.org/',
      'no address',
    ])
      expect((await index('', { url: address })).body).toMatchObject({ status: 400 });
    expect(asked).toBe(0);
    expect(await leftovers(gateway)).toEqual(NOTHING);
  });

  it.each([
    ['and waits for events', { progressToken: 1 }],
    ['and waits for its answer', {}],
  ])('ends with the client that asked %s', async (_how, meta) => {
    await open();
    const gone = new AbortController();
    let closed = (): void => undefined;
    const ended = new Promise<void>((resolve) => (closed = resolve));
    answer = (_request, response) => {
      response.once('close', closed);
      response.writeHead(200, { 'content-type': 'text/plain' }).write('a part', () => gone.abort());
    };
    const params = {
      name: 'index_url',
      _meta: meta,
      arguments: { url: `${url}/endless.txt`, partition: 'web', file_id: 'page' },
    };
    const asked = gateway.call('POST', '/mcp', {
      token: 'or-ada-0123456789abcdef',
      signal: gone.signal,
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    await expect(asked.then((response) => response.text())).rejects.toThrow();
    await ended;
    await until(() => gateway.logLines.some((line) => line.includes('"msg":"the client left"')));
    expect(await leftovers(gateway)).toEqual(NOTHING);
    expect(gateway.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
  });

  it('fetches a few at once for one caller', async () => {
    await open();
    const waiting: (() => void)[] = [];
    answer = (request, response) => {
      const text = `text of ${request.url}`;
      waiting.push(() => response.writeHead(200, { 'content-type': 'text/plain' }).end(text));
      if (waiting.length === 4) released();
    };
    let released = (): void => undefined;
    const four = new Promise<void>((resolve) => (released = resolve));
    const calls = Array.from({ length: 4 }, (_, n) => index(`/${n}.txt`, { file_id: `f${n}` }));
    await four;
    expect((await index('/5.txt', { file_id: 'f5' })).body).toMatchObject({ status: 503 });
    for (const go of waiting) go();
    expect((await Promise.all(calls)).map(({ error }) => error)).toEqual([false, false, false, false]);
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('five');
    expect((await index('/5.txt', { file_id: 'f5' })).error).toBe(false);
  });
});
